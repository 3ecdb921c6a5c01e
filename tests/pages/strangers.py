"""Addresses as strangers write them, for every page: whatever they say, the page opens."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Iterator, Mapping

from streamlit.testing.v1 import AppTest

from core.config import Choice, Field
from pages.ui.i18n import LANGUAGES
from tests.pages.conftest import html

ALPHABET = string.printable + "০১২৩ক'\"<>&"


def addresses(fields: Mapping[str, Field], count: int) -> Iterator[dict[str, str]]:
    """So many queries, of allowed names, of numbers at the edges, and of nonsense."""
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    for _ in range(count):
        query = {"lang": dice.choice([*LANGUAGES, "xx"])}
        for name in dice.sample(sorted(fields), dice.randint(1, len(fields))):
            field = fields[name]
            names = field.names if isinstance(field, Choice) else [str(getattr(field, "low", 1))]
            odd = ["", "nan", "-inf", "1e309", "100", "0", "<b>", "".join(dice.choices(ALPHABET, k=9))]
            query[name] = dice.choice([*names, *names, *odd])
        yield query


def values(app: AppTest) -> dict[str, str]:
    """Every named number on the page."""
    return dict(re.findall(r'data-name="([\w-]+)">(?:<code>)?([^<]*)<', html(app)))


def copied_script(app: AppTest) -> str:
    """What the page's `Copy as a script` copies."""
    protos = [element.proto for element in app.get("bidi_component")]
    return next(json.loads(p.json)["script"] for p in protos if p.component_name.endswith("actions"))
