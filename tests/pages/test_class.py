"""The teacher's page, and the pages as a teacher's link shows them."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.lesson_plan import PLAN
from pages.ui.links import LinkError, read_link
from tests.pages.conftest import ROUTER, OpenPage, html


def link(app: AppTest) -> tuple[str, dict[str, str]]:
    parts = urlsplit(app.code[0].value)
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}


def test_a_link_holds_page_position_language_and_what_is_hidden(open_page: OpenPage) -> None:
    app = open_page("class")
    app.selectbox(key="class_story").set_value("exercise-3").run()
    app.slider(key="class_position_exercise-3").set_value(6).run()
    app.multiselect(key="class_hide").set_value(["menus", "copy"]).run()
    path, query = link(app)
    assert path == "/step"
    assert query == {"scene": "scalar", "calls": "flbsfl", "lang": "en", "present": "1", "hide": "menus,copy"}


def test_a_pasted_link_is_taken_whole_but_for_how_it_is_shown(open_page: OpenPage) -> None:
    app = open_page("class")
    app.text_input(key="class_pasted").set_value("https://elsewhere.example/a/step?calls=fl&lr=0.5&lang=bn&x=<b>").run()
    assert not app.exception
    assert link(app) == ("/step", {"calls": "fl", "lr": "0.5", "x": "<b>", "lang": "en", "present": "1"})


@pytest.mark.parametrize("text", ["hello", "http://[", "/nowhere?calls=f", "/step?" + "a=1&" * 99])
def test_what_is_no_link_gets_one_sentence(open_page: OpenPage, text: str) -> None:
    with pytest.raises(LinkError):
        read_link(text)
    app = open_page("class")
    app.text_input(key="class_pasted").set_value(text).run()
    assert len(app.error) == 1
    assert not app.exception


def test_the_plan_is_there_in_both_languages_with_its_numbers(open_page: OpenPage) -> None:
    plan = html(open_page("class"))
    assert "9.9000: backward adds 0.9000" in plan
    assert "৯.৯০০০" in html(open_page("class", lang="bn"))


def test_every_answer_finds_its_numbers() -> None:
    for item in PLAN:
        assert item.answer.format(**{name: f"{value:.4f}" for name, value in item.numbers().items()})


def test_present_and_hide_stay_when_the_page_changes(open_page: OpenPage) -> None:
    app = open_page("step", present="1", hide="menus", calls="f")
    assert "fc-more" in html(app)
    assert "stPopover] { display: none" in html(app)
    app.switch_page(str(ROUTER.parent / "train.py")).run()
    assert "stPopover] { display: none" in html(app)
    assert app.query_params["present"] == "1"
    assert app.query_params["hide"] == "menus"


def test_nonsense_about_the_presentation_is_left_out(open_page: OpenPage) -> None:
    app = open_page("step", present="yes", hide="everything")
    assert not app.exception
    assert "fc-more" not in html(app)
    assert "present" not in app.query_params
