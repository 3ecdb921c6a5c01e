"""The practice page: each kind of question is judged with a reason, and the score is this visit's own."""

from __future__ import annotations

import random

import pytest

from core.exercises import exercise_numbers, exercise_print
from core.fresh import fresh_questions
from core.practice import ChoiceQuestion, NumberQuestion, OrderQuestion
from core.questions import ORDER, choices
from core.thoughts import THOUGHTS
from pages.ui.ordering import ordered
from tests.pages.conftest import OpenPage, html, words


def submit(app):
    app.button[[button.label in ("Check", "উত্তর দেখুন") for button in app.button].index(True)].click().run()
    assert not app.exception


def test_a_wrong_choice_is_explained_and_another_try_counts(open_page: OpenPage) -> None:
    app = open_page("practice", q="2")
    question = choices()[0]
    right = [option.right for option in question.options].index(True)
    app.radio[0].set_value((right + 1) % 4)
    submit(app)
    assert str(question.options[(right + 1) % 4].why) in words(app)
    assert "0 right of 1 tried" in html(app)
    app.radio[0].set_value(right)
    submit(app)
    assert "✓ Right" in html(app)
    assert "1 right of 1 tried, 0 of them at the first try" in html(app)
    assert "2 ✓" in app.button_group(key="practice_number").options[1]


@pytest.mark.parametrize("typed", ["0.5837", "০.৫৮৩৭", "৫৮.৩৭%", "0.584"])
def test_numbers_in_either_digits_and_within_tolerance(open_page: OpenPage, typed: str) -> None:
    app = open_page("practice", part="exercises", q="2")
    app.text_input[0].set_value(typed)
    submit(app)
    assert "✓ Right" in html(app)


def test_a_trap_is_told_by_its_reason_and_no_number_is_no_try(open_page: OpenPage) -> None:
    app = open_page("practice", part="exercises", q="2")
    app.text_input[0].set_value("a lot")
    submit(app)
    assert "? Not an answer" in html(app)
    assert "tried" not in html(app)
    app.text_input[0].set_value("0.5271")
    submit(app)
    assert "That is the naive mean" in words(app)
    assert exercise_numbers()[1].key == "exercise-1-weighted"


def test_the_answer_is_shown_on_request_and_then_no_longer_counts(open_page: OpenPage) -> None:
    app = open_page("practice", part="exercises", q="6")
    question = exercise_print()
    app.text_area[0].set_value("1 2 3")
    submit(app)
    assert "is the first that differs" in html(app)
    app.button(key=f"show_{question.key}").click().run()
    assert question.answer in html(app)
    app.text_area[0].set_value(question.answer)
    submit(app)
    assert "✓ Right" in html(app)
    assert "0 right of 1 tried" in html(app)


def test_ticks_are_judged_one_by_one(open_page: OpenPage) -> None:
    app = open_page("practice", part="exercises", q="5")
    app.checkbox(key="tick_exercise-2_0").check()
    app.checkbox(key="tick_exercise-2_2").check()
    submit(app)
    assert "2 of 8 statements judged rightly." in html(app)


def test_code_to_write_is_compared_and_never_run(open_page: OpenPage) -> None:
    app = open_page("practice", part="exercises", q="7")
    app.text_area[0].set_value("raise SystemExit").run()
    app.button(key="show_exercise-4").click().run()
    assert not app.exception
    assert "loss_sum" in html(app)
    for box in app.checkbox:
        box.check()
    app.run()
    assert "1 right of 1 tried" in html(app)


def test_a_class_gets_the_same_ten(open_page: OpenPage) -> None:
    app = open_page("practice", part="fresh", seed="7", q="1")
    assert isinstance(fresh_questions(7)[0], NumberQuestion)
    assert str(fresh_questions(7)[0].prompt) in html(app)
    app.number_input(key="practice_seed").set_value(8).run()
    assert (app.query_params["seed"], app.query_params["q"]) == ("8", "1")
    assert str(fresh_questions(8)[0].prompt) in html(app)


def test_every_question_is_asked(open_page: OpenPage) -> None:
    for part, count in (("check", 7), ("exercises", 7), ("fresh", 10), ("think", len(THOUGHTS))):
        app = open_page("practice", part=part, lang="bn")
        for place in range(2, count + 1):
            next(button for button in app.button if "→" in button.label).click().run()
            assert not app.exception
            assert app.query_params["q"] == str(place)


def test_going_back_shows_the_answer_given(open_page: OpenPage) -> None:
    app = open_page("practice", q="3")
    app.radio[0].set_value(0)
    submit(app)
    app.button_group(key="practice_number").set_value(4).run()
    app.button_group(key="practice_number").set_value(3).run()
    assert app.radio[0].value == 0
    app.button[0].click().run()
    assert app.radio[0].value is None
    assert "tried" not in html(app)


def test_one_visits_score_is_not_in_anothers(open_page: OpenPage) -> None:
    app = open_page("practice", q="2")
    app.radio[0].set_value(0)
    submit(app)
    assert "tried" in html(app)
    assert "tried" not in html(open_page("practice", q="2"))


@pytest.mark.parametrize("sent", [None, "x", 5, [], [0], [0] * 6, [0, 1, 2, 3, 4, 6], ["0"] * 6, [[]] * 6, {"a": 1}])
def test_an_order_from_a_stranger_is_an_order_or_nothing(sent: object) -> None:
    assert ordered(sent, 6) is None


def test_an_order_is_taken() -> None:
    assert ordered([5, 4, 3, 2, 1, 0], 6) == [5, 4, 3, 2, 1, 0]
    assert isinstance(ORDER, OrderQuestion)
    assert all(isinstance(question, ChoiceQuestion) for question in choices())


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    odd = ["", "nan", "-1", "1e9", "<b>", "think", "fresh", "10", "ক", "4294967295", "99999999999"]
    for _ in range(8):
        app = open_page("practice", **{name: dice.choice(odd) for name in ("part", "q", "seed")})
        assert not app.exception
