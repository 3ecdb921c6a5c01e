"""Exit status 0 if the process in this container answers; there is no curl in a slim image."""

import os
import sys
import urllib.request

port = os.environ.get("STREAMLIT_SERVER_PORT", "8501")
try:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
        sys.exit(answer.status != 200)
except OSError as error:
    sys.exit(str(error))
