"""In front of a class: text large enough for the last row, no sidebar, and only the controls that the teacher wants."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.config import Field, Flag, Names, write_setting

HIDEABLE = ("menus", "copy", "switches", "play")
"""What a teacher's link can take off a page: the menus, the copy buttons, the stepper's switches, and playing."""
FIELDS: dict[str, Field] = {"present": Flag(), "hide": Names(HIDEABLE)}


@dataclass(frozen=True)
class Presentation:
    present: bool = False
    hide: tuple[str, ...] = ()


def presentation() -> Presentation:
    """How this visitor wants the pages shown."""
    return st.session_state.get("presentation", Presentation())


def hidden(name: str) -> bool:
    """Whether the teacher's link hides the control of that name, one of `HIDEABLE`."""
    return name in presentation().hide


def read_presentation() -> None:
    """Take it from the address where that says something new; what it has wrong counts as left out."""
    given = {name: st.query_params[name] for name in FIELDS if name in st.query_params}
    if given and given != st.session_state.get("presentation_in_address"):
        values = {}
        for name, text in given.items():
            try:
                values[name] = FIELDS[name].parse(name, text)
            except ValueError:
                continue
        st.session_state["presentation"] = Presentation(**values)
    st.session_state["presentation_in_address"] = given


def keep_presentation_in_address() -> None:
    """Write it into the address, which loses it when the page changes; the usual look needs no words there."""
    now = presentation()
    texts = {"present": "1"} if now.present else {}
    if now.hide:
        texts["hide"] = write_setting(now.hide)
    st.session_state["presentation_in_address"] = texts
    for name in FIELDS:
        if name not in texts:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != texts[name]:
            st.query_params[name] = texts[name]
