"""The losses of a run left alone and of its resumed twin, in one chart."""

from __future__ import annotations

import math
from typing import Any

from core.records import EpochRecord
from core.resume import Comparison
from pages.ui.chart import COLOURS, layout
from pages.ui.i18n import _, localise


def figure(result: Comparison) -> dict[str, Any]:
    """Lines for the run left alone, circles for the resumed one; epochs in the order in which each was made."""
    start = len(result.before)
    full = [*result.before, *result.full.epochs]
    traces, notes = [], []
    for field, colour, name in (("train_loss", "train", "train"), ("val_loss", "val", "val")):
        alone = [_value(record, field) for record in full]
        other = [_value(record, field) for record in result.resumed.epochs]
        x = list(range(1, len(alone) + 1))
        line = {"color": COLOURS[colour], "width": 2}
        traces.append({"x": x, "y": alone, "mode": "lines", "line": line, "name": name, "hoverinfo": "x+y+name"})
        marker = {"symbol": "circle-open", "size": 9, "color": COLOURS[colour], "line": {"width": 2}}
        traces.append(
            {
                "x": [start + i + 1 for i in range(len(other))],
                "y": other,
                "mode": "lines+markers",
                "line": {**line, "dash": "dot", "width": 1.5},
                "marker": marker,
                "name": f"{name}, {_('resumed')}",
                "hoverinfo": "x+y+name",
            }
        )
        end, at = (
            (other[-1], start + len(other))
            if start + len(other) > len(alone)
            else (alone[-1] if alone else None, len(alone))
        )
        if end is not None:
            notes.append(_note(at, end, name, COLOURS[colour]))
    at = start + 0.5
    notes.append(
        {"x": at, "y": 1, "yref": "paper", "text": _("interrupted"), "showarrow": False, "xanchor": "left", "xshift": 4}
    )
    last = max(len(full), start + len(result.resumed.epochs), 1)
    every = 1 if last <= 14 else 2 if last <= 30 else 10
    ticks = list(range(every, last + 1, every))
    return {
        "data": traces,
        "layout": layout(
            _("Loss by epoch: lines left alone, circles resumed"),
            _("epochs trained"),
            _("mean cross-entropy"),
            annotations=notes,
            shapes=[
                {
                    "type": "line",
                    "x0": at,
                    "x1": at,
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "line": {"color": COLOURS["quiet"], "dash": "dash", "width": 1},
                }
            ],
            xaxis={
                "tickvals": ticks,
                "ticktext": [localise(str(t)) for t in ticks],
                "range": [0.5, last + 0.1 * last + 0.3],
            },
            margin={"l": 56, "r": 8, "t": 34, "b": 38},
        ),
    }


def _note(x: float, y: float, text: str, colour: str) -> dict[str, Any]:
    return {
        "x": x, "y": y, "text": f"<b>{text}</b>", "showarrow": False,
        "xanchor": "left", "xshift": 9, "font": {"color": colour},
    }  # fmt: skip


def _value(record: EpochRecord, field: str) -> float | None:
    """JSON has no NaN or infinity, which is what a diverged run's losses are; such a point is left out."""
    value = getattr(record, field)
    return value if math.isfinite(value) else None
