"""Clearing: zero_grad missing, too rare, or between backward and step."""

from __future__ import annotations

from core.check.loopmodel import common_loop
from core.check.rule import ERROR, WARNING, rule
from core.check.values import Thing
from core.messages import N_

from .common import automatic, clears, feeds, in_charge, innermost, name_of, together


def repeated_pairs(model):
    """(backward, step, loop) where a step follows a backward, both repeated in `loop`."""
    for step in model.of("step"):
        if not in_charge(model, step) or (isinstance(step.obj, Thing) and step.obj.name in ("engine", "model_engine")):
            continue
        best = None
        for backward in model.entry(step, "backward"):
            if backward.index < step.index and together(backward, step) and feeds(backward, step.obj):
                best = backward
        if best is not None:
            loop = common_loop(best, step)
            if loop is not None:
                yield best, step, loop


def zero_like(model) -> bool:
    """Something in the file clears gradients in a way that cannot be followed."""
    return model.has_word(
        "zero_grad_", "clear_grad", "zero_gradients", "set_to_none", "clear_gradients"
    ) and not model.of("zero_grad")


@rule(
    "FC201",
    N_("zero_grad() is missing"),
    ERROR,
    N_(
        "backward() adds to the gradients that are already there, and nothing clears them between two "
        "steps of {optimizer}: each "
        "step also moves along all earlier batches."
    ),
    N_("Call {optimizer}.zero_grad() in every iteration, before backward()."),
    "/step?calls=flbsflbs",
)
def zero_grad_missing(model):
    """A repeated backward and step with nothing that clears the optimizer."""
    if zero_like(model):
        return
    seen = set()
    for backward, step, loop in repeated_pairs(model):
        outermost = step.loops[0]
        zeros = [z for z in model.entry(step, "zero_grad") if clears(z, step.obj)]
        if any(z.within(outermost) for z in zeros) or (zeros and not _all_before(zeros, outermost)):
            continue
        if (id(step.obj), step.entry) in seen or (len(step.loops) and _fresh(step, loop)):
            continue
        seen.add((id(step.obj), step.entry))
        yield step.line, {"optimizer": name_of(step.obj)}
        del backward
    yield from _lone_function(model)


def _all_before(zeros, loop) -> bool:
    return all(z.index < loop.index for z in zeros)


def _fresh(step, loop) -> bool:
    """The optimizer and its parameters are made anew in every pass."""
    return (
        isinstance(step.obj, Thing)
        and step.obj.line
        and loop.line < step.obj.line < step.line
        and loop.frame is step.frame
    )


def _lone_function(model):
    """A function that does one batch and is called from elsewhere: no zero_grad in the whole file."""
    if model.of("zero_grad") or "zero_grad" in model.calls:
        return
    if model.of("manual_optimization"):
        yield from _manual(model)
    if automatic(model):
        return
    for step in model.of("step"):
        if step.loops or not in_charge(model, step) or step.frame.parent is not None:
            continue
        name = step.frame.name.lower()
        if not any(w in name for w in ("train", "step", "batch", "update", "learn", "optim")) or "__init__" in name:
            continue
        before = [b for b in model.entry(step, "backward") if b.index < step.index]
        if before and isinstance(step.obj, Thing) and step.obj.line < step.frame.node.lineno:
            yield step.line, {"optimizer": name_of(step.obj)}, WARNING


def _manual(model):
    """A LightningModule that backs and steps by hand, in a file where nothing clears gradients."""
    for step in model.of("step"):
        before = [b for b in model.entry(step, "backward") if b.index < step.index and b.data["how"] == "engine"]
        hers = any(f.instance is not None and f.instance.data.get("lightning") for f in step.frame.chain())
        if before and hers and not step.data.get("closure") and not model.of("hook"):
            yield step.line, {"optimizer": name_of(step.obj)}
            return


@rule(
    "FC202",
    N_("zero_grad() once an epoch"),
    ERROR,
    N_(
        "The gradients of {optimizer} are cleared outside the loop that calls backward() and step(): "
        "within it, each step also moves "
        "along all earlier batches."
    ),
    N_("Move {optimizer}.zero_grad() into the inner loop, before backward()."),
    "/step?calls=zflbsflbs",
)
def zero_grad_too_rare(model):
    """zero_grad only outside the innermost loop that has both backward and step."""
    for backward, step, loop in repeated_pairs(model):
        zeros = [z for z in model.entry(step, "zero_grad") if clears(z, step.obj)]
        if zeros and not any(z.within(loop) for z in zeros) and backward.within(loop):
            if any(z.data.get("manual") for z in zeros) or _fresh(step, loop):
                continue
            outside = [z for z in zeros if z.within(loop.loops[-1])] if loop.loops else []
            mark = (outside or zeros)[-1]
            if not outside and any(
                z.loops and not _all_before([z], loop.loops[0] if loop.loops else loop) for z in zeros
            ):
                continue
            yield mark.line, {"optimizer": name_of(step.obj)}


@rule(
    "FC203",
    N_("zero_grad() between backward() and step()"),
    ERROR,
    N_(
        "The gradients backward() has just computed are cleared before {optimizer}.step() can use them: "
        "nothing is learned."
    ),
    N_("Call zero_grad() before backward(), or after step()."),
    "/step?calls=flbzs",
)
def zero_grad_between(model):
    """backward, then zero_grad, then step, with no other backward in between."""
    for step in model.of("step"):
        if step.data.get("closure") or model.of("hook"):
            continue
        events = [
            e for e in model.entry(step, "backward", "zero_grad", "step") if e.index < step.index and together(e, step)
        ]
        zero = None
        for event in reversed(events):
            if event.kind == "zero_grad" and event.obj is not None and clears(event, step.obj) and zero is None:
                zero = event
            elif event.kind == "step" and event.obj is step.obj:
                break
            elif event.kind == "backward":
                if zero is not None and feeds(event, step.obj) and _same_pass(event, zero, step):
                    yield zero.line, {"optimizer": name_of(step.obj)}
                break


def _same_pass(backward, zero, step) -> bool:
    loop = innermost(step)
    for event in (backward, zero):
        if innermost(event) is not loop:
            return False
    extra = {g.id for g in zero.guards} - {g.id for g in step.guards}
    return not extra
