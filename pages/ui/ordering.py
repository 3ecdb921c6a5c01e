"""Lines to put into order, with buttons and keys; the moves happen in the browser, the judging here."""

from __future__ import annotations

from collections.abc import Sequence

from core.practice import OrderQuestion, Verdict
from pages.ui.component import component
from pages.ui.i18n import _, localise
from pages.ui.messages import said

_component = component("ordering")


def ordering(
    key: str, question: OrderQuestion, start: Sequence[int], verdict: Verdict | None, tries: int
) -> list[int] | None:
    """Draw the lines from `start`, with the `verdict` of the last of so many tries. The order just sent, if any."""
    result = _component(
        key=key,
        data={
            "rev": f"{question.key} {start}",
            "items": [said(item) for item in question.items],
            "order": list(start),
            "tries": tries,  # makes the same verdict on another order a new one
            "wrong": None if verdict is None else verdict.place,
            "right": bool(verdict and verdict.right),
            "digits": [localise(str(digit)) for digit in range(len(question.items) + 1)],
            "text": {
                "hint": _("Move a line with ▲ and ▼, or with the arrow keys once it has the focus."),
                "check": _("Check"),
                "up": _("Up"),
                "down": _("Down"),
                "moved": _("Now in place {place}."),
            },
        },
        on_order_change=lambda: None,
    )
    return ordered(result.order, len(question.items))


def ordered(sent: object, count: int) -> list[int] | None:
    """`sent` as an order of so many lines; None if it is anything else, as a stranger may send anything."""
    if not isinstance(sent, list) or len(sent) != count or not all(isinstance(item, int) for item in sent):
        return None
    return sent if sorted(sent) == list(range(count)) else None
