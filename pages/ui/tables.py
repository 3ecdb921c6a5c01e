"""Tables of numbers that a page makes from a report: a head, and rows whose first cell names them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from pages.ui.i18n import number
from pages.ui.markup import rich


def value(number_: float | None, digits: int = 4, *, name: str = "") -> str:
    """A number as a table shows it: `name` finds it for a test; NaN and infinity stand as PyTorch prints them."""
    if number_ is None:
        text = "–"
    elif math.isfinite(number_):
        text = number(number_, digits)
    else:
        text = f"<code>{number_}</code>"
    place = f' data-name="{escape(name)}"' if name else ""
    return f'<span class="fc-value"{place}>{text}</span>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, label: str, marked: int | None = None) -> str:
    """A table; `head` and each row's first cell are texts with `code`, the other cells are HTML; one row marked."""
    titles = "".join(f'<th scope="col">{rich(text)}</th>' for text in head)
    body = ""
    for i, (first, *cells) in enumerate(rows):
        row = f'<th scope="row">{rich(first)}</th>' + "".join(f"<td>{cell}</td>" for cell in cells)
        body += f'<tr class="fc-now">{row}</tr>' if i == marked else f"<tr>{row}</tr>"
    return (
        f'<div class="fc-wide" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="fc-state fc-plain"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def meter(value_: float, most: float, kind: str) -> str:
    """A bar as long as the value is of `most`, for the eye; the number stands beside it."""
    part = min(abs(value_) / most, 1) * 100 if math.isfinite(value_) else 0
    return f'<i class="fc-meter fc-{kind}" style="--part:{part:.1f}%" aria-hidden="true"></i>'
