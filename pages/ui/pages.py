"""The pages there are: their files, addresses and titles. What is not listed here is linked from nowhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.ui.i18n import _

_FOLDER = Path(__file__).parent.parent


def _sections() -> dict[str, dict[str, str]]:
    return {
        "": {"home": _("The whole loop")},
        _("One step"): {
            "step": _("The five calls"),
            "losses": _("Losses on logits"),
            "optimizers": _("Optimizers"),
        },
        _("The run"): {
            "train": _("Train live"),
            "modes": _("Mode grid"),
            "metrics": _("Metrics"),
            "resume": _("Resume"),
            "numpy": _("The NumPy twin"),
        },
        _("Break it"): {"mistakes": _("Common mistakes"), "review": _("Review a loop"), "check": _("Check a loop")},
        _("Practice"): {"practice": _("Questions"), "glossary": _("Glossary")},
        _("Teach"): {"class": _("For a class")},
    }


@cache
def addresses() -> tuple[str, ...]:
    """The addresses that exist, without their slash, in the order of the sidebar."""
    return tuple(address for pages in _sections().values() for address in pages)


def title_of(address: str) -> str:
    """The title of the page at `address`, in the visitor's language."""
    return next(pages[address] for pages in _sections().values() if address in pages)


def page(address: str) -> StreamlitPage:
    """The page at `address`, for a link or a switch to it."""
    return st.Page(_FOLDER / f"{address}.py", title=title_of(address), url_path=address, default=address == "home")


def navigation() -> dict[str, list[StreamlitPage]]:
    """What `st.navigation` shows, by section, titles in the visitor's language."""
    return {section: [page(address) for address in pages] for section, pages in _sections().items()}


def note_page(current: StreamlitPage) -> None:
    """Remember which page this run is of; for `just_arrived`."""
    address = current.url_path
    st.session_state["arrived"] = address != st.session_state.get("page")
    st.session_state["page"] = address


def just_arrived() -> bool:
    """Whether the visitor comes from another page, or opens the first one."""
    return st.session_state.get("arrived", True)
