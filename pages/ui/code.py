"""Code with one line marked as the one just run; `st.code` cannot mark a line."""

from __future__ import annotations

from functools import lru_cache

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

_LEXER = PythonLexer(stripnl=False)


@lru_cache(maxsize=512)
def code_html(source: str, *marked: int | None) -> str:
    """`source` as HTML, its lines `marked` (counted from 1) with the class `hll`. Escaped by pygments."""
    formatter = HtmlFormatter(cssclass="fc-code", hl_lines=[line for line in marked if line], wrapcode=True)
    return highlight(source, _LEXER, formatter)


def code_lines(source: str) -> list[str]:
    """`source` as HTML, a string a line, each whole in itself. Not cached, so that nothing of a visitor's is kept."""
    return highlight(source, _LEXER, HtmlFormatter(nowrap=True)).split("\n")[: source.count("\n") + 1]
