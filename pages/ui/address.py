"""The address holds a page's settings: read them, keep them for the visit, write them back.

Streamlit drops query parameters when the sidebar changes page, and the browser may send an older query than the one it
shows; so the visit's own copy is the truth, and the address wins only where it says something new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.config import Field, SettingError, parse_settings, write_setting
from pages.ui.i18n import _, localise


def read_settings(page: str, fields: Mapping[str, Field]) -> dict[str, Any]:
    """The settings of `page` chosen by the address, or earlier in the visit. Says what the address has wrong."""
    given = {name: st.query_params[name] for name in fields if name in st.query_params}
    kept = st.session_state.setdefault(f"settings:{page}", {})
    if given and given != st.session_state.get(f"address:{page}"):
        values, errors = parse_settings(fields, given)
        kept.clear()
        kept.update(values)
        st.session_state[f"notice:{page}"] = errors
        st.session_state[f"address:{page}"] = given
    for error in st.session_state.get(f"notice:{page}", []):
        st.warning(notice(error))
    return kept


def write_settings(page: str, settings: Mapping[str, Any]) -> None:
    """Write `settings` into the address, and keep them for the visit."""
    st.session_state[f"settings:{page}"] = dict(settings)
    texts = {name: write_setting(value) for name, value in settings.items()}
    st.session_state[f"address:{page}"] = texts
    for name, text in texts.items():
        if st.query_params.get(name) != text:
            st.query_params[name] = text


def change_settings(page: str, **changes: Any) -> None:
    """For a widget's callback: keep the new values; the run that follows writes them into the address."""
    st.session_state[f"settings:{page}"].update(changes)
    st.session_state[f"notice:{page}"] = []


def notice(error: SettingError) -> str:
    """What is wrong with a setting, and what is allowed, in the visitor's language."""
    return _(
        "The address says {name} = {value}, which is not possible. Allowed: {allowed}. The default is used."
    ).format(
        name=f"`{error.name}`",
        value=f"`{error.value.replace('`', '')}`",
        allowed=localise(_(error.allowed).format(**error.bounds)),
    )
