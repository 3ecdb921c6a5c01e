"""What belongs to an evaluation, and what only looks like one."""

from __future__ import annotations

import ast

from core.check.names import MODE_LAYERS, PLAIN_LAYERS, says_eval, says_train, words
from core.check.values import Tensor, Thing, tensors_in

FOREIGN = frozenset(
    ("mc", "dropout", "uncertainty", "stochastic", "bayesian", "ensemble", "sample", "samples", "adv", "attack")
)


def trained(model, event) -> bool:
    """Does a backward go through this forward?"""
    if "trained" not in event.data:
        event.data["trained"] = bool(model.backward_of(event))
    return event.data["trained"]


def mode_matters(thing) -> bool | None:
    """Does train mode compute anything else than eval mode? None when the layers are not known."""
    todo, seen, known = [thing], set(), True
    while todo:
        m = todo.pop()
        if id(m) in seen or not isinstance(m, Thing):
            continue
        seen.add(id(m))
        if m.cls in MODE_LAYERS:
            return True
        drop = m.data.get("kwargs", {}).get("dropout") if m.kind == "model" else None
        if drop is not None and getattr(drop, "value", 1) != 0:
            return True
        if m.cls.startswith(("Transformer", "MultiheadAttention")) and m.kind == "model":
            return True
        if m.data.get("local") is None and m.cls not in PLAIN_LAYERS:
            known = known and m.kind != "model" and (m.kind is not None or m.data.get("parent") is None)
        if m.data.get("local") is not None and any(
            isinstance(n, ast.Attribute) and n.attr in ("dropout", "training") for n in ast.walk(m.data["local"].node)
        ):
            return True
        todo += m.data.get("layers") or []
        todo += [a for a in m.attrs.values() if isinstance(a, Thing) and a.kind == "model"]
    return False if known else None


def eval_frame(event):
    """The innermost function around an event whose name speaks of evaluation."""
    for frame in event.frame.chain():
        if says_train(frame.name) and not says_eval(frame.name):
            return None
        if says_eval(frame.name):
            return frame
    return None


def eval_loop(event):
    """The innermost loop around an event, when what it runs over is named after validation or test data."""
    if not event.loops:
        return None
    loop = event.loops[-1]
    name = loop.loader.name if loop.loader is not None else ""
    return loop if name and says_eval(name) and not says_train(name) else None


def scored(model, event):
    """The loop around an event, when it runs over data with gradients off and compares predicted classes with labels:
    that is an evaluation, whatever it is called.
    """
    loop = event.loops[-1] if event.loops else None
    if event.grad != "off" or loop is None or loop.loader is None or loop.ranged:
        return None
    if says_train(loop.loader.name) or any(says_train(f.name) for f in event.frame.chain()):
        return None
    for equal in model.inside(loop, "equal"):
        if any(isinstance(t, Tensor) and t.argmax and event in t.forwards for t in equal.value):
            return loop
    return None


def foreign(event) -> bool:
    """Sampling with dropout on purpose, attacks, and the like."""
    spoken = set()
    for frame in event.frame.chain():
        spoken |= set(words(frame.name))
    return bool(spoken & FOREIGN) or any(f.opaque for f in event.frame.chain())


def evaluations(model):
    """Forwards that belong to an evaluation: nothing goes backward through them, and a name says so."""
    if model.truncated:
        return
    for event in model.of("forward"):
        if event.inner or event.data.get("discarded") or foreign(event) or trained(model, event):
            continue
        if event.obj.kind == "loss" or any(
            f.instance is not None and f.instance.data.get("lightning") for f in event.frame.chain()
        ):
            continue
        place = eval_frame(event) or eval_loop(event) or scored(model, event)
        if place is None:
            continue
        loop = event.loops[-1] if event.loops else None
        if loop is not None and model.inside(loop, "backward"):
            continue
        yield event


def repeated_sampling(event) -> bool:
    """`for _ in range(T)` round one input: many passes over the same batch, as MC dropout does."""
    loop = event.loops[-1] if event.loops else None
    if loop is None or not loop.ranged:
        return False
    if isinstance(loop.target, ast.Name) and loop.target.id == "_":
        return True
    return (
        any(t.loopvar is not loop for a in event.args for t in tensors_in(a)) and len(event.loops) > 1
    ) or loop.target is None
