"""The whole training loop as one picture in two frames, each part a link to the page that teaches it."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from html import escape

from pages.ui.i18n import _

_BLUE, _GREEN = "light-dark(#1f55d6, #8fb2ff)", "light-dark(#0b6b5d, #6fdccb)"
_LINE = "light-dark(#8b96ac, #6b7897)"
_LEFT, _RIGHT, _TOP, _MIDDLE, _BOTTOM, _BOX = 20, 260, 66, 161, 256, (210, 64)


@dataclass(frozen=True)
class Box:
    """One part: its corner, its name in code, what it does, and the address of the page that teaches it."""

    x: int
    y: int
    code: str
    does: str
    page: str


def loop_figure(pages: Container[str]) -> str:
    """The picture as HTML with SVG in it; a part whose page is in `pages` links to it."""
    batch = [
        Box(_LEFT, _TOP, "logits = model(xb)", _("forward: writes the graph"), "step"),
        Box(_RIGHT, _TOP, "loss_fn(logits, yb)", _("loss: one number"), "losses"),
        Box(_RIGHT, _MIDDLE, "opt.zero_grad()", _("forgets the old gradients"), "step"),
        Box(_RIGHT, _BOTTOM, "loss.backward()", _("writes the new gradients"), "step"),
        Box(_LEFT, _BOTTOM, "opt.step()", _("moves the weights"), "optimizers"),
    ]
    epoch = [
        Box(_LEFT, _TOP, "eval(), no_grad()", _("forward only, no graph"), "modes"),
        Box(_RIGHT, _TOP, "Σ n·m / Σ n", _("loss and accuracy, weighted"), "metrics"),
        Box(_RIGHT, _MIDDLE, "scheduler.step()", _("the next learning rate"), "optimizers"),
        Box(_RIGHT, _BOTTOM, "val_loss < best", _("yes: save best.pt"), "resume"),
        Box(_LEFT, _BOTTOM, "bad == patience", _("yes: stop early"), "train"),
    ]
    left = _frame(
        _("For every batch"), "model.train()", _BLUE, batch, _("after the last batch: validate →"), pages, loop=True
    )
    right = _frame(
        _("Once an epoch"), "model.eval()", _GREEN, epoch, _("not stopped: ← the next epoch"), pages, loop=False
    )
    return f'<div class="frames">{left}{right}</div>'


def _frame(when: str, code: str, colour: str, boxes: list[Box], then: str, pages: Container[str], *, loop: bool) -> str:
    arrows = ["M230 98H258", "M365 130V159", "M365 225V254", "M260 288H232"] + ["M125 256V132"] * loop
    drawn = "".join(
        f'<path d="{path}" stroke="{_LINE}" stroke-width="2" marker-end="url(#tip{loop:d})"/>' for path in arrows
    )
    drawn += "".join(_box(box, colour, box.page in pages) for box in boxes)
    return (
        f'<svg viewBox="0 0 490 370" role="group" aria-label="{escape(when)}">'
        f'<defs><marker id="tip{loop:d}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"'
        f' orient="auto"><path d="M0 0L10 5L0 10z" fill="{_LINE}"/></marker></defs>'
        f'<rect width="490" height="370" rx="14" fill="{colour}" fill-opacity=".06"/>'
        f'<text x="20" y="42" font-size="19" font-weight="700" style="fill:{colour}">{escape(when)}</text>'
        f'<text x="470" y="42" font-size="15" text-anchor="end" class="code">{escape(code)}</text>'
        f'<text x="470" y="350" font-size="15" text-anchor="end">{escape(then)}</text>{drawn}</svg>'
    )


def _box(box: Box, colour: str, linked: bool) -> str:
    wide, high = _BOX
    centre = f'x="{box.x + wide / 2}" text-anchor="middle"'
    drawn = (
        f'<rect x="{box.x}" y="{box.y}" width="{wide}" height="{high}" rx="9" fill="var(--st-background-color)"'
        f' stroke="{colour}" stroke-width="{2.5 if linked else 1}"/>'
        f'<text {centre} y="{box.y + 28}" font-size="16" font-weight="600" class="code">{escape(box.code)}</text>'
        f'<text {centre} y="{box.y + 50}" font-size="14.5">{escape(box.does)}</text>'
    )
    if not linked:
        return f"<g>{drawn}</g>"
    label = escape(f"{box.code}: {box.does}")
    return f'<a href="{box.page}" data-page="{box.page}" aria-label="{label}">{drawn}</a>'
