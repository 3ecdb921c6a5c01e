"""Two languages: English is the source; Bangla comes from gettext catalogues that Babel reads as they are."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import streamlit as st
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

LANGUAGES = {"en": "English", "bn": "বাংলা"}
LOCALE = Path(__file__).parent.parent / "locale"
# Babel picks a locale's separators but writes ASCII digits whatever the numbering system.
_BANGLA_DIGITS = str.maketrans("0123456789", "০১২৩৪৫৬৭৮৯")


@cache
def catalogue(language: str) -> dict[str, str]:
    """English text -> the text in `language`, from all the catalogues in its folder."""
    return {message.id: message.string for message in messages(language)}


def messages(language: str) -> list[Message]:
    """Every entry of the catalogues of `language`, one of `LANGUAGES` but English; a file covers some of the pages."""
    found = []
    for path in sorted((LOCALE / language).glob("*.po")):
        with path.open("rb") as file:
            found += [message for message in read_po(file, locale=language) if message.id]
    return found


_run = threading.local()
"""A script runs in a thread of its visitor's own; every text of a page asks for the language."""


def language() -> str:
    """The language of the visitor whose script run this is."""
    if not hasattr(_run, "language"):
        _run.language = st.session_state.get("lang", "en")
    return _run.language


def choose_language() -> str:
    """Settle the visitor's language: the address first, then what was chosen before, then the browser's locale."""
    asked = st.query_params.get("lang")
    if asked in LANGUAGES and asked != st.session_state.get("lang_in_address"):
        st.session_state["lang"] = asked
    if st.session_state.get("lang") not in LANGUAGES:
        st.session_state["lang"] = "bn" if (st.context.locale or "").startswith("bn") else "en"
    _run.language = st.session_state["lang"]
    return _run.language


def keep_language_in_address() -> None:
    """Write the language into the address, which loses it when the page changes."""
    st.session_state["lang_in_address"] = language()
    if st.query_params.get("lang") != language():
        st.query_params["lang"] = language()


def _(text: str) -> str:
    """`text`, written in English in the code, in the visitor's language."""
    if language() == "en":
        return text
    return catalogue(language()).get(text) or text


def number(value: float, digits: int = 4) -> str:
    """`value` with that many decimals, in the visitor's digits; scientific where they would not show it."""
    if value != value or value in (float("inf"), float("-inf")):
        return _("overflow")
    if value and abs(value) < 0.5 * 10**-digits:
        return localise(f"{value:.2e}")
    if abs(value) >= 1e7:
        return localise(f"{value:.3e}")
    return localise(f"{value:.{digits}f}")


def plain(value: float) -> str:
    """A setting such as 0.1 as a person writes it, in the digits of the visitor's language."""
    return localise(f"{value:.6g}")


def localise(text: str) -> str:
    """`text` with its ASCII digits in the visitor's language. Not for code, nor for what code prints."""
    return text.translate(_BANGLA_DIGITS) if language() == "bn" else text
