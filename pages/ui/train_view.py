"""What the training page shows of a run: the curves, the log, and what there is to notice in its numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from typing import Any

from core.data import Dataset
from core.fit_config import FitConfig
from core.live import is_over
from core.notice import FirstEpoch, disagreement, turn
from core.records import EpochRecord, ending_of, log_line
from core.spread import Spread
from pages.ui.chart import COLOURS, layout
from pages.ui.i18n import _, number, plain
from pages.ui.markup import rich

Records = Sequence[EpochRecord]
OPTIMIZER_NAMES = {"adamw": "AdamW", "sgd": "SGD", "sgd-momentum": "SGD + momentum"}


def subtitle(config: FitConfig, data: Dataset, *, own: bool) -> str:
    """What is trained on what: the data, the model, the optimizer."""
    n, features = data.x.shape
    if own:
        rows = _("your table: {rows} rows, {features} features, {classes} classes")
    else:
        rows = _("{rows} customers, {features} features, {classes} segments")
    parts = [
        rows.format(rows=plain(n + len(data.x_val)), features=plain(features), classes=plain(len(data.classes))),
        _("MLP with dropout {rate}").format(rate=plain(config.dropout)),
        f"{OPTIMIZER_NAMES[config.optimizer]}, lr {plain(config.lr)}",
        _("patience {epochs}").format(epochs=plain(config.patience)),
        _("seed {value}").format(value=plain(config.seed)),
    ]
    return " · ".join(parts)


def curves(config: FitConfig, records: Records) -> dict[str, Any]:
    """Train and val loss by epoch, the best epoch and the early stop marked."""
    epochs = [r.epoch for r in records]
    traces, notes, shapes = [], [], []
    for key, name in (("train", _("train loss")), ("val", _("val loss"))):
        losses = [getattr(r, f"{key}_loss") for r in records]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": epochs,
                "y": losses,
                "line": {"color": COLOURS[key], "width": 2.5, "dash": "solid" if key == "train" else "dot"},
                "marker": {"size": 7, "symbol": "circle" if key == "train" else "diamond"},
            }
        )
        if records:
            notes.append(_label(epochs[-1], losses[-1], name, COLOURS[key]))
    if records and records[-1].best_epoch:
        best = records[-1].best_epoch
        shapes.append(_upright(best, COLOURS["best"], "dash"))
        notes.append(_flag(best, _("best: epoch {epoch}").format(epoch=plain(best)), COLOURS["best"]))
    if records and records[-1].stopped:
        shapes.append(_upright(epochs[-1], COLOURS["stop"], "solid"))
        notes.append(_flag(epochs[-1], _("early stop"), COLOURS["stop"]))
    shown = max(config.patience + 5, len(records) + 1)
    ticks = list(range(0, shown + 1, 1 if shown <= 16 else 10 if shown > 60 else 5))
    return {
        "data": traces,
        "layout": layout(
            _("Loss by epoch, train and validation"),
            _("epoch"),
            _("cross-entropy (nats)"),
            xaxis={"range": [0.5, shown + 1.6], "tickvals": ticks},
            shapes=shapes,
            annotations=notes,
        ),
    }


def _label(x: float, y: float, text: str, colour: str) -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "xanchor": "left", "xshift": 9, "showarrow": False, "font": {"color": colour}}


def _upright(x: float, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "yref": "paper",
        "y0": 0,
        "y1": 0.93,
        "line": {"color": colour, "dash": dash},
    }


def _flag(x: float, text: str, colour: str) -> dict[str, Any]:
    return {
        "x": x,
        "yref": "paper",
        "y": 1.0,
        "text": text,
        "showarrow": False,
        "font": {"color": colour, "size": 13},
        "bgcolor": COLOURS["paper"],
    }


def in_words(config: FitConfig, records: Records) -> str:
    """Where the run stands, in one or two sentences."""
    if not records:
        return _("Nothing has been trained yet. Press Start, or go one epoch at a time.")
    last = records[-1]
    if last.stopped:
        return _(
            "**Stopped early at epoch {epoch}**: val loss has not fallen for {bad} epochs. "
            "The weights to keep are those of epoch {best}, with val loss {loss}."
        ).format(
            epoch=plain(last.epoch), bad=plain(last.bad_epochs), best=plain(last.best_epoch), loss=number(last.best_val)
        )
    if is_over(config, tuple(records)):
        return _("**All {epoch} epochs are done**, without an early stop. Best: epoch {best}, val loss {loss}.").format(
            epoch=plain(last.epoch), best=plain(last.best_epoch), loss=number(last.best_val)
        )
    return _(
        "Best so far: epoch {best}, val loss {loss}. Epochs without improvement: {bad} of the {patience} allowed."
    ).format(
        best=plain(last.best_epoch),
        loss=number(last.best_val),
        bad=plain(last.bad_epochs),
        patience=plain(config.patience),
    )


def epoch_table(records: Records) -> str:
    """The epoch log; every number in an element with `data-epoch` and `data-field`."""
    columns = (
        ("train_loss", _("train loss"), 4),
        ("train_acc", _("train acc"), 3),
        ("val_loss", _("val loss"), 4),
        ("val_acc", _("val acc"), 3),
    )
    head = "".join(f'<th scope="col">{escape(title)}</th>' for _name, title, _digits in columns)
    rows = "".join(_epoch_row(record, columns, now=record is records[-1]) for record in records)
    label, epoch = escape(_("Epoch log")), escape(_("epoch"))
    return (
        f'<div class="fc-scroll fc-log" tabindex="0" role="region" aria-label="{label}"><table class="fc-state">'
        f'<thead><tr><th scope="col">{epoch}</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _epoch_row(record: EpochRecord, columns: Sequence[tuple[str, str, int]], *, now: bool) -> str:
    star = " ★" if record.best else ""
    cells = ""
    for name, _title, digits in columns:
        look = "fc-best" if record.best and name == "val_loss" else ""
        value = number(getattr(record, name), digits)
        cells += f'<td data-epoch="{record.epoch}" data-field="{name}" class="{look}">{value}</td>'
    return f'<tr class="{"fc-now" if now else ""}"><th scope="row">{plain(record.epoch)}{star}</th>{cells}</tr>'


def notices(records: Records, first: FirstEpoch) -> list[tuple[str, str]]:
    """Three things to notice, each a heading and a sentence made from this run's numbers; none before epoch 2."""
    found = turn(records)
    if len(records) < 2 or found is None:
        return []
    best, last = found.best, found.last
    turned = (
        _(
            "Val loss was lowest at epoch {best} ({low}) and is {now} at epoch {epoch}; train loss went from {before} "
            "to {after}. What still falls in training no longer helps on new customers."
        )
        if found.overfits and last.bad_epochs > 1  # one worse epoch is not a turn yet
        else _("Not yet: val loss is {now} at epoch {epoch}, and its lowest, {low}, was at epoch {best}.")
    ).format(
        best=plain(best.epoch),
        low=number(best.val_loss),
        now=number(last.val_loss),
        epoch=plain(last.epoch),
        before=number(best.train_loss),
        after=number(last.train_loss),
    )
    why_above = _(
        "In epoch 1 train loss is {train}, val loss {val}. Train loss was taken on the way, with dropout on and the "
        "weights still moving. Measured as val is, at the epoch's end, the same training rows give {again}."
    ).format(train=number(first.on_the_way), val=number(first.val_loss), again=number(first.at_its_end))
    return [
        (_("Where did val turn?"), turned),
        (_("Do accuracy and loss agree?"), _agreement(records, best)),
        (_("Why does train loss start above val loss?"), why_above),
    ]


