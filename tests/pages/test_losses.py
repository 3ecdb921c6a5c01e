"""The losses page without a browser."""

from __future__ import annotations

import re

import pytest

from core import loss_inputs
from core.config import Choice
from core.losses import FIELDS, logit_script, logits_script
from tests.pages.conftest import OpenPage, html
from tests.pages.strangers import addresses, copied_script, values

ADDRESS = {"view": Choice(("twice", "logit", "takes")), **FIELDS, **loss_inputs.FIELDS}


def test_the_lessons_numbers(open_page: OpenPage) -> None:
    app = open_page("losses")
    shown = values(app)
    assert (shown["right-loss"], shown["right-norm"]) == ("4.0360", "1.3769")
    assert (shown["twice-loss"], shown["twice-norm"], shown["twice-floor"]) == ("1.5213", "0.0374", "0.5514")
    assert "36.8 times weaker" in html(app)
    assert copied_script(app) == logits_script((0.0, 4.0, 0.0), 0)


def test_three_spellings_agree(open_page: OpenPage) -> None:
    app = open_page("losses")
    app.button(key="losses_preset_3").click().run()
    shown = values(app)
    assert {shown[name] for name in ("module", "function", "by-hand")} == {"0.2413"}
    assert app.query_params["z1"] == "0.5"


def test_sure_and_right_meets_the_floor(open_page: OpenPage) -> None:
    app = open_page("losses", z0="10", z1="-10", z2="-10", lang="bn")
    assert "০.৫৫১৪" in values(app)["twice-loss"]
    assert "কখনো ০.৫৫১৪-এর নিচে নামে না" in html(app)


@pytest.mark.parametrize(("dtype", "gradient"), [("float32", "0.0000"), ("float16", "nan"), ("bfloat16", "0.0000")])
def test_logit_200_label_0(open_page: OpenPage, dtype: str, gradient: str) -> None:
    app = open_page("losses", view="logit", dtype=dtype)
    shown = values(app)
    assert (shown["fused-loss"], shown["split-loss"]) == ("200.0000", "100.0000")
    assert (shown["fused-gradient"], shown["split-gradient"]) == ("1.0000", gradient)
    assert copied_script(app) == logit_script(200.0, 0, dtype)


def test_what_it_takes_is_pytorchs_own_answer(open_page: OpenPage) -> None:
    app = open_page("losses", view="takes")
    assert "RuntimeError: expected target dtype to be Long" in html(app)
    app.selectbox(key="losses_target_dtype").set_value("int64").run()
    assert "RuntimeError" not in html(app)
    assert float(values(app)["loss"]) > 0
    assert "UserWarning: Using a target size" in html(app)  # in the fold: calls that raise nothing


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    for query in addresses(ADDRESS, 15):
        app = open_page("losses", **query)
        assert not app.exception, query
        if app.query_params["dtype"] != "float16":
            assert not re.search(r"\bnan\b", html(app), re.I), query
