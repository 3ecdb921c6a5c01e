"""What the review page shows of overfitting one batch: the curve, the verdict, and what the test catches."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from core.mistakes import MISTAKES
from core.review import ALMOST_ZERO, Overfit
from pages.ui.chart import COLOURS, layout
from pages.ui.i18n import _, number, plain
from pages.ui.messages import said

EXPLAINED = (
    "logits", "softmax", "gradient", "grad-norm", "zero-grad", "no-grad", "eval-mode", "train-mode", "state-dict",
    "dropout", "scheduler", "learning-rate", "checkpoint", "rng-state", "resume", "patience", "validation", "test-set",
    "seed", "optimizer", "overfit-one-batch",
)  # fmt: skip


def name_of(key: str) -> str:
    return _(MISTAKES[key].title) if key else _("A right loop")


def loss_chart(right: Overfit, chosen: Overfit) -> tuple[dict[str, Any], str]:
    """The loss on the one batch, pass by pass, on a log scale; and its end in words."""
    runs = [(right, COLOURS["best"], "solid", _("right loop"))]
    if chosen.key:
        runs.append((chosen, COLOURS["stop"], "dash", _("wrong loop")))
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(range(1, len(run.losses) + 1)),
            "y": list(run.losses),
            "line": {"color": colour, "dash": dash, "width": 2},
        }
        for run, colour, dash, _name in runs
    ]
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": ALMOST_ZERO, "y1": ALMOST_ZERO}
    names = [
        {
            "text": f"<b>{'– –' if dash == 'dash' else '──'} {name}</b>",
            "font": {"color": colour, "size": 13},
            "xref": "paper",
            "yref": "paper",
            "x": 1,
            "y": 1 - 0.08 * place,
            "xanchor": "right",
            "yanchor": "top",
            "showarrow": False,
            "bgcolor": COLOURS["paper"],
        }
        for place, (_run, colour, dash, name) in enumerate(runs)
    ]
    names.append(
        {
            "text": _("by heart below {loss}").format(loss=plain(ALMOST_ZERO)),
            "font": {"color": COLOURS["quiet"], "size": 12},
            "xref": "paper",
            "x": 1,
            "y": math.log10(ALMOST_ZERO),  # an annotation on a log axis takes the exponent
            "xanchor": "right",
            "yanchor": "bottom",
            "showarrow": False,
        }
    )
    words = ", ".join(f"{name}: {number(run.final)}" for run, _colour, _dash, name in runs)
    look = layout(
        _("Loss on one batch, over and over"),
        _("pass over the batch"),
        _("loss (log scale)"),
        yaxis={"type": "log", "range": [-3.2, 0.6], "dtick": 1},
        annotations=names,
        shapes=[{**line, "line": {"color": COLOURS["quiet"], "dash": "dot", "width": 1}}],
        margin={"l": 60, "r": 12, "t": 34, "b": 42},
    )
    return {"data": data, "layout": look}, words


def caught_table(results: list[Overfit], chosen: str) -> str:
    """A row for each loop that has been run: the loss it came to, and whether the test found its fault."""
    head = "".join(
        f'<th scope="col">{escape(text)}</th>' for text in (_("loop"), _("loss at the end"), _("does the test see it?"))
    )
    return (
        f'<table class="fc-state fc-caught"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(_row(result, result.key == chosen) for result in results)}</tbody></table>"
    )


def _row(result: Overfit, chosen: bool) -> str:
    if not result.key:
        says, look = (_("✓ learned by heart"), "fc-right") if result.learned else (_("✗ did not learn it"), "fc-wrong")
    else:
        says, look = (_("✓ caught"), "fc-right") if result.caught else (_("✗ not caught"), "fc-wrong")
    mark = ' class="fc-now" aria-current="true"' if chosen else ""
    return (
        f'<tr{mark}><th scope="row">{escape(name_of(result.key))}</th><td>{number(result.final)}</td>'
        f'<td class="fc-verdict-cell {look}">{escape(says)}</td></tr>'
    )


def verdict(result: Overfit) -> str:
    return said(result.verdict)


def summary(results: list[Overfit]) -> str:
    """How many of the mistakes the test has caught, once all have been run."""
    faults = [result for result in results if result.key]
    return _("Overfitting one batch catches {caught} of these {all} mistakes; the rest takes the other tests.").format(
        caught=plain(sum(result.caught for result in faults)), all=plain(len(faults))
    )
