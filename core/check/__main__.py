"""`python -m core.check`, until it is reached as `python -m core check`."""

import sys

from core.check.cli import main

sys.exit(main(sys.argv[1:]))
