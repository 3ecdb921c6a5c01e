"""Copy the link, copy the script: for pages whose controls are Streamlit's own."""

from __future__ import annotations

from pages.ui.component import component
from pages.ui.i18n import _
from pages.ui.presenting import hidden

_component = component("actions")


def copy_texts() -> dict[str, str]:
    """The words of the two copy buttons, for every component that has them."""
    return {
        "link": _("Copy link to this state"),
        "script": _("Copy as a script"),
        "linkCopied": _("Link copied."),
        "scriptCopied": _("Script copied: run it with python."),
        "byHand": _("Copy this text by hand."),
    }


def copy_actions(script: str | None = None) -> None:
    """The copy buttons; the second one only where there is a `script` that prints the page's numbers."""
    if hidden("copy"):
        return
    _component(key="actions", data={"script": script, "text": copy_texts()})
