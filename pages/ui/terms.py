"""A glossary term in a sentence of any page, with its definition at hand: by pointing, by touch, by keyboard."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from core.glossary import TERMS
from pages.ui.i18n import _
from pages.ui.markup import rich


def term(key: str, text: str | None = None) -> str:
    """HTML of the term, shown as `text` or by its own name; the glossary's definition comes up over it.

    The definition stands in attributes: what a reader or a screen reader takes for the sentence stays the sentence.
    """
    one = TERMS[key]
    shown = escape(one.name if text is None else text)
    definition = escape(f"{one.name}: {_(one.definition)}".replace("`", ""))
    return f'<span class="fc-term" tabindex="0" data-tip="{definition}" aria-description="{definition}">{shown}</span>'


# What may stand after a name and still be the same word: an English plural, a Bangla ending.
_ENDINGS = "(?:s|টির|টিতে|টি|ের|কে|তে|ে|র|য়)?"
# A vowel sign is no letter to `re`, and goes with the letter before it.
_WORD = r"\w\u0980-\u09ff"


@cache
def _mention(key: str) -> re.Pattern[str]:
    """Any of the ways in which the term is named: by PyTorch's own word, in Bangla, or as code calls it."""
    one = TERMS[key]
    names = (one.name, *one.also, *one.bangla.split(", "))
    any_of = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![.{_WORD}])(?:{any_of}){_ENDINGS}(?![({_WORD}])", re.IGNORECASE)


def with_terms(html: str, *keys: str) -> str:
    """`html` with the first mention of each of these terms explained; what stands in tags is left alone."""
    for key in sorted(keys, key=lambda key: -len(TERMS[key].name)):  # "gradient norm" before the "gradient" in it
        parts = re.split(r"(<[^>]*>)", html)
        depth = 0  # inside a term already explained
        for i, part in enumerate(parts):
            if part.startswith("<span"):
                depth += 1
            elif part == "</span>":
                depth -= 1
            elif not part.startswith("<") and depth == 0:
                found = _mention(key).search(part)
                if found:
                    parts[i] = part[: found.start()] + term(key, found.group()) + part[found.end() :]
                    break
        html = "".join(parts)
    return html


def sentence(text: str, *terms: str, ready: bool = False) -> str:
    """The one sentence to take away, announced when it changes; the first mention of each glossary term is explained.

    `ready` marks it as the page's main answer.
    """
    look = "fc-say fc-ready" if ready else "fc-say"
    return f'<p class="{look}" aria-live="polite">{with_terms(rich(text), *terms)}</p>'
