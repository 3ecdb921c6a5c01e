"""What the NumPy page shows of the run and its PyTorch twin, as HTML and figures, and the sentence to take away."""

from __future__ import annotations

import math
from typing import Any

from core.numpy_loop import Grid, NumpyRun, Twin
from core.numpy_script import LINES
from pages.ui.chart import COLOURS, layout
from pages.ui.i18n import _, number, plain
from pages.ui.markup import rich
from pages.ui.tables import table, value
from pages.ui.terms import sentence, with_terms

_CLASSES = ((COLOURS["weight"], "circle"), (COLOURS["val"], "square"), (COLOURS["best"], "triangle-up"))


def outcome(run: NumpyRun, twin: Twin) -> str:
    """Where each of the two runs ended, and how far they are apart."""
    rows = [
        ("NumPy", *_row("numpy", run.stopped, run.best, run.best_val_loss, run.accuracy, run.train_losses[-1])),
        (
            "PyTorch",
            *_row(
                "pytorch",
                len(twin.val_losses),
                twin.best,
                twin.val_losses[twin.best - 1] if twin.best else math.nan,
                twin.accuracy,
                twin.train_losses[-1],
            ),
        ),
    ]
    head = ["", _("last epoch"), _("best epoch"), _("best val loss"), _("val accuracy"), _("last train loss")]
    return table(head, rows, label=_("Both runs"))


def _row(name: str, stopped: int, best: int, val: float, accuracy: float, train: float) -> tuple[str, ...]:
    return (
        value(stopped, 0, name=f"{name}-stopped"),
        value(best, 0, name=f"{name}-best"),
        value(val, name=f"{name}-val"),
        value(accuracy, 3, name=f"{name}-accuracy"),
        value(train, name=f"{name}-train"),
    )


def outcome_say(run: NumpyRun, twin: Twin) -> str:
    numbers = {
        "epochs": plain(run.stopped),
        "best": plain(run.best),
        "waited": plain(run.stopped - run.best),
        "largest": number(twin.largest) if math.isfinite(twin.largest) else "",
    }
    if not math.isfinite(twin.largest):
        text = _("The weights ran away, in NumPy and PyTorch alike: the loss is no longer a number. Lower the lr.")
    elif twin.largest >= 1e-10:
        text = _(
            "This run is unstable: differences in the last digit grew to {largest}. Both do the same arithmetic, "
            "but sum in another order."
        )
    elif run.early:
        text = _(
            "At each of {epochs} epochs the losses of both agree within **{largest}**: PyTorch does what these lines "
            "of NumPy do. The best was epoch {best}; after {waited} more without a better one, both stopped."
        )
    else:
        text = _(
            "At each of {epochs} epochs the losses of both agree within **{largest}**: PyTorch does what these lines "
            "of NumPy do. The best was epoch {best}, and the epochs ran out before patience did."
        )
    return sentence(text.format(**numbers), "epoch", "patience", "loss")


def curves(run: NumpyRun) -> dict[str, Any]:
    """Train and val loss over the epochs, the best epoch and the last one marked."""
    epochs = list(range(1, run.stopped + 1))
    lines = (("train", run.train_losses, "solid"), ("val", run.val_losses, "dash"))
    figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": epochs,
                "y": [loss if math.isfinite(loss) else None for loss in losses],
                "line": {"color": COLOURS[name], "dash": dash, "width": 3},
            }
            for name, losses, dash in lines
        ],
        "layout": layout(_("Loss at each epoch"), "epoch", _("cross-entropy")),
    }
    marks = (("best", run.best, _("best: {epoch}")), ("stop", run.stopped, _("last: {epoch}")))
    figure["layout"]["shapes"] = [
        {
            "type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": COLOURS[name], "width": 2, "dash": "dot"},
        }
        for name, at, _text in marks if at
    ]  # fmt: skip
    figure["layout"]["annotations"] = [
        {
            "x": at, "yref": "paper", "y": 1, "text": text.format(epoch=plain(at)), "showarrow": False,
            "xanchor": "left" if name == "best" else "right", "xshift": 5 if name == "best" else -5,
            "font": {"color": COLOURS[name], "size": 13}, "bgcolor": COLOURS["paper"],
        }
        for name, at, text in marks if at
    ]  # fmt: skip
    at = run.stopped * 3 // 5
    if at and math.isfinite(run.train_losses[at] + run.val_losses[at]):
        above = "train" if sum(run.train_losses) >= sum(run.val_losses) else "val"
        figure["layout"]["annotations"] += [
            {
                "x": at + 1, "y": losses[at], "text": f"{name} loss", "showarrow": False,
                "yshift": 24 if name == above else -22, "font": {"color": COLOURS[name], "size": 14},
            }
            for name, losses, _dash in lines
        ]  # fmt: skip
    return figure


