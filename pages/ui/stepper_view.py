"""What the stepper shows of a replay, as HTML: state table, program, matrices, and where a number comes from."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from core.arithmetic import Derivation, derive
from core.graph import Node
from core.loop import CALLS
from core.order import this_batch
from core.scenes import SCENES, Scene
from core.stories import right_order
from core.trace import Snapshot, StepConfig, replay
from pages.ui.code import code_html
from pages.ui.explain import explain
from pages.ui.i18n import _, language, localise, number, plain
from pages.ui.markup import heat_map, minus, rich
from pages.ui.presenting import presentation
from pages.ui.terms import sentence

_ROW_FIELDS = ("w", "grad", "loss")


@lru_cache(maxsize=512)  # a class makes the same calls; 10 kB each, 40 at most
def shown(config: StepConfig, calls: str, guess: tuple[str, ...] | None, _language: str) -> tuple[str, str]:
    """The HTML of what there is to see after `calls`; and of the matrices, which go beneath it."""
    scene = SCENES[config.scene]
    snapshots = replay(config, calls)
    now, before = snapshots[-1], snapshots[-2] if calls else None
    says = verdict(guess, now, scene) if guess is not None and before else ""
    says += sentence(explain(scene, before, now), "logits", "gradient", "optimizer")
    says += comparison(scene, now, right_order(config, calls), calls.count("s")) + raised(now)
    text = (
        f"{program(scene, config, calls)}{state_table(scene, snapshots)}"
        f'<div class="fc-says">{says}</div>{derivation(derive(config, before, now), now)}'
    )
    return text, matrices(scene, config, before, now)


def state_table(scene: Scene, snapshots: tuple[Snapshot, ...]) -> str:
    """A row for the start and each call so far; every number in an element with `data-call` and `data-field`."""
    gradient = scene.watched.replace("w", "w.grad")
    head = "".join(
        f'<th scope="col" class="fc-{kind}">{escape(title)}</th>'
        for kind, title in (("weight", scene.watched), ("gradient", gradient), ("loss", "loss"))
    )
    pairs = zip((None, *snapshots[:-1]), snapshots, strict=True)
    rows = [_row(before, now, language()) for before, now in pairs]
    rows[-1] = rows[-1].replace("<tr", '<tr class="fc-now" aria-current="step"', 1)
    label, after = escape(_("State after each call")), escape(_("after"))
    return (
        f'<div class="fc-scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="fc-state"><thead><tr><th scope="col">{after}</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


@lru_cache(maxsize=2048)  # only the last row of a table is new; a snapshot kept here takes about 7 kB
def _row(before: Snapshot | None, now: Snapshot, _language: str) -> str:
    sign = {"error": " ⚠", "nothing": " ∅"}.get(now.outcome, "")
    title = {"error": _("raised"), "nothing": _("changed nothing")}.get(now.outcome, "")
    name = _("start") if now.call == "start" else now.call
    cells = "".join(_cell(field, before, now) for field in _ROW_FIELDS)
    head = f'<th scope="row"><span title="{escape(title)}">{escape(name)}{sign}</span></th>'
    return f'<tr data-position="{now.position}">{head}{cells}</tr>'


def _cell(field: str, before: Snapshot | None, now: Snapshot) -> str:
    value, old = getattr(now, field), None if before is None else getattr(before, field)
    text = ("–" if field == "loss" else "None") if value is None else number(value)
    text = f'<span class="fc-value">{text}</span>'
    changed = before is not None and value != old and not (value != value and old != old)
    if changed:
        sign = "▲" if value is not None and (old is None or value > old) else "▼"
        label = escape(_("changed"))
        text = f'<span class="fc-mark" role="img" aria-label="{label}">{sign}</span> {text}'
    look = f"{'fc-changed' if changed else ''} {'fc-absent' if value is None else ''}".strip()
    place = f'data-call="{now.call}" data-field="{field}" data-position="{now.position}"'
    return f'<td {place} class="{look}">{text}</td>'


def program(scene: Scene, config: StepConfig, calls: str) -> str:
    """The batch under way as the lines of a script: made, just made (marked), still to come."""
    made, rest = this_batch(scene.order, calls)
    lines = [*made, *rest]
    zero = "opt.zero_grad()" if config.set_to_none else "opt.zero_grad(set_to_none=False)"
    texts = [zero if code == "z" else scene.lines[code] for code in lines]
    width = max(map(len, texts))
    source = "\n".join(f"{text:<{width}}  # {CALLS[code]}" for text, code in zip(texts, lines, strict=True))
    return f'<div class="fc-scroll fc-program">{code_html(source, len(made) or None)}</div>'


def raised(now: Snapshot) -> str:
    """PyTorch's own words, when the last call raised."""
    if now.error is None:
        return ""
    return f'<pre class="fc-error">{escape(type(now.error).__name__)}: {escape(str(now.error))}</pre>'