def _agreement(records: Records, best: EpochRecord) -> str:
    apart = disagreement(records)
    if apart is None:
        return _(
            "Here, yes: the epoch of the lowest val loss, {best}, also has the highest val accuracy, {acc}."
        ).format(best=plain(best.epoch), acc=number(best.val_acc, 3))
    sharp = apart[1]
    return _(
        "The highest val accuracy, {acc}, comes at epoch {sharp} with val loss {loss}; the lowest val loss, {low}, "
        "at epoch {best} with accuracy {best_acc}. Loss also weighs how sure the model was; accuracy only counts which "
        "class won."
    ).format(
        acc=number(sharp.val_acc, 3),
        sharp=plain(sharp.epoch),
        loss=number(sharp.val_loss),
        low=number(best.val_loss),
        best=plain(best.epoch),
        best_acc=number(best.val_acc, 3),
    )


def notices_html(records: Records, first: FirstEpoch) -> str:
    cards = "".join(
        f"<div><h3>{escape(title)}</h3><p>{rich(text)}</p></div>" for title, text in notices(records, first)
    )
    return f'<div class="fc-cards">{cards}</div>'


def band(here: Spread, default: Spread | None) -> dict[str, Any]:
    """The val loss of the seeds as a band with its mean, and the mean of the default settings."""
    epochs = list(range(1, len(here.mean) + 1))
    edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    traces = [
        {**edge, "x": epochs, "y": here.high},
        {**edge, "x": epochs, "y": here.low, "fill": "tonexty", "fillcolor": "light-dark(#a8450a33, #ffb27a44)"},
        {
            "type": "scatter",
            "mode": "lines",
            "x": epochs,
            "y": here.mean,
            "line": {"color": COLOURS["val"], "width": 3},
        },
    ]
    notes = [_label(epochs[-1], here.mean[-1], _("these settings"), COLOURS["val"])]
    if default is not None:
        x = list(range(1, len(default.mean) + 1))
        line = {"color": COLOURS["quiet"], "width": 2, "dash": "dash"}
        traces.append({"type": "scatter", "mode": "lines", "x": x, "y": default.mean, "line": line})
        notes.append(_label(x[-1], default.mean[-1], _("default settings"), COLOURS["quiet"]))
    return {
        "data": traces,
        "layout": layout(
            _("Val loss of ten seeds: lowest, mean, highest"),
            _("epoch"),
            _("cross-entropy (nats)"),
            annotations=notes,
            margin={"l": 60, "r": 130, "t": 44, "b": 48},
        ),
    }


