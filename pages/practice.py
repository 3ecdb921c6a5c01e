"""The practice page: one question at a time, an explanation for each answer, a score for this visit alone."""

from __future__ import annotations

import streamlit as st

from core.config import Choice, Field, Number
from core.exercises import EXERCISE_REVIEW, EXERCISE_WRITE, exercise_numbers, exercise_print
from core.fresh import fresh_questions
from core.practice import PrintQuestion, Question, ThoughtQuestion
from core.questions import ORDER, choices
from core.thoughts import THOUGHTS
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.i18n import _, localise
from pages.ui.markup import heading
from pages.ui.practice_view import ask, attempts, start_over
from pages.ui.settings import SettingWidgets

PAGE = "practice"
PARTS = ("check", "exercises", "fresh", "think")
ADDRESS: dict[str, Field] = {
    "part": Choice(PARTS),
    "q": Number(1, 10, whole=True),
    "seed": Number(0, 2**32 - 1, whole=True),
}


def questions(part: str, seed: int) -> tuple[Question | ThoughtQuestion, ...]:
    if part == "check":
        return (ORDER, *choices())
    if part == "exercises":
        return (*exercise_numbers(), EXERCISE_REVIEW, exercise_print(), EXERCISE_WRITE)
    return fresh_questions(seed) if part == "fresh" else THOUGHTS


def score() -> str:
    """What this visit has come to."""
    tried = [one for one in attempts().values() if one.state]
    if not tried:
        return _("One question at a time. Your score stays in this visit, and is nobody else's.")
    return _("This visit: {right} right of {tried} tried, {first} of them at the first try.").format(
        right=localise(str(sum(one.state == "right" for one in tried))),
        tried=localise(str(len(tried))),
        first=localise(str(sum(one.right_at == 1 for one in tried))),
    )


def go_on(place: int) -> None:
    change_settings(PAGE, q=place)


values = {"part": "check", "q": 1, "seed": 1, **read_settings(PAGE, ADDRESS)}
asked = questions(values["part"], values["seed"])
values["q"] = min(values["q"], len(asked))
write_settings(PAGE, values)
widgets = SettingWidgets(PAGE, ADDRESS, values, followers={"part": ("q",), "seed": ("q",)})

question, again = st.columns([8, 2.2], vertical_alignment="center")
with question:
    heading(_("Can you say what happens before you run it?"), "")
    above = st.empty()
again.button(_("Start over"), on_click=start_over, width="stretch")

widgets.choice(
    "part",
    _("Part"),
    {
        "check": _("Check yourself"),
        "exercises": _("Exercises"),
        "fresh": _("Ten fresh ones"),
        "think": _("To think about"),
    },
    widget=lambda *args, **kwargs: st.segmented_control(*args, label_visibility="collapsed", required=True, **kwargs),
)

now = asked[values["q"] - 1]
numbers = st.empty()
ask(now)
signs = {"right": " ✓", "wrong": " ✗", "": ""}
with numbers:
    states = [attempts()[one.key].state if one.key in attempts() else "" for one in asked]
    labels = {i + 1: localise(str(i + 1)) + signs[state] for i, state in enumerate(states)}
    st.session_state["practice_number"] = values["q"]
    st.pills(
        _("Question"),
        list(labels),
        format_func=labels.__getitem__,
        key="practice_number",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: go_on(st.session_state["practice_number"]),
    )
above.html(f'<p class="fc-sub" role="status">{score()}</p>')
onward, actions, seed = st.columns([2.2, 5.6, 2.4], vertical_alignment="center")
if values["q"] < len(asked):
    onward.button(_("Next question →"), on_click=go_on, args=(values["q"] + 1,), width="stretch")
with actions:
    copy_actions(now.code if isinstance(now, PrintQuestion) else None)
if values["part"] == "fresh":
    with seed:
        widgets.number("seed", _("Seed: the same ten for all"), step=1)
