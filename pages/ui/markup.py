"""HTML from plain text: escaping, `code` and **bold** in a sentence, tables of numbers shaded by size."""

from __future__ import annotations

import re
from html import escape

import streamlit as st
from torch import Tensor

from pages.ui.i18n import number


def rich(text: str) -> str:
    """Escape `text`, then set `code` and **bold** as in Markdown. The only way that text becomes HTML here."""
    prose, *rest = re.split(r"(`[^`]+`)", escape(text, quote=True))
    html = minus(prose)
    for code, prose in zip(rest[::2], rest[1::2], strict=True):
        html += f"<code>{code[1:-1]}</code>{minus(prose)}"
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", html)


def minus(prose: str) -> str:
    """`prose` with a minus sign before its negative numbers: in a text font a hyphen is too short to be seen as one."""
    return re.sub(r"(?<![\w=`-])-(?=\d)", "−", prose)


def heat_map(title: str, tensor: Tensor | None, kind: str, *, empty: str, changed: bool = False) -> str:
    """A matrix with its numbers, shaded by size; `kind` names the colour, `empty` is what stands there for None.

    `tensor` has shape (rows, columns), (columns,) or (); None draws a box of no fixed size that says `empty`.
    """
    mark = ' <span class="fc-mark">●</span>' if changed else ""
    caption = f'<figcaption class="fc-{kind}">{escape(title)}{mark}</figcaption>'
    if tensor is None:
        return f'<figure class="fc-heat">{caption}<p class="fc-none">{escape(empty)}</p></figure>'
    matrix = tensor.reshape(-1, tensor.shape[-1] if tensor.dim() else 1)
    largest = matrix.abs().nan_to_num(0, 0, 0).max().item() or 1.0
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="--heat:{min(abs(v) / largest, 1) * 100 if v == v else 0:.0f}%">{number(v)}</td>' for v in row
        )
        + "</tr>"
        for row in matrix.tolist()
    )
    return f'<figure class="fc-heat">{caption}<table class="fc-{kind}">{rows}</table></figure>'


def heading(question: str, subtitle: str) -> None:
    """The question of a page, and beneath it what is being looked at."""
    st.html(f'<h1 class="fc-question">{rich(question)}</h1><p class="fc-sub">{rich(subtitle)}</p>')
