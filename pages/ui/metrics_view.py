"""What the metrics page shows of its means, as HTML and a figure, and the sentence to take away."""

from __future__ import annotations

from html import escape
from typing import Any

from core.metrics import MeanReport
from pages.ui.chart import COLOURS, layout
from pages.ui.i18n import _, number, plain
from pages.ui.tables import table, value
from pages.ui.terms import sentence

_LABELLED = 14  # batches; more are too narrow for a number


def _wrong(figure: float, right: float) -> bool:
    return f"{figure:.4f}" != f"{right:.4f}"


def _marked(figure: float, right: float, name: str) -> str:
    """The number with a sign for right or wrong."""
    wrong = _wrong(figure, right)
    return f'<span class="fc-{"wrong" if wrong else "right"}">{"✗" if wrong else "✓"} {value(figure, name=name)}</span>'


def means(loss: MeanReport, accuracy: MeanReport) -> str:
    """Both metrics by both means, beside the full set at once."""
    rows = [
        (
            metric,
            _marked(report.naive, report.full, f"{metric}-naive"),
            _marked(report.weighted, report.full, f"{metric}-weighted"),
            value(report.full, name=f"{metric}-full"),
        )
        for metric, report in (("loss", loss), ("accuracy", accuracy))
    ]
    head = ["", _("naive: mean of the batch means"), _("weighted by batch size"), _("full set at once")]
    return table(head, rows, label=_("Means of loss and accuracy"))


def weights(report: MeanReport) -> str:
    """Two strips of batches: the share that each has in the naive mean, and the share that it should have."""
    naive = _strip(report, [1.0] * len(report.sizes))
    weighted = _strip(report, list(map(float, report.sizes)))
    titles = (_("share of each batch in the naive mean"), _("share in the weighted mean"))
    return "".join(
        f'<figure class="fc-shares"><figcaption>{escape(title)}</figcaption><div>{strip}</div></figure>'
        for title, strip in zip(titles, (naive, weighted), strict=True)
    )


def _strip(report: MeanReport, shares: list[float]) -> str:
    boxes = []
    for size, mean, share in zip(report.sizes, report.means, shares, strict=True):
        odd = " fc-odd" if size != report.sizes[0] else ""
        title = _("{n} examples, mean loss {mean}").format(n=plain(size), mean=number(mean))
        text = plain(size) if len(report.sizes) <= _LABELLED else ""
        boxes.append(f'<span class="fc-share{odd}" style="flex:{share:g}" title="{escape(title)}">{text}</span>')
    return "".join(boxes)


def takeaway(size: int, loss: MeanReport, accuracy: MeanReport, *, drop_last: bool) -> str:
    numbers = {
        "size": plain(size),
        "last": plain(loss.sizes[-1]),
        "naive": number(loss.naive),
        "full": number(loss.full),
        "weighted": number(loss.weighted),
        "accuracy": number(accuracy.naive),
        "true": number(accuracy.full),
        "dropped": plain(loss.dropped),
        "kept": plain(sum(loss.sizes)),
        "total": plain(sum(loss.sizes) + loss.dropped),
    }
    if drop_last and loss.dropped:
        text = _(
            "`drop_last` left {dropped} of {total} examples unmeasured. The batches are equal, so both means agree, "
            "but **on {kept} examples**: {weighted} instead of {full}. Keep every example when validating."
        )
    elif loss.sizes[-1] == loss.sizes[0]:
        text = _("{size} divides {total}: every batch weighs the same, and **both means agree**, at {weighted}.")
    elif not _wrong(loss.naive, loss.full) and not _wrong(accuracy.naive, accuracy.full):
        text = _(
            "The last batch has only {last} examples, yet here the naive mean differs by less than four digits show."
        )
    else:
        text = _(
            "The last {last} examples weigh as much as {size} others: the naive mean says loss {naive} and accuracy "
            "{accuracy}; **the truth is {full} and {true}**. Sum `loss.item() * len(yb)`, and divide by all examples."
        )
    return sentence(text.format(**numbers), "naive-mean", "drop-last")


def further_ways(loss: MeanReport) -> str:
    """Three more lines that report a wrong loss."""
    rows = [
        ("`total += loss.item() * len(yb)` … `total / len(dataset)`", _marked(loss.weighted, loss.full, "way-right")),
        (_("`loss.item()` after the loop: the last batch alone"), _marked(loss.last_batch, loss.full, "last-batch")),
        (
            "`total += loss.item()` … `total / len(dataset)`",
            _marked(loss.means_over_dataset, loss.full, "means-over-dataset"),
        ),
        (
            "`total += loss.item() * len(yb)` … `total / len(loader)`",
            _marked(loss.totals_over_loader, loss.full, "totals-over-loader"),
        ),
    ]
    return table(["", _("reported loss")], rows, label=_("Further ways to report a loss"))


def bias_figure(loss: tuple[float, ...], accuracy: tuple[float, ...], size: int, *, drop_last: bool) -> dict[str, Any]:
    """The error of the mean at every batch size, the chosen size marked."""
    title = (
        _("Mean without the dropped examples − full mean, by batch size")
        if drop_last
        else _("Naive mean − full mean, by batch size")
    )
    sizes = list(range(1, len(loss) + 1))
    lines = (("loss", loss, COLOURS["loss"], "solid"), ("accuracy", accuracy, COLOURS["val"], "dot"))
    figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": sizes,
                "y": list(curve),
                "line": {"color": colour, "width": 2, "dash": dash},
            }
            for name, curve, colour, dash in lines
        ]
        + [
            {
                "type": "scatter",
                "mode": "markers",
                "x": [size],
                "y": [curve[size - 1]],
                "marker": {"color": colour, "size": 11},
                "hoverinfo": "skip",
            }
            for _name, curve, colour, _dash in lines
        ],
        "layout": layout(title, _("batch size (examples)"), _("bias")),
    }
    figure["layout"]["shapes"] = [
        {
            "type": "line", "x0": size, "x1": size, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": COLOURS["weight"], "width": 2, "dash": "dot"},
        }
    ]  # fmt: skip
    figure["layout"]["annotations"] = [
        {
            "x": x, "y": curve[x - 1], "text": name, "showarrow": True, "arrowcolor": colour, "arrowhead": 0,
            "ax": 0, "ay": shift, "font": {"color": colour, "size": 14},
        }
        for name, curve, colour, _dash in lines
        for x, shift in [_label(curve)]
    ]  # fmt: skip
    return figure


def _label(curve: tuple[float, ...]) -> tuple[int, int]:
    """Where a line is named: at its extreme, on the side away from zero."""
    at = max(range(len(curve)), key=lambda i: abs(curve[i]))
    return at + 1, 22 if curve[at] < 0 else -22
