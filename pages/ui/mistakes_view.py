"""What the page of mistakes shows: two loops side by side, their numbers, the sentence to take away, the charts."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from core.data import bazarghar
from core.mistake_code import CodePair
from core.mistakes import EPOCHS, Mistake, MistakeRun
from pages.ui.chart import COLOURS, layout
from pages.ui.code import code_html
from pages.ui.i18n import _, localise, number, plain
from pages.ui.markup import rich
from pages.ui.terms import with_terms

LINES_SHOWN = 9
TERMS_EXPLAINED = ("softmax", "logits", "floor", "grad-norm", "dropout", "state-dict", "accuracy", "learning-rate")
RIGHT, WRONG = COLOURS["best"], COLOURS["stop"]
Figure = tuple[dict[str, Any], str]
"""A chart and its numbers in words."""


def code_side_by_side(pair: CodePair, *, whole: bool = False) -> str:
    """The right and the wrong loop around the lines that differ, or from end to end."""
    first = 0 if whole else min(max(pair.marked[0] - 4, 0), len(pair.right) - LINES_SHOWN)
    if not whole and len(pair.marked) > 1:
        first = pair.marked[0]
    last = len(pair.right) if whole else first + LINES_SHOWN
    sides = (("right", _("✓ Right"), pair.right, pair.wrong), ("wrong", _("✗ Wrong"), pair.wrong, pair.right))
    return f'<div class="fc-loops">{"".join(_code(*side, pair.marked, first, last) for side in sides)}</div>'


def _code(
    kind: str,
    title: str,
    lines: tuple[str, ...],
    others: tuple[str, ...],
    marked: tuple[int, ...],
    first: int,
    last: int,
) -> str:
    shown = list(lines)
    for place in marked:
        if not lines[place]:  # a line that only the other loop has
            shown[place] = " " * _indent(others[place]) + "# …"
    shown = shown[first:last]
    indent = min(_indent(line) for line in shown if line)
    source = code_html("\n".join(line[indent:] for line in shown), *(place - first + 1 for place in marked))
    return f'<section class="fc-{kind}-code"><h3>{escape(title)}</h3>{source}</section>'


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def numbers_table(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> str:
    """A row for each number of the two loops; those that give this mistake away are marked."""
    rows = (
        (("val_loss",), _("val loss of the logits"), lambda run: number(run.val_loss)),
        ((), _("val accuracy"), lambda run: number(run.val_acc, 3)),
        (
            ("val_three_times", "shown_val_losses"),
            _("own val loss, three times"),
            lambda run: " ".join(number(loss) for loss in run.val_three_times),
        ),
        (("kept_val_loss",), _("val loss of the kept weights"), lambda run: number(run.kept_val_loss)),
        (("best_epoch",), _("best epoch to the loop"), lambda run: plain(run.best_epoch)),
        (("confidences",), _("mean confidence"), lambda run: number(run.confidence, 3)),
        (
            ("grad_norms",),
            _("norm: first, median, last"),
            lambda run: " ".join(
                number(norm, 2) for norm in (run.grad_norms[0], run.median_grad_norm, run.grad_norms[-1])
            ),
        ),
        (
            ("lrs", "warning") if "lrs" in mistake.signs else ("grad_norms",) * (mistake.key == "window-dropped"),
            _("steps, those at the first rate"),
            lambda run: f"{plain(len(run.grad_norms))} {plain(run.steps_at_first_rate)}",
        ),
    )
    body = "".join(
        _row(bool(set(signs) & set(mistake.signs)), title, show, right, wrong) for signs, title, show in rows
    )
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in (_("at the end"), _("✓ Right"), _("✗ Wrong")))
    return f'<table class="fc-state fc-numbers"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _row(sign: bool, title: str, show: Callable[[MistakeRun], str], right: MistakeRun, wrong: MistakeRun) -> str:
    a, b = show(right), show(wrong)
    told = sign and a != b
    label = escape(_("gives it away"))
    mark = f'<span class="fc-mark" role="img" aria-label="{label}">◆</span> ' if told else ""
    look = ' class="fc-changed"' if told else ""
    return f'<tr><th scope="row">{escape(title)}</th><td>{a}</td><td{look}>{mark}{b}</td></tr>'


def take_away(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> str:
    """The one sentence, made from the numbers of both runs."""
    customers = len(bazarghar().y_val)
    ratios = {
        "softmax": wrong.val_loss / right.val_loss,
        "no-zero-grad": wrong.grad_norms[-1] / right.grad_norms[-1],
        "undivided": wrong.grad_norms[0] / right.grad_norms[0],
    }
    text = _sentences()[mistake.key]
    if mistake.key == "best-by-reference" and right.kept_val_loss == wrong.kept_val_loss:
        text = _("With this seed the last epoch is the best, {best_epoch}, so both keep the same weights: luck.")
    return text.format(
        right_acc=number(right.val_acc, 3),
        wrong_acc=number(wrong.val_acc, 3),
        right_loss=number(right.val_loss),
        wrong_loss=number(wrong.val_loss),
        ratio=number(ratios.get(mistake.key, 1), 1),
        confidence=number(wrong.confidence, 2),
        right_last=number(right.grad_norms[-1], 2),
        wrong_last=number(wrong.grad_norms[-1], 2),
        right_first=number(right.grad_norms[0], 2),
        wrong_first=number(wrong.grad_norms[0], 2),
        three=", ".join(number(loss) for loss in wrong.val_three_times),
        shown=number(wrong.shown_val_losses[-1]),
        last=plain(customers % 64),
        size=plain(64),
        right_steps=plain(len(right.grad_norms)),
        wrong_steps=plain(len(wrong.grad_norms)),
        right_rate=plain(right.steps_at_first_rate),
        wrong_rate=plain(wrong.steps_at_first_rate),
        lr=plain(right.lrs[0]),
        best=number(wrong.best_shown),
        best_epoch=plain(wrong.best_epoch),
        kept=number(wrong.kept_val_loss),
        epochs=plain(EPOCHS),
    )


def _sentences() -> dict[str, str]:
    return {
        "softmax": _(
            "Accuracy {right_acc} against {wrong_acc}, but the val loss of the logits is **{wrong_loss}** against "
            "{right_loss}, {ratio} times as high: on average the wrong model is {confidence} sure of its answer."
        ),
        "no-zero-grad": _(
            "At the last step the gradient norm is **{wrong_last}** against {right_last}, {ratio} times as long: every "
            "backward was added to all those before."
        ),
        "no-eval": _(
            "One model, the same data, measured three times: **{three}**. In eval mode this model has one val loss, "
            "{wrong_loss}."
        ),
        "naive-mean": _(
            "The same model to the bit, with a val loss of {wrong_loss}; the wrong loop reports **{shown}**, since the "
            "last batch of {last} customers weighs as much as one of {size}."
        ),
        "scheduler-first": _(
            "**{wrong_rate}** steps at the first rate of {lr} instead of {right_rate}: the schedule is one epoch "
            "early, and PyTorch warned once."
        ),
        "best-by-reference": _(
            "The log's best val loss is {best}, at epoch {best_epoch}; the weights kept as the best give **{kept}**: "
            "they are those of epoch {epochs}, the last."
        ),
        "undivided": _(
            "At the first step the gradient norm is **{wrong_first}** against {right_first}, {ratio} times as long: "
            "four losses were added up, not averaged."
        ),
        "window-dropped": _(
            "**{wrong_steps}** optimizer steps instead of {right_steps}: in each of the {epochs} epochs the last "
            "window's gradients were computed and thrown away."
        ),
    }


def why_not_accuracy(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> str:
    title = _("Why accuracy alone does not show it ({right} and {wrong})").format(
        right=number(right.val_acc, 3), wrong=number(wrong.val_acc, 3)
    )
    why = with_terms(rich(_(mistake.why_not_accuracy)), *TERMS_EXPLAINED)
    return f'<div class="fc-where fc-why"><h3>{escape(title)}</h3><p>{why}</p></div>'


def _line(values: tuple[float, ...], colour: str, dash: str, name: str, width: float = 2) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(range(1, len(values) + 1)),
        "y": list(values),
        "name": name,
        "line": {"color": colour, "dash": dash, "width": width},
    }


def _lines(
    title: str, x: str, y: str, lines: list[tuple[str, tuple[float, ...], str, str]], *, log: bool = False
) -> dict[str, Any]:
    """Lines with their names written into the chart's upper right corner, each in its line's colour."""
    signs = {"solid": "──", "dash": "– –", "dot": "···"}
    names = [
        {
            "text": f"<b>{signs[dash]} {name}</b>",
            "font": {"color": colour, "size": 13},
            "xref": "paper",
            "yref": "paper",
            "x": 1,
            "y": 1.0 - 0.11 * place,
            "xanchor": "right",
            "yanchor": "top",
            "showarrow": False,
            "bgcolor": COLOURS["paper"],
        }
        for place, (name, _values, colour, dash) in enumerate(lines)
    ]
    values = [value for _name, given, _colour, _dash in lines for value in given]
    low, high = min(values), max(values)
    yaxis: dict[str, Any] = {
        "range": [max(low - (high - low) * 0.06, 0), high + (high - low) * (0.25 + 0.25 * len(lines))]
    }
    if log:
        yaxis = {"type": "log", "dtick": 1}
    data = [_line(given, colour, dash, name) for name, given, colour, dash in lines]
    look = layout(title, x, y, yaxis=yaxis, annotations=names, margin={"l": 56, "r": 12, "t": 34, "b": 42})
    return {"data": data, "layout": look}


def val_chart(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> Figure:
    lines = [
        (_("right loop"), right.true_val_losses, RIGHT, "solid"),
        (_("wrong loop, its logits"), wrong.true_val_losses, WRONG, "dash"),
    ]
    off = max(abs(a - b) for a, b in zip(wrong.shown_val_losses, wrong.true_val_losses, strict=True))
    if off > 5e-5:  # else the same to the digits shown
        lines.append((_("wrong loop, as it reports"), wrong.shown_val_losses, COLOURS["weight"], "dot"))
    words = _("Val loss at the last epoch: right loop {right}, wrong loop {wrong}, as it reports {shown}.").format(
        right=number(right.val_loss), wrong=number(wrong.val_loss), shown=number(wrong.shown_val_losses[-1])
    )
    return _lines(_("Val loss after each epoch"), _("epoch"), _("val loss (nats)"), lines), words


def norm_chart(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> Figure:
    lines = [
        (_("right loop"), right.grad_norms, RIGHT, "solid"),
        (_("wrong loop"), wrong.grad_norms, WRONG, "dash"),
    ]
    words = _("Gradient norm at the last step: right loop {right}, wrong loop {wrong}.").format(
        right=number(right.grad_norms[-1], 2), wrong=number(wrong.grad_norms[-1], 2)
    )
    axis = _("norm (log scale)")
    return _lines(_("Gradient norm at each step"), _("optimizer step"), axis, lines, log=True), words


def lr_chart(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> Figure:
    lines = [(_("right loop"), right.lrs, RIGHT, "solid"), (_("wrong loop"), wrong.lrs, WRONG, "dash")]
    words = _("Steps at the first rate: right loop {right}, wrong loop {wrong}.").format(
        right=plain(right.steps_at_first_rate), wrong=plain(wrong.steps_at_first_rate)
    )
    return _lines(_("Learning rate of each step"), _("optimizer step"), "lr", lines), words


def confidence_chart(mistake: Mistake, right: MistakeRun, wrong: MistakeRun) -> Figure:
    bars, words = [], []
    tenths = [localise(f"{i / 10:.1f}–{(i + 1) / 10:.1f}") for i in range(3, 10)]
    names = []
    for place, (name, run, colour, pattern) in enumerate(
        ((_("right loop"), right, RIGHT, ""), (_("wrong loop"), wrong, WRONG, "/"))
    ):
        counts = run.histogram()[3:]
        bars.append(
            {
                "type": "bar",
                "x": tenths,
                "y": list(counts),
                "name": name,
                "marker": {"color": colour, "pattern": {"shape": pattern, "size": 6}},
                "text": [localise(str(count)) for count in counts],
                "textposition": "outside",
                "cliponaxis": False,
            }
        )
        names.append(
            {
                "text": f"<b>{'▨' if pattern else '■'} {name}</b>",
                "font": {"color": colour, "size": 13},
                "xref": "paper",
                "yref": "paper",
                "x": 0.02,
                "y": 1 - 0.12 * place,
                "xanchor": "left",
                "yanchor": "top",
                "showarrow": False,
            }
        )
        words.append(f"{name}: {', '.join(localise(str(count)) for count in counts)}")
    title = _("How sure the model is, over {count} customers").format(count=plain(len(right.confidences)))
    look = layout(
        title,
        _("probability of the class it names"),
        _("customers"),
        annotations=names,
        barmode="group",
        margin={"l": 52, "r": 12, "t": 34, "b": 42},
    )
    look["xaxis"]["type"] = "category"
    return {"data": bars, "layout": look}, "; ".join(words)


CHARTS: dict[str, Callable[[Mistake, MistakeRun, MistakeRun], Figure]] = {
    "val": val_chart,
    "norm": norm_chart,
    "confidence": confidence_chart,
    "lr": lr_chart,
}
FIRST_CHART = {"softmax": "confidence", "no-zero-grad": "norm", "scheduler-first": "lr", "undivided": "norm"}
"""The chart that tells most about a mistake; of the others, it is the val loss."""
