"""The stepper page without a browser: what the address says is what the page shows."""

from __future__ import annotations

import random
import re
import string

import pytest
from streamlit.testing.v1 import AppTest

from core.stories import STORIES
from core.trace import FIELDS, replay
from pages.ui.i18n import LANGUAGES
from pages.ui.markup import rich
from tests.pages.conftest import OpenPage, html


def cells(app: AppTest) -> dict[tuple[int, str], str]:
    pattern = r'data-field="(\w+)" data-position="(\d+)"[^>]*>.*?<span class="fc-value">(.*?)</span>'
    return {(int(position), field): value for field, position, value in re.findall(pattern, html(app))}


def test_the_address_holds_the_state(open_page: OpenPage) -> None:
    shown = cells(open_page("step", calls="flzbs"))
    assert shown[2, "loss"] == "1.3007"
    assert shown[3, "grad"] == "None"
    assert shown[4, "grad"] == "0.1648"
    assert shown[5, "w"] == "-0.0218"


def test_a_negative_number_in_a_sentence_has_a_minus_sign_and_code_its_hyphen() -> None:
    assert rich("from -0.0053 to **-০.০২**: `x[-1]`, dim=-1, 1e-08") == (
        "from −0.0053 to <b>−০.০২</b>: <code>x[-1]</code>, dim=-1, 1e-08"
    )


def test_everything_is_written_back_into_the_address(open_page: OpenPage) -> None:
    app = open_page("step", calls="fl", lr="0.5")
    written = dict(app.query_params.items())
    assert {name: written[name] for name in ("calls", "lr", "scene", "optimizer", "momentum", "seed", "lang")} == {
        "calls": "fl",
        "lr": "0.5",
        "scene": "linear",
        "optimizer": "sgd-momentum",
        "momentum": "0.9",
        "seed": "0",
        "lang": "en",
    }


@pytest.mark.parametrize("key", STORIES)
def test_a_story_is_one_press(open_page: OpenPage, key: str) -> None:
    app = open_page("step")
    app.button(key=f"story_{key}").click().run()
    story = STORIES[key]
    last = replay(story.config.resolved(), story.calls)[-1]
    assert not app.exception
    assert cells(app)[len(story.calls), "w"] == f"{last.w:.4f}"
    assert app.query_params["calls"] == story.calls


def test_bangla_has_bangla_digits_in_the_table_and_none_in_the_code(open_page: OpenPage) -> None:
    app = open_page("step", calls="flzb", lang="bn")
    assert cells(app)[4, "grad"] == "০.১৬৪৮"
    code = re.search(r'<div class="fc-code">.*?</div>', html(app), re.S).group()
    assert not re.search("[০-৯]", code)


def test_changing_a_setting_keeps_the_calls(open_page: OpenPage) -> None:
    app = open_page("step", calls="flzbs")
    app.number_input(key="step_lr").set_value(0.2).run()
    assert app.query_params["lr"] == "0.2"
    assert cells(app)[5, "w"] == "-0.0383"


def test_a_scene_brings_its_own_optimizer(open_page: OpenPage) -> None:
    app = open_page("step", calls="flzbs")
    app.selectbox(key="step_scene").set_value("scalar").run()
    assert app.query_params["optimizer"] == "sgd"
    assert cells(app)[5, "w"] == "0.1000"


def test_a_bad_value_is_said_once_and_forgotten_with_the_next_change(open_page: OpenPage) -> None:
    app = open_page("step", lr="much", calls="fl")
    assert [warning.value for warning in app.warning] == [
        "The address says `lr` = `much`, which is not possible. Allowed: a number from 0 to 100. The default is used."
    ]
    assert cells(app)[2, "loss"] == "1.3007"
    app.number_input(key="step_seed").set_value(3).run()
    assert not app.warning


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    alphabet = string.printable + "০১২৩ক'\"<>&"

    def value(name: str) -> str:
        if name == "calls":
            return "".join(dice.choices("flzbs", k=dice.randint(0, 120)))
        return dice.choice(
            ["", "nan", "-inf", "1e309", "100", "0", "scalar", "adamw", "<b>", "".join(dice.choices(alphabet, k=9))]
        )

    for _ in range(25):
        query = {name: value(name) for name in dice.sample(sorted(FIELDS), dice.randint(1, 6))}
        app = open_page("step", **query, lang=dice.choice([*LANGUAGES, "xx"]))
        assert not app.exception, query
        assert "nan" not in " ".join(cells(app).values()).lower(), query