def band_in_words(here: Spread, default: Spread | None) -> str:
    """The best val loss over the seeds, and whether its difference from the default settings is more than luck."""
    text = _("Best val loss over ten seeds: {mean} ± {deviation}, from {low} to {high}.").format(
        mean=number(here.best_mean),
        deviation=number(here.best_deviation),
        low=number(min(here.best)),
        high=number(max(here.best)),
    )
    if default is None:
        return text
    difference = here.best_mean - default.best_mean
    luck = max(here.best_deviation, default.best_deviation)
    verdict = (
        _(
            "The default settings reach {mean}. The difference, {difference}, is smaller than the spread of the seeds: "
            "it could be luck."
        )
        if abs(difference) < luck
        else _(
            "The default settings reach {mean}. The difference, {difference}, is larger than the spread of the seeds."
        )
    )
    return f"{text} {verdict.format(mean=number(default.best_mean), difference=number(difference))}"


def as_csv(records: Records) -> str:
    """The epochs as CSV, numbers unrounded."""
    file = io.StringIO()
    names = ("epoch", "train_loss", "train_acc", "val_loss", "val_acc", "lr", "best", "bad_epochs", "order")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(record, name) for name in names] for record in records)
    return file.getvalue()


def as_log(config: FitConfig, records: Records) -> str:
    """The log as `python -m core train` prints it."""
    lines = [log_line(record) for record in records]
    if is_over(config, tuple(records)):
        lines.append(ending_of(records[-1]))
    return "\n".join(lines) + "\n"
