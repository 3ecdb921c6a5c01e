"""At the foot of every page: the list of its keys, and the page as one file to hand out."""

from __future__ import annotations

from pages.ui.component import component
from pages.ui.i18n import _, language
from pages.ui.presenting import hidden, presentation

_component = component("page_tools")


def page_tools(page: str) -> None:
    """Draw them for the page at the address `page`."""
    text = {
        "handout": _("Hand-out (one HTML file)"),
        "keys": _("Keys ?"),
        "close": _("Close"),
        "keysTitle": _("Keys of this page"),
        "script": _("The script that prints these numbers"),
        "from": _("Made by Five Calls, from"),
    }
    data = {"page": page, "lang": language(), "keys": _keys(page), "text": text}
    quiet = presentation().present or hidden("copy")  # "?" still works
    _component(key="page_tools", data={**data, "quiet": quiet})


def _keys(page: str) -> list[tuple[str, str]]:
    of_page = {
        "step": [
            ("→", _("the next call")),
            ("←", _("one call back")),
            ("Home", _("to the start")),
            (_("space"), _("play, pause")),
            ("1 2 3 4 5", _("forward, loss, zero_grad, backward, step")),
        ],
        "train": [
            ("→", _("one epoch")),
            (_("space"), _("start, pause")),
            ("End", _("to the end of the run")),
            ("Home", _("to the start")),
        ],
        "check": [("Ctrl+Enter", _("check what was pasted"))],
    }
    return [*of_page.get(page, []), ("Tab", _("to the next control")), ("?", _("this list"))]
