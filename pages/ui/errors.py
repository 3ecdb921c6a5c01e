"""What goes wrong: the whole traceback for the log, one sentence for the visitor, a reference that joins them."""

from __future__ import annotations

import logging
import secrets

import streamlit as st

from core.turns import log
from pages.ui.i18n import _
from pages.ui.markup import rich


def start_log() -> None:
    """Let this project's log lines out, and leave it to `on_script_error` to log what a page raises, once."""
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
        logging.getLogger("streamlit.error_util").addFilter(lambda record: record.msg != "Uncaught app execution")


def on_script_error(error: Exception) -> bool:
    """For `st.App`: log it in full with a reference, and show the visitor that reference and no more."""
    reference = secrets.token_hex(3)
    log.error("reference %s", reference, exc_info=error)
    text = _(
        "Something went wrong on our side. Please reload the page; if it happens again, tell us the reference {code}."
    )
    st.html(f'<p class="fc-error" role="alert">{rich(text.format(code=f"`{reference}`"))}</p>')
    return True
