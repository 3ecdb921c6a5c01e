"""An app whose one page raises, with this project's handling of it; the secret must reach the log and no visitor."""

import streamlit as st

from pages.ui.errors import on_script_error, start_log

if __name__ != "__main__":
    start_log()
    app = st.App("failing_page.py", on_script_error=on_script_error)
