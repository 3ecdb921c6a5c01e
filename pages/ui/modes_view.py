"""What the mode grid shows, as HTML, and its sentences; all made from the cells that `core.modes` measured."""

from __future__ import annotations

from html import escape

from core.modes import Cell, ModeConfig
from pages.ui.i18n import _, localise, number
from pages.ui.markup import rich
from pages.ui.terms import with_terms

CONTEXTS = {"grad": "enable_grad()", "no_grad": "no_grad()", "inference_mode": "inference_mode()"}


def good(cell: Cell) -> bool:
    """Whether validation may measure so: nothing random, nothing kept, nothing changed."""
    return cell.mode == "eval" and not cell.requires_grad


def table(cells: tuple[Cell, ...]) -> str:
    """A row for each way to measure; what should not be so in validation is marked."""
    head = "".join(f'<th scope="col">{rich(title)}</th>' for title in _titles())
    label = escape(_("Val loss and graph by mode and gradient context"))
    rows = "".join(_row(cell) for cell in cells)
    return (
        f'<div class="fc-wide"><table class="fc-state fc-grid fc-rows" aria-label="{label}">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _titles() -> tuple[str, ...]:
    return (
        _("measured with"),
        _("val loss"),
        _("and again"),
        "`requires_grad`",
        "`grad_fn`",
        _("bytes kept for backward"),
        _("statistics moved"),
        _("model left in"),
        _("in a later graph"),
    )


def _row(cell: Cell) -> str:
    moved = "–" if cell.statistics_moved is None else _("yes") if cell.statistics_moved else _("no")
    values = (
        ("loss", number(cell.losses[0]), False),
        ("again", ("= " if cell.steady else "≠ ") + number(cell.losses[1]), not cell.steady),
        ("requires_grad", f"{cell.requires_grad}", cell.requires_grad),
        ("grad_fn", cell.grad_fn or "None", cell.requires_grad),
        ("kept", _grouped(cell.saved_bytes), cell.saved_bytes > 0),
        ("moved", moved, bool(cell.statistics_moved)),
        ("left", "train" if cell.left_training else "eval", False),
        ("later", "RuntimeError" if cell.later_error else _("allowed"), False),
    )
    fields = "".join(
        f'<td data-field="{field}" data-label="{escape(title.replace("`", ""))}"'
        f' class="{"fc-changed" if marked else ""}"><span>{_marked(text) if marked else escape(text)}</span></td>'
        for (field, text, marked), title in zip(values, _titles()[1:], strict=True)
    )
    right = escape(_("right for validation"))
    tick = f'<b class="fc-tick" role="img" aria-label="{right}">✓</b> ' if good(cell) else ""
    name = f"{tick}<span>{cell.mode}()</span> <span>{CONTEXTS[cell.grad]}</span>"
    look = "fc-good" if good(cell) else ""
    first = " fc-first" if cell.grad == "grad" else ""
    place = f'data-mode="{cell.mode}" data-grad="{cell.grad}"'
    return f'<tr class="{look}{first}" {place}><th scope="row">{name}</th>{fields}</tr>'


def _marked(text: str) -> str:
    return f'<span class="fc-mark" aria-hidden="true">●</span> {escape(text)}'


def _grouped(count: int) -> str:
    return localise(f"{count:,}")


def _find(cells: tuple[Cell, ...], mode: str, grad: str) -> Cell:
    return next(cell for cell in cells if (cell.mode, cell.grad) == (mode, grad))


def takeaway(cells: tuple[Cell, ...]) -> str:
    """Which cell validation should use, and why, in one sentence."""
    cell = _find(cells, "eval", "no_grad")
    return _(
        "Validate with **`eval()` and `no_grad()`**: {loss} both times, {kept} bytes kept, nothing in the model moved;"
        " call `train()` afterwards."
    ).format(loss=number(cell.losses[0]), kept=_grouped(cell.saved_bytes))


def facts(cells: tuple[Cell, ...], config: ModeConfig) -> str:
    """The three things to see, each with the numbers that show it."""
    items = "".join(
        f'<div><h3>{rich(title)}</h3><p data-fact="{key}">{rich(text)}</p></div>'
        for key, title, text in (_dropout(cells, config), _graph(cells), _statistics(cells))
    )
    return f'<div class="fc-cards">{with_terms(items, "dropout", "graph", "backward", "batchnorm")}</div>'


def _dropout(cells: tuple[Cell, ...], config: ModeConfig) -> tuple[str, str, str]:
    cell = _find(cells, "train", "no_grad")
    numbers = {"first": number(cell.losses[0]), "second": number(cell.losses[1])}
    if config.layers == "batchnorm":
        text = _("This model has no dropout, so `train()` gives {first} twice. Choose dropout or both.")
    elif cell.steady:
        text = _("At this rate no unit is dropped: {first}, then {second}. Raise the rate.")
    else:
        text = _("`train()` with `no_grad()`: {first}, then {second}. Only `eval()` lets dropout rest.")
    return "dropout", _("`no_grad` does not stop dropout"), text.format(**numbers)


def _graph(cells: tuple[Cell, ...]) -> tuple[str, str, str]:
    cell = _find(cells, "eval", "grad")
    text = _("`eval()` alone: `requires_grad` is {value}, and {kept} bytes are kept for a backward that never comes.")
    return (
        "graph",
        _("`eval` does not stop the graph"),
        text.format(value=f"`{cell.requires_grad}`", kept=_grouped(cell.saved_bytes)),
    )


def _statistics(cells: tuple[Cell, ...]) -> tuple[str, str, str]:
    moved = _find(cells, "train", "no_grad").statistics_moved
    if moved is None:
        text = _("This model has no BatchNorm, so it has no statistics. Choose BatchNorm or both.")
    elif moved:
        text = _("`train()` with `no_grad()` moved the running mean and variance: measuring changed the model.")
    else:
        text = _("Here the running mean and variance stayed as they were.")
    return "statistics", _("`no_grad` does not freeze BatchNorm"), text


def columns_explained() -> str:
    items = (
        _("**val loss, and again**: the mean cross-entropy over all 200, measured twice in a row on the same weights."),
        _("**requires_grad, grad_fn**: of the logits; the node means that autograd wrote a graph."),
        _(
            "**bytes kept for backward**: what autograd saved in one pass over the 200, counted by"
            " `saved_tensors_hooks`, without parameters and data."
        ),
        _("**statistics moved**: whether BatchNorm's running mean or variance changed."),
        _("**model left in**: the mode in which the next epoch would begin, unless someone calls `train()`."),
        _("**in a later graph**: whether PyTorch lets these logits into a computation with gradients afterwards."),
        _("Every row starts from the same weights and the same random state: only the switches make the difference."),
    )
    return with_terms(_list(*items), "cross-entropy", "autograd", "grad-fn", "logits", "batchnorm")


def inference_explained(cells: tuple[Cell, ...]) -> str:
    error = _find(cells, "eval", "inference_mode").later_error or ""
    text = _(
        "Both write no graph and give the same numbers. `inference_mode` also leaves out what autograd counts on every"
        " tensor, which is faster for small work; the price is that its tensors may never enter a graph again:"
    )
    either = _("For a val loss, which goes no further than `.item()`, either will do.")
    text = with_terms(rich(text), "graph", "autograd")
    return f'<p>{text}</p><pre class="fc-error">RuntimeError: {escape(error)}</pre><p>{rich(either)}</p>'


def _list(*items: str) -> str:
    return f'<ul class="fc-plain">{"".join(f"<li>{rich(item)}</li>" for item in items)}</ul>'
