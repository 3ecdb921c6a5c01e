"""What strangers send: addresses, uploads and texts that nobody meant, over every page there is."""

from __future__ import annotations

import html as html_module
import random
import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.pages import addresses
from tests.pages.conftest import OpenPage, html

MARKUP = '<script>alert(1)</script><img src=x onerror="alert(2)"><b>bold</b>'
ADDRESSES = 1000
"""So many random addresses over all the pages."""

NONSENSE = (
    *("", " ", "0", "1", "-1", "1.5", "1e-400", "1e999", "-0.0", "nan", "NaN", "inf", "-Infinity", "0x10", "٣"),
    *("true", "None", "null", "[]", "{}", "{0}", "{name}", "%s", "\x00", "\n", "\u202e", "😀" * 30, "`code`", "**b**"),
    *("$x^2$", ":material/home:", "![](x)", "[a](javascript:alert(1))", MARKUP, "../../etc/passwd", "__import__('os')"),
    *("f" * 5000, "9" * 400, "flzbs" * 40, "linear", "adamw", "SGD", "step", "cosine", ",,,", "rng,model", "bn", "en"),
)


def shown(app: AppTest) -> str:
    """The text of all HTML, without what code prints as PyTorch prints it."""
    text = re.sub(r"<(code|pre|style)\b.*?</\1>", "", html(app), flags=re.DOTALL)
    return html_module.unescape(re.sub(r"<[^>]*>", " ", text))


def random_address(names: list[str], usual: dict[str, str], rng: random.Random) -> dict[str, str]:
    given = {}
    for name in rng.sample(names, rng.randint(1, len(names))):
        value = rng.choice(NONSENSE)
        if rng.random() < 0.3 and usual.get(name):  # nearly right is the harder case
            at = rng.randrange(len(usual[name]))
            value = usual[name][:at] + rng.choice("-.e09xz, ") + usual[name][at + rng.randint(0, 1) :]
        given[name] = value
    return given


@pytest.mark.parametrize("address", addresses())
def test_random_addresses_raise_nothing_and_show_no_nan(open_page: OpenPage, address: str) -> None:
    rng = random.Random(address)  # noqa: S311
    app = open_page(address)
    usual = {name: app.query_params[name] for name in app.query_params}
    names = sorted({*usual, "lang", "hide", "present", "embed", "unknown"})
    for _ in range(-(-ADDRESSES // len(addresses()))):
        given = random_address(names, usual, rng)
        for name in list(app.query_params):
            del app.query_params[name]
        for name, value in given.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, (given, app.exception[0].value, app.exception[0].stack_trace)
        assert not re.search(r"\b(nan|inf|infinity)\b", shown(app), re.IGNORECASE), given
        assert "<script" not in html(app), given
        assert "onerror=" not in html(app), given
