"""Graph: where it is cut, kept alive, or carried from batch to batch."""

from __future__ import annotations

from core.check.loopmodel import exclusive
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Const, Tensor, tensors_in
from core.messages import N_

from .common import innermost, models_of, related


@rule(
    "FC1001",
    N_("The graph is cut before backward()"),
    ERROR,
    N_(
        "The tensor leaves the graph on line {at} (detach, item, data or numpy), so no gradient gets "
        "past that point to the "
        "parameters it should train."
    ),
    N_("Keep the tensor as it is until backward(); detach only what must not be trained."),
    "/step?calls=fl&graph=1",
)
def cut_before_backward(model):
    """backward on a tensor that left the graph, or a generator judged on its detached output."""
    for event in model.of("backward"):
        value = event.value
        if value.cut and not value.graph and event.data["known"]:
            yield value.cut, {"at": value.cut}
            continue
        yield from _term_without_gradient(model, event)
        yield from _detached_prediction(model, event)


def _detached_prediction(model, backward):
    """A loss in the sum whose prediction was detached from the very models it should train, in a single-loss
    setting.
    """
    if len(backward.value.losses) != 1 or backward.value.graph:
        return
    yield from ()


def _term_without_gradient(model, backward):
    """The step after this backward trains G; D judged G's output only after it was detached."""
    loop = innermost(backward)
    later = [s for s in model.entry(backward, "step", "backward") if s.index > backward.index and innermost(s) is loop]
    targets = set()
    for event in later:
        if event.kind == "backward":
            break
        held = models_of(event.obj)
        if held is None:
            return
        targets |= held
    if not targets or not backward.value.models:
        return
    for forward in sorted(backward.value.forwards, key=lambda f: f.index):
        if forward.inner or innermost(forward) is not loop or any(related(forward.obj, t) for t in targets):
            continue
        given = [t for a in forward.args for t in tensors_in(a)]
        cut = [
            t for t in given if t.cut and not t.graph and any(related(m, t2) for m in t.detached_from for t2 in targets)
        ]
        live = [t for t in given if t.graph and any(related(m, t2) for m in t.models for t2 in targets)]
        if (
            cut
            and not live
            and not any(
                f.obj is forward.obj and f is not forward and _fed_live(f, targets) for f in backward.value.forwards
            )
        ):
            yield forward.line, {"at": cut[0].cut}
        elif not cut and not live and not _reached(backward, targets):
            ran = [f for t in given if not t.graph for f in t.forwards if f.grad == "off"]
            ran = [f for f in ran if any(related(f.obj, x) for x in targets)]
            if ran:
                yield forward.line, {"at": ran[0].line}
                return


def _reached(backward, targets) -> bool:
    """Does any gradient of this backward get to what is stepped after it?"""
    return any(f.grad != "off" and related(f.obj, t) for f in backward.value.forwards for t in targets)


def _fed_live(forward, targets) -> bool:
    return any(
        t.graph and any(related(m, x) for m in t.models for x in targets) for a in forward.args for t in tensors_in(a)
    )


@rule(
    "FC1002",
    N_("retain_graph without need"),
    WARNING,
    N_(
        "The graph is built anew for every batch and gone through once, so keeping it only costs "
        "memory. Where an error asked for "
        "retain_graph, the cause is a tensor carried over from the batch before."
    ),
    N_("Drop retain_graph=True; detach what is carried over."),
    "/step?calls=flbb",
)
def retain_graph_misused(model):
    """retain_graph=True with no second way through the same graph in the same pass."""
    for event in model.of("backward"):
        if not event.data["retain"] or event.data["create"] or not event.data["known"]:
            continue
        value = event.value
        if not value.forwards or _carries(event) or (event.loops and event.loops[-1].ranged and _born_outside(event)):
            continue
        others = [
            b for b in model.entry(event, "backward", "autograd_grad") if b is not event and not exclusive(b, event)
        ]
        if any(b.value.forwards & value.forwards or not b.value.forwards for b in others if b.index > event.index):
            continue
        if any(_born_before_loop(event, f) for f in value.forwards):
            continue
        yield event.line


def _carries(event) -> bool:
    return False


def _born_outside(event) -> bool:
    loop = event.loops[-1]
    return any(not f.within(loop) for f in event.value.forwards)


def _born_before_loop(event, forward) -> bool:
    """Part of the graph was built outside the loop, and is gone through in every pass."""
    return bool(event.loops) and not forward.within(event.loops[-1]) and not forward.inner


@rule(
    "FC1003",
    N_("Hidden state carried over with its graph"),
    ERROR,
    N_(
        "{name} comes out of one batch and goes into the next with its graph attached: the second "
        "backward() goes back into the first "
        "batch and fails, or the graph grows without end."
    ),
    N_("Detach it between batches: `{name} = {name}.detach()`."),
    "/step?calls=flbsb",
)
def hidden_state_carried(model):
    """A name read by a forward at the start of a pass and set by it, attached to the graph, in a loop that
    goes backward.
    """
    for loop in model.loops:
        backs = [b for b in model.inside(loop, "backward") if innermost(b) is loop]
        if not backs:
            continue
        for name, old, new in loop.carried:
            attached = [t for t in tensors_in(new) if t.graph and any(f.within(loop) for f in t.forwards)]
            if not attached:
                continue
            for forward in model.inside(loop, "forward"):
                if forward.inner or innermost(forward) is not loop:
                    continue
                given = [*forward.args, *[t for a in forward.args for t in tensors_in(a)]]
                mine = {id(old), *(id(t) for t in tensors_in(old))}
                if (
                    any(id(g) in mine for g in given)
                    and not (isinstance(old, Const) and old.value is not None)
                    and _back(backs, forward)
                ):
                    yield forward.line, {"name": name}
                    break


def _back(backs, forward) -> bool:
    return any(forward in b.value.forwards for b in backs)


@rule(
    "FC1004",
    N_("Variable and volatile are gone"),
    INFO,
    N_(
        "Variable has had no effect since PyTorch 0.4: tensors record gradients themselves; "
        "volatile=True is ignored and records them."
    ),
    N_("Use the tensor itself, and torch.no_grad() in place of volatile=True."),
    "/modes",
)
def variable_used(model):
    """Calls of Variable: worth knowing; with volatile, an error, for gradients are recorded after all."""
    for event in model.of("variable"):
        flag = event.data["kwargs"].get("volatile")
        yield event.line, {}, ERROR if isinstance(flag, Const) and flag.value is True else INFO


@rule(
    "FC1005",
    N_(".data[0] of a loss"),
    ERROR,
    N_("A loss is a tensor with no dimension, and indexing it raises an IndexError since PyTorch 0.5."),
    N_("Use loss.item()."),
    "/step?calls=fl",
)
def data_zero(model):
    """`.data[0]` on a scalar loss, known or so named."""
    for event in model.of("data0"):
        value = event.value
        if isinstance(value, Tensor) and (value.losses or value.red in ("mean", "sum")) and value.red != "none":
            yield event.line
