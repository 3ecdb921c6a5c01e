"""Languages, navigation and the look of every page; the script that each visitor's run begins with."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's own folder there
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from pages.ui.i18n import LANGUAGES, _, choose_language, keep_language_in_address  # noqa: E402
from pages.ui.page_tools import page_tools  # noqa: E402
from pages.ui.pages import navigation, note_page  # noqa: E402
from pages.ui.presenting import hidden, keep_presentation_in_address, presentation, read_presentation  # noqa: E402
from pages.ui.waiting import show_queue_place  # noqa: E402

choose_language()
read_presentation()
UI = ROOT / "pages" / "ui"
st.set_page_config(page_title="Five Calls", page_icon=UI / "mark.svg", layout="wide", initial_sidebar_state=230)
st.html(UI / "style.css")
if presentation().present:
    st.html(UI / "present.css")
if hidden("menus"):
    st.html("<style>[data-testid=stPopover] { display: none; }</style>")
if st.context.is_embedded:
    st.html(UI / "embed.css")
st.logo(UI / "mark.svg", size="large")
with st.sidebar:
    st.segmented_control(
        _("Language"),
        LANGUAGES,
        format_func=LANGUAGES.get,
        key="lang",
        label_visibility="collapsed",
        required=True,
        width="stretch",
    )
keep_language_in_address()
keep_presentation_in_address()
current = st.navigation(navigation(), expanded=True)
note_page(current)
show_queue_place()
current.run()
page_tools(current.url_path or "home")