def boundary(run: NumpyRun, grid: Grid) -> dict[str, Any]:
    """Which class the best weights see where, and the points: small to train on, large to validate."""
    scale = [[(i + k) / 3, colour] for i, (colour, _symbol) in enumerate(_CLASSES) for k in (0, 1)]
    data: list[dict[str, Any]] = [
        {
            "type": "heatmap", "x": grid.x.tolist(), "y": grid.y.tolist(), "z": grid.classes.tolist(),
            "zmin": 0, "zmax": 2, "colorscale": scale, "showscale": False, "opacity": 0.22, "hoverinfo": "skip",
        }
    ]  # fmt: skip
    labels = []
    for i, (colour, symbol) in enumerate(_CLASSES):
        for x, y, size, edge in ((run.data.x_train, run.data.y_train, 6, 0), (run.data.x_val, run.data.y_val, 10, 2)):
            chosen = x[y == i]
            data.append(
                {
                    "type": "scatter", "mode": "markers", "x": chosen[:, 0].tolist(), "y": chosen[:, 1].tolist(),
                    "marker": {
                        "color": colour, "symbol": symbol, "size": size,
                        "line": {"width": edge, "color": COLOURS["text"]},
                    },
                    "hoverinfo": "skip",
                }
            )  # fmt: skip
        where = grid.classes == i
        if where.any():
            columns, rows = where.any(axis=0).nonzero()[0], where.any(axis=1).nonzero()[0]
            at = (float(grid.x[columns].mean()), float(grid.y[rows[-1] if i == 0 else rows[0]]))
            labels.append(
                {
                    "x": at[0], "y": at[1], "text": _("class {i}").format(i=plain(i)), "showarrow": False,
                    "yanchor": "top" if i == 0 else "bottom", "bgcolor": COLOURS["paper"],
                    "font": {"color": colour, "size": 14},
                }
            )  # fmt: skip
    title = _("What the best weights see; val points large")
    return {"data": data, "layout": layout(title, "x₁", "x₂", annotations=labels)}


def line_pairs() -> str:
    """Each line of the NumPy script, and the PyTorch call that it stands for."""
    terms = ("gradient", "optimizer", "forward", "no-grad")
    notes = [with_terms(rich(_(pair.note)), *terms) if pair.note else "" for pair in LINES]
    rows = [(f"`{pair.numpy}`", rich(f"`{pair.pytorch}`"), note) for pair, note in zip(LINES, notes, strict=True)]
    return table(["NumPy", "PyTorch", ""], rows, label=_("NumPy lines and PyTorch calls")).replace(
        "fc-plain", "fc-plain fc-lines"
    )


def epochs(run: NumpyRun, twin: Twin) -> str:
    """Both losses of both runs at every epoch, to ten digits, and the larger difference."""
    together = zip(run.train_losses, twin.train_losses, run.val_losses, twin.val_losses, twin.differences, strict=True)
    rows = [
        (plain(epoch), *(value(loss, 10) for loss in losses), value(difference))
        for epoch, (*losses, difference) in enumerate(together, start=1)
    ]
    head = ["epoch", "train, NumPy", "train, PyTorch", "val, NumPy", "val, PyTorch", _("difference")]
    shown = table(head, rows, label=_("Losses at each epoch"), marked=run.best - 1)
    return f'<div class="fc-tall">{shown}</div>'
