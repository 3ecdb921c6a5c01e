"""How each kind of question is asked and answered. What was tried stays in this visit's session, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import streamlit as st

from core.messages import Message
from core.practice import (
    ChoiceQuestion,
    MarkQuestion,
    NumberQuestion,
    OrderQuestion,
    PrintQuestion,
    Question,
    ThoughtQuestion,
    Verdict,
    WriteQuestion,
)
from pages.ui.code import code_html
from pages.ui.i18n import _, language, localise, number
from pages.ui.markup import rich
from pages.ui.messages import markdown, said
from pages.ui.ordering import ordering
from pages.ui.terms import with_terms

LONGEST_NUMBER, LONGEST_TEXT = 60, 2000
EXPLAINED = (
    "adamw", "autograd", "batchnorm", "bce-with-logits", "checkpoint", "class-index", "cross-entropy", "dataloader",
    "dropout", "early-stopping", "eval-mode", "generator", "gradient", "graph", "log-sum-exp", "logits", "momentum",
    "naive-mean", "no-grad", "one-hot", "optimizer", "patience", "rng-state", "seed", "sgd", "sigmoid", "softmax",
    "state-dict", "test-set", "train-mode", "validation", "weight-decay", "weighted-mean", "zero-grad",
)  # fmt: skip
"""The terms explained in an answer; not in a question, where the explanation might be the answer."""


@dataclass
class Attempt:
    """What this visitor has done with one question."""

    answer: Any = None
    verdicts: tuple[Verdict, ...] = field(default=())
    tries: int = 0
    right_at: int | None = None
    """The try that was right first."""
    shown: bool = False
    """Whether the answer was asked for before it was found."""

    @property
    def state(self) -> str:
        """What is known of the question: "right", "wrong", or "" before any try."""
        if self.right_at:
            return "right"
        return "wrong" if self.tries or self.shown else ""


def attempts() -> dict[str, Attempt]:
    return st.session_state.setdefault("practice_attempts", {})


def attempt(key: str) -> Attempt:
    return attempts().setdefault(key, Attempt())


def start_over() -> None:
    """Forget the score and what was answered; the lines to order are shuffled anew."""
    attempts().clear()
    for key in [key for key in st.session_state if str(key).startswith(("answer_", "tick_", "look_", "write_"))]:
        del st.session_state[key]
    st.session_state["practice_shuffle"] = st.session_state.get("practice_shuffle", 1) + 1


def _keep(question: Question) -> str:
    """The key of the answer's widget, which Streamlit forgets while another question is shown."""
    key, one = f"answer_{question.key}", attempt(question.key)
    if key not in st.session_state and one.answer is not None:
        st.session_state[key] = one.answer
    return key


def _judge(key: str, answer: Any, verdicts: tuple[Verdict, ...]) -> None:
    one = attempt(key)
    one.answer, one.verdicts = answer, verdicts
    if any(verdict.right is None for verdict in verdicts):
        return  # not readable as an answer, so not a try
    one.tries += 1
    if one.right_at is None and not one.shown and all(verdict.right for verdict in verdicts):
        one.right_at = one.tries


def ask(question: Question | ThoughtQuestion) -> None:
    """Ask `question`, with what has been said to its answer so far."""
    st.html(f'<p class="fc-prompt fc-ready">{rich(said(question.prompt))}</p>')
    code = getattr(question, "code", "")
    if code:
        st.html(f'<div class="fc-program fc-listing">{code_html(code)}</div>')
    _ASK[type(question)](question)


def explained(message: Message) -> str:
    """What is said of an answer, its terms explained."""
    return with_terms(rich(said(message)), *EXPLAINED)


def verdict_html(verdict: Verdict, sign: bool = True) -> str:
    """The verdict on an answer as a sentence, with a sign."""
    kind, mark = {
        True: ("right", _("✓ Right")),
        False: ("wrong", _("✗ Not yet")),
        None: ("unread", _("? Not an answer")),
    }[verdict.right]
    head = f'<b class="fc-{kind}">{escape(mark)}</b> ' if sign else ""
    return f'<p class="fc-say fc-told fc-{kind}-answer" role="status">{head}{explained(verdict.why)}</p>'


def _outcome(question: Question, answer_html: Callable[[], str]) -> None:
    """The verdict on the last try, and after a wrong one the way out."""
    one = attempt(question.key)
    for verdict in one.verdicts[:1]:
        st.html(verdict_html(verdict))
    if one.state == "wrong" and not one.shown:
        st.button(
            _("Show the answer"),
            key=f"show_{question.key}",
            type="tertiary",
            on_click=lambda: setattr(one, "shown", True),
        )
    if one.shown and not one.right_at:
        title = _("The answer")
        st.html(f'<div class="fc-where fc-why"><h3>{escape(title)}</h3>{answer_html()}</div>')