def verdict(guess: tuple[str, ...], now: Snapshot, scene: Scene) -> str:
    """Whether the learner's guess of what would change was right."""
    names = {"w": scene.watched, "grad": scene.watched.replace("w", "w.grad"), "loss": "loss"}
    actual = [name for name in names if name in now.changed]
    said = ", ".join(f"`{names[name]}`" for name in names if name in guess) or _("nothing")
    truth = ", ".join(f"`{names[name]}`" for name in actual) or _("nothing")
    right = set(guess) == set(actual)
    text = (
        _("✓ Right: of the three, {call} changed {truth}.")
        if right
        else _("✗ Not quite. You said {said}; {call} changed {truth}.")
    ).format(call=f"**{now.call}**", said=said, truth=truth)
    return f'<p class="fc-verdict {"fc-right" if right else "fc-wrong"}" role="status">{rich(text)}</p>'


def comparison(scene: Scene, now: Snapshot, right: Snapshot | None, steps: int) -> str:
    """This order's weight beside the right order's, once an optimizer step has been made and they differ."""
    if right is None or now.w == right.w or now.call not in ("step", "backward"):
        return ""
    text = _(
        "The right order after as many steps ({steps}): {w} = {right}; here {here}, a difference of {difference}."
    ).format(
        steps=plain(steps),
        w=f"`{scene.watched}`",
        right=number(right.w),
        here=number(now.w),
        difference=number(now.w - right.w),
    )
    return f'<p class="fc-compare">{rich(text)}</p>'


def derivation(found: Derivation | None, now: Snapshot) -> str:
    """Where the number that the last call made comes from, its terms in place."""
    if found is None:
        return f'<div class="fc-where fc-quiet"><p>{rich(_nothing_to_derive(now))}</p></div>'
    return arithmetic(found, _("Where does {number} come from?").format(number=number(found.result)))


def arithmetic(found: Derivation, title: str) -> str:
    """The lines of a derivation under a title."""
    lines = "".join(f"<li>{_line(line, last=line is found.lines[-1])}</li>" for line in found.lines)
    return f'<div class="fc-where"><h3>{minus(escape(title))}</h3><ol>{lines}</ol></div>'


def _nothing_to_derive(now: Snapshot) -> str:
    if now.call == "start":
        return _("The weights come from the seed: uniform between −1/√2 and 1/√2, as `nn.Linear` draws them.")
    return _("This call computed no number.")


def _line(line: tuple[str | float, ...], *, last: bool) -> str:
    parts = [escape(localise(part)) if isinstance(part, str) else number(part) for part in line]
    if last and not isinstance(line[-1], str):
        parts[-1] = f"<b>{parts[-1]}</b>"
    return "".join(parts)


def matrices(scene: Scene, config: StepConfig, before: Snapshot | None, now: Snapshot) -> str:
    """Weight, gradient and the optimizer's tensors for it; then logits and softmax."""
    name = next(iter(now.parameters))
    old_grad = None if before is None else before.grads[name]
    state = now.optimizer_state.get(name, {})
    keys = ("exp_avg", "exp_avg_sq") if config.optimizer == "adamw" else ("momentum_buffer",) * bool(config.momentum)
    grad = now.grads[name]
    maps = [
        heat_map(name, now.parameters[name], "weight", empty="", changed="w" in now.changed),
        heat_map(
            f"{name}.grad", grad, "gradient", empty="None", changed="grad" in now.changed and grad is not old_grad
        ),
    ]
    maps += [
        heat_map(key, state.get(key), "state", empty=_("none yet"), changed="state" in now.changed) for key in keys
    ]
    if scene.is_classifier:
        softmax = None if now.logits is None else now.logits.softmax(1)
        maps.append(heat_map("logits", now.logits, "logits", empty=_("none yet"), changed="logits" in now.changed))
        maps.append(heat_map("softmax", softmax, "logits", empty=_("none yet"), changed="logits" in now.changed))
    return f'<div class="fc-maps">{"".join(maps)}</div>'


def folded(maps: str) -> str:
    """The matrices; before a class, where the text is large, under a fold."""
    if not presentation().present:
        return maps
    title = escape(_("All the matrices"))
    return f'<details class="fc-more"><summary>{title}</summary>{maps}</details>'


def graph_view(nodes: list[Node]) -> str:
    """The autograd graph from the loss back to the leaves, a box a node."""
    if not nodes:
        return sentence(_("No graph: no forward has run yet."))
    boxes = []
    for position, node in enumerate(nodes, start=1):
        inputs = " ".join(f"→{localise(str(i + 1))}" for i in node.inputs)
        if node.leaf:
            saved = _("adds to {leaf}.grad").format(leaf=node.leaf)
        elif node.freed:
            saved = _("saved tensors freed by backward")
        else:
            saved = "; ".join(node.saved) or _("saved nothing")
        boxes.append(
            f'<li class="{"fc-freed" if node.freed else ""}"><span>{localise(str(position))}</span> '
            f"<code>{escape(node.name.rsplit(':', 1)[-1])}</code> <small>{escape(saved)} {inputs}</small></li>"
        )
    label = escape(_("The autograd graph"))
    return f'<ol class="fc-graph" aria-label="{label}">{"".join(boxes)}</ol>'
