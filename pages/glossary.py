"""The glossary: every term in both languages, found by typing either; the lesson's takeaways; where to go next."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from core.config import SettingError, Text
from core.glossary import TERMS, find
from core.takeaways import NEXT, TAKEAWAYS
from pages.ui.actions import copy_actions
from pages.ui.address import read_settings, write_settings
from pages.ui.component import component
from pages.ui.i18n import _, catalogue, language, localise
from pages.ui.markup import heading, rich
from pages.ui.pages import addresses, page

PAGE = "glossary"
ADDRESS = {"find": Text(60)}
_component = component("glossary")


def bangla(text: str) -> str:
    return catalogue("bn").get(text, text)


def other_language(text: str) -> str:
    """The definition that the visitor did not ask for, beside the one they did."""
    return text if language() == "bn" else bangla(text)


def typed(settings: dict[str, str]) -> str:
    """What is being looked for: what was just typed, or else what the address says."""
    state = st.session_state.get("glossary_list")
    if state and state.get("find") is not None:
        with suppress(SettingError):  # what the browser sends is a stranger's word too
            return ADDRESS["find"].parse("find", str(state["find"]))
    return settings.get("find", "")


@st.fragment
def search() -> None:
    wanted = typed(st.session_state[f"settings:{PAGE}"])
    write_settings(PAGE, {"find": wanted})
    found = find(wanted, bangla)
    result = _component(
        key="glossary_list",
        data={
            "find": wanted,
            "longest": ADDRESS["find"].longest,
            "terms": [
                {
                    "name": one.name,
                    "bangla": one.bangla,
                    "definition": _(one.definition).replace("`", ""),
                    "other": other_language(one.definition).replace("`", ""),
                    "page": one.page if one.page in addresses() else "",
                    "live": _("See it live →"),
                }
                for one in found
            ],
            "text": {
                "placeholder": _("Type a word"),
                "list": _("Terms"),
                "count": _("{found} of {all} terms").format(
                    found=localise(str(len(found))), all=localise(str(len(TERMS)))
                ),
                "none": _("No term has that in its name or its definition. Try fewer letters."),
            },
        },
        on_find_change=lambda: None,
        on_page_change=lambda: None,
    )
    if result.page in addresses():
        st.switch_page(page(result.page))


st.session_state[f"settings:{PAGE}"] = {"find": "", **read_settings(PAGE, ADDRESS)}
heading(
    _("What does this word mean?"),
    _("PyTorch's own words, each in one sentence. Type a word, or a part of it, in English or in Bangla."),
)
terms, keep = st.columns([1.7, 1])
with terms:
    search()
with keep:
    points = "".join(f"<li>{rich(_(text))}</li>" for text in TAKEAWAYS)
    ways = "".join(f"<li>{rich(_(text))}</li>" for text in NEXT)
    title = _("To remember")
    st.html(f'<section class="fc-keep fc-ready" lang="{language()}"><h2>{rich(title)}</h2><ol>{points}</ol></section>')
    with st.expander(_("Where to go next")):
        st.html(f'<section class="fc-keep"><ul>{ways}</ul></section>')
    copy_actions()