def _choice(question: ChoiceQuestion) -> None:
    with st.form(f"form_{question.key}", border=False):
        labels = [markdown(localised(said(option.text))) for option in question.options]
        chosen = st.radio(
            _("Your answer"),
            range(len(labels)),
            format_func=labels.__getitem__,
            index=None,
            key=_keep(question),
            label_visibility="collapsed",
        )
        if st.form_submit_button(_("Check"), type="primary") and chosen is not None:
            _judge(question.key, chosen, (question.check(chosen),))
    right = next(option for option in question.options if option.right)
    _outcome(question, lambda: f"<p><b>{rich(localised(said(right.text)))}</b></p><p>{explained(right.why)}</p>")


def localised(text: str) -> str:
    """A bare number in the visitor's digits; a sentence has them already, and shapes keep PyTorch's."""
    return localise(text) if text.replace(".", "").isdigit() else text


def _number(question: NumberQuestion) -> None:
    with st.form(f"form_{question.key}", border=False):
        label = _("Your answer in {unit}").format(unit=question.unit) if question.unit else _("Your answer")
        given = st.text_input(label, key=_keep(question), max_chars=LONGEST_NUMBER, placeholder="0.1234 / ০.১২৩৪")
        if st.form_submit_button(_("Check"), type="primary"):
            _judge(question.key, given, (question.check(given),))
    _outcome(
        question,
        lambda: f"<p><b>{number(question.answer)} {question.unit}</b></p><p>{explained(question.explanation)}</p>",
    )


def _print(question: PrintQuestion) -> None:
    with st.form(f"form_{question.key}", border=False):
        lines = question.answer.count("\n") + 1
        given = st.text_area(
            _("It prints (spaces and line breaks do not count)"),
            key=_keep(question),
            max_chars=LONGEST_TEXT,
            height=max(70, 30 * lines + 24),
        )
        if st.form_submit_button(_("Check"), type="primary"):
            _judge(question.key, given, (question.check(given),))
    _outcome(question, lambda: f"<pre>{escape(question.answer)}</pre><p>{explained(question.explanation)}</p>")


def _order(question: OrderQuestion) -> None:
    one = attempt(question.key)
    start = question.shuffled(st.session_state.setdefault("practice_shuffle", 1))
    verdict = one.verdicts[0] if one.verdicts else None
    order = ordering("ordering", question, start, verdict, one.tries)
    if order is not None:
        _judge(question.key, order, (question.check(order),))
        st.rerun()
    _outcome(
        question,
        lambda: (
            f'<ol lang="{language()}">' + "".join(f"<li>{rich(said(item))}</li>" for item in question.items) + "</ol>"
        ),
    )


def _mark(question: MarkQuestion) -> None:
    one = attempt(question.key)
    with st.form(f"form_{question.key}", border=False):
        ticked = set()
        columns = st.columns(2)
        for i, statement in enumerate(question.statements):
            key = f"tick_{question.key}_{i}"
            if key not in st.session_state and one.answer is not None:
                st.session_state[key] = i in one.answer
            with columns[i % 2]:
                if st.checkbox(markdown(said(statement.text)), key=key):
                    ticked.add(i)
        if st.form_submit_button(_("Check"), type="primary"):
            _judge(question.key, ticked, question.check(ticked))
    if one.verdicts:
        right = sum(bool(verdict.right) for verdict in one.verdicts)
        text = _("{right} of {all} statements judged rightly.").format(
            right=localise(str(right)), all=localise(str(len(one.verdicts)))
        )
        lines = "".join(
            f'<li class="fc-{"right" if verdict.right else "wrong"}"><b>{"✓" if verdict.right else "✗"} '
            f"{rich(said(statement.text))}</b> <span>{explained(verdict.why)}</span></li>"
            for verdict, statement in zip(one.verdicts, question.statements, strict=True)
        )
        st.html(f'<p class="fc-say" role="status">{escape(text)}</p><ul class="fc-judged">{lines}</ul>')


def _write(question: WriteQuestion) -> None:
    st.text_area(
        _("Your version: it is compared by you, and never run here"),
        key=f"write_{question.key}",
        max_chars=LONGEST_TEXT,
        height=190,
    )
    one = attempt(question.key)
    if not one.shown:
        st.button(
            _("Compare with ours"),
            key=f"show_{question.key}",
            type="primary",
            on_click=lambda: setattr(one, "shown", True),
        )
        return
    st.html(f'<div class="fc-program fc-listing">{code_html(question.answer)}</div>')
    st.caption(_("Tick what yours has too:"))
    ticks = [
        st.checkbox(markdown(said(look)), key=f"look_{question.key}_{i}") for i, look in enumerate(question.look_for)
    ]
    one.right_at = 1 if all(ticks) else None


def _thought(question: ThoughtQuestion) -> None:
    with st.expander(_("Think first; then compare with an answer")):
        st.html("".join(f"<p>{explained(paragraph)}</p>" for paragraph in question.answer))
        st.html(f'<p class="fc-say">{explained(question.takeaway)}</p>')


_ASK: dict[type, Callable[[Any], None]] = {
    ChoiceQuestion: _choice,
    NumberQuestion: _number,
    PrintQuestion: _print,
    OrderQuestion: _order,
    MarkQuestion: _mark,
    WriteQuestion: _write,
    ThoughtQuestion: _thought,
}
