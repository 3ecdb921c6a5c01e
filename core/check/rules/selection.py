"""Selection: which weights are kept as the best, and whether they are used."""

from __future__ import annotations

import ast

from core.check.names import says_test
from core.check.rule import ERROR, WARNING, rule
from core.check.values import Dict, Seq, State, Thing
from core.messages import N_


def kept_for_later(model, event) -> bool:
    """Is the kept value read again after more training: restored, returned, saved outside the loop, or named best?"""
    value, loop = event.value, event.loops[-1]
    if "best" in event.data["target"].lower():
        return True
    return any(
        (e.value is value and not e.within(loop))
        or (e.kind == "load_state" and e.value is value and e.index > event.index)
        for e in model.entry(event, "load_state", "save", "return")
    )


@rule(
    "FC801",
    N_("The best weights are kept by reference"),
    ERROR,
    N_(
        "{target} refers to the model's own tensors, which training goes on changing: at the end it "
        "holds the last weights, not the best."
    ),
    N_("Copy them: copy.deepcopy(model.state_dict())."),
    "/mistakes?mistake=best-by-reference",
)
def best_by_reference(model):
    """A state_dict or the model itself kept under a condition inside a loop that goes on training."""
    for event in model.of("keep"):
        value, target = event.value, event.data["target"]
        loops = [loop for loop in event.loops if model.inside(loop, "step", "backward")]
        here = loops or [loop for loop in event.loops if _trains_by_call(loop)]
        if not here or not (event.guards[len(here[0].guards) :]):
            continue
        if isinstance(value, State) and (value.copied or not isinstance(value.of, Thing)):
            continue
        if isinstance(value, Thing) and (value.data.get("copied") or "best" not in target.lower()):
            continue
        if isinstance(value, Thing) and not any(f.obj is value for f in model.of("forward", "mode")):
            continue
        if isinstance(value, State) and (value.of.kind in ("optimizer", "scheduler") or _only_saved(model, event)):
            continue
        if kept_for_later(model, event):
            yield event.line, {"target": target}
    for event in model.of("keep_in"):
        yield event.line, {"target": event.data["target"]}


def _trains_by_call(loop) -> bool:
    text = {getattr(n.func, "id", getattr(n.func, "attr", "")) for n in ast.walk(loop.node) if isinstance(n, ast.Call)}
    return any("train" in t.lower() and t != "train" for t in text)


def _only_saved(model, event) -> bool:
    """Written to disk on the spot, in the branch that made it, and read nowhere else."""
    uses = [
        e
        for e in model.entry(event, "save", "load_state", "return")
        if e.value is event.value or _holds(e.value, event.value)
    ]
    saves = [e for e in uses if e.kind == "save"]
    return bool(saves) and len(saves) == len(uses) and all(e.guards[: len(event.guards)] == event.guards for e in saves)


def _holds(container, value) -> bool:
    items = (
        container.items
        if isinstance(container, Seq)
        else container.items.values()
        if isinstance(container, Dict)
        else ()
    )
    return any(v is value for v in items)


@rule(
    "FC802",
    N_("The best weights are kept and never used"),
    WARNING,
    N_(
        "{target} keeps the best weights, and nothing reads it afterwards: what is used in the end are "
        "the last weights."
    ),
    N_("After the loop, load them: model.load_state_dict({target})."),
    "/train",
)
def nothing_restored(model):
    """A copy of the best weights that no expression reads again; or best weights on disk and a test without
    loading them.
    """
    for event in model.of("keep"):
        value, target = event.value, event.data["target"]
        if not isinstance(value, State) or not value.copied or "best" not in target.lower():
            continue
        name = target.rpartition(".")[2].split("[")[0]
        if name not in model.loads and "[" not in target:
            yield event.line, {"target": target}
    yield from _tested_unrestored(model)


def _tested_unrestored(model):
    """Best weights saved inside the loop; after it, a test in the same entry with the last weights."""
    for event in model.of("save"):
        training = next((loop for loop in event.loops if model.inside(loop, "backward")), None)
        if training is None or not event.guards or not _bestish(event):
            continue
        after = [
            f for f in model.entry(event, "forward") if f.index > event.index and not f.within(training) and f.loops
        ]
        tests = [
            f for f in after if f.loops[-1].loader is not None and says_test(f.loops[-1].loader.name) and not f.inner
        ]
        loaded = [
            e for e in model.entry(event, "load", "load_state") if e.index > event.index and not e.within(training)
        ]
        if tests and not loaded:
            yield tests[0].line, {"target": "best"}


def _bestish(event) -> bool:
    return any("best" in ast.unparse(g.test).lower() for g in event.guards if g.test is not None)
