"""The visitor's place in the queue, shown while the machine trains for others; no page has to do anything for it."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.turns import TURNS
from pages.ui.i18n import _, number
from pages.ui.markup import rich


def show_queue_place() -> None:
    """Make room for the place; to be called once a run, before its page. The room takes none until it is needed."""
    st.session_state["queue_room"], st.session_state["queue_place"] = st.empty(), 0
    TURNS.tell = _tell  # the same for everybody: it finds out itself whose thread it is in


def _tell(place: int) -> None:
    if get_script_run_ctx(suppress_warning=True) is None:
        return
    # Each look at the session's state stops this thread if its visitor has left or pressed something else.
    room = st.session_state["queue_room"]
    if st.session_state["queue_place"] == place:
        return
    st.session_state["queue_place"] = place
    if place:
        text = _("The machine is busy: you are number {place} in the queue.").format(place=number(place, 0))
        room.html(f'<p class="fc-queue" role="status">{rich(text)}</p>')
    else:
        room.empty()
