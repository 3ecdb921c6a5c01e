"""Questions that several families ask of the model of the loop."""

from __future__ import annotations

from core.check.loopmodel import Event, Loop, LoopModel, exclusive
from core.check.values import Thing


def inside(part, whole) -> bool:
    """Is the model `part` the same as `whole`, or a piece of it?"""
    for _ in range(20):
        if part is whole:
            return True
        if not isinstance(part, Thing):
            return False
        part = part.data.get("parent")
        if part is None:
            return False
    return False


def related(a, b) -> bool:
    """One is a piece of the other, or they are the same."""
    return inside(a, b) or inside(b, a)


def models_of(optimizer):
    """The models an optimizer holds the parameters of, or None when that cannot be told."""
    if not isinstance(optimizer, Thing) or optimizer.data.get("params") is None:
        return None
    return optimizer.data["params"].models


def clears(zero: Event, optimizer) -> bool:
    """Does this zero_grad clear (some of) the gradients of `optimizer`? When it cannot be told: yes."""
    if zero.obj is None or zero.obj is optimizer:
        return True
    if not isinstance(optimizer, Thing) or not isinstance(zero.obj, Thing):
        return True
    mine = models_of(optimizer)
    if zero.data.get("optimizer"):
        other = models_of(zero.obj)
        if mine is not None and other is not None:
            return any(related(a, b) for a in mine for b in other)
        return wraps(optimizer, zero.obj) or wraps(zero.obj, optimizer) or bool(optimizer.data.get("element"))
    if mine is None:
        return True
    return any(related(zero.obj, m) for m in mine)


def wraps(outer, inner) -> bool:
    """Was `outer` made by handing `inner` to something?"""
    return any(p is inner for p in outer.data.get("parents", ()))


def feeds(backward: Event, optimizer) -> bool:
    """May this backward give gradients to what `optimizer` holds?"""
    mine = models_of(optimizer)
    if mine is None or backward.value is None or not backward.value.models:
        return True
    return any(related(a, b) for a in mine for b in backward.value.models)


def innermost(event: Event) -> Loop | None:
    """The innermost loop of an event."""
    return event.loops[-1] if event.loops else None


def training_loops(model: LoopModel) -> list[Loop]:
    """Loops that hold a backward."""
    seen, found = set(), []
    for event in model.of("backward"):
        for loop in event.loops:
            if id(loop) not in seen:
                seen.add(id(loop))
                found.append(loop)
    return found


def batch_loop(model: LoopModel, event: Event) -> Loop | None:
    """The loop over batches an event of the training is in: the innermost one with a backward in it."""
    for loop in reversed(event.loops):
        if model.inside(loop, "backward"):
            return loop
    return None


def line_in(event: Event, frame) -> int:
    """The line in `frame` where the event happens, or the call that leads to it."""
    line = event.line
    for own in event.frame.chain():
        if own is frame:
            return line
        line = own.call_line
    return event.line


def escapes(model: LoopModel, thing, entry=None) -> bool:
    """Was `thing` handed to a function we cannot see, that may do with it what we miss?"""
    for event in model.of("escape"):
        if (entry is None or event.entry == entry) and any(thing is v for v in event.value or ()):
            return True
    return False


def automatic(model: LoopModel) -> bool:
    """Somebody else drives the loop: Lightning, the Trainer of Hugging Face, DeepSpeed, accelerate."""
    return model.has_word("Trainer", "LightningModule", "deepspeed", "TrainingArguments", "Accelerator", "Fabric")


def guarded_within(event: Event, loop: Loop):
    """The guards an event stands under inside `loop`."""
    outer = {g.id for g in loop.guards}
    return [g for g in event.guards if g.id not in outer]


def together(a: Event, b: Event) -> bool:
    """Can both happen in one pass?"""
    return a.entry == b.entry and not exclusive(a, b)


def in_charge(model, step) -> bool:
    """Is the order in the hands of this file? Not when hooks, closures, engines or unseen functions take part."""
    obj = step.obj
    if model.truncated or model.of("hook") or model.of("manual_optimization"):
        return False
    if step.data.get("closure") or (isinstance(obj, Thing) and (obj.kind == "engine" or obj.data.get("local"))):
        return False
    return not escapes(model, obj)


def name_of(thing) -> str:
    """A name to call an object by."""
    return thing.name if isinstance(thing, Thing) and thing.name and thing.name.isidentifier() else "optimizer"
