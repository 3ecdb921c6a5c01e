"""Unseen data: test sets that decide, and statistics taken before the split."""

from __future__ import annotations

from core.check.names import says_test, says_val, words
from core.check.rule import INFO, WARNING, rule
from core.check.values import Seq, Tensor, Thing
from core.messages import N_

from .besttests import best_tests, metric_events


def decided_on(model):
    """(line, value) of every number a best is chosen or training is stopped by."""
    for test in best_tests(model):
        for event, value in metric_events(model, test):
            if value is not None:
                yield event, value, test.node.lineno
    for event in model.of("escape"):
        name = str(event.data["name"]).lower()
        if "stop" in name or "early" in name or name == "es":
            for value in event.data.get("args", ()):
                if isinstance(value, Tensor):
                    yield event, value, event.line


def sources(model, value):
    """Loops a number was computed in."""
    loops = [value.acc] if value.acc is not None else []
    loops += [e.loops[-1] for e in value.losses if e.loops and not e.inner]
    loops += [e.loops[-1] for e in value.forwards if e.loops and not e.inner]
    return loops


@rule(
    "FC806",
    N_("Choosing on the test set"),
    WARNING,
    N_(
        "The best epoch is chosen by a number computed on {loader}: the test set is then part of "
        "training, and its score is no longer honest."
    ),
    N_("Choose on validation data, and touch the test set once, at the end."),
    "/glossary?find=test+set",
)
def choosing_on_test(model):
    """The number decided on comes from a loader named after the test set: a warning when a validation set exists."""
    for event, value, line in decided_on(model):
        for loop in sources(model, value):
            loader = loop.loader
            if loader is not None and says_test(loader.name) and event.loops:
                other = any(
                    says_val(w) and not says_test(w) for w in model.words if w not in ("eval", "evaluate", "validate")
                )
                yield line, {"loader": loader.name}, WARNING if other else INFO
                break


@rule(
    "FC807",
    N_("A scaler fitted before the split"),
    WARNING,
    N_(
        "{scaler} is fitted on all rows, and they are split afterwards: the mean and spread of the test "
        "rows are in the training data."
    ),
    N_("Split first, fit on the training part, and transform both."),
    "/glossary?find=standardization",
)
def scaler_before_split(model):
    """fit or fit_transform on whole data, and a later split of it."""
    for event in model.of("fit_scaler"):
        given = event.value
        name = given.name if isinstance(given, Thing) else ""
        if (
            isinstance(given, Thing) and (given.data.get("sliced") or given.data.get("split_part"))
        ) or "train" in words(name):
            continue
        for split in model.entry(event, "split"):
            if split.index > event.index and any(_comes_from(v, given, event.line) for v in split.value):
                yield event.line, {"scaler": event.obj.cls}
                break


def _comes_from(value, given, line, depth=0) -> bool:
    """Is `value` what was fitted, or made of it?"""
    if depth > 8:
        return False
    if isinstance(value, (Seq,)):
        return any(_comes_from(v, given, line, depth + 1) for v in value.items)
    if not isinstance(value, Thing):
        return False
    if value is given or value.data.get("scaled_at") == line:
        return True
    parents = [*value.data.get("parents", ()), *(value.data.get("tensors") or ()), value.data.get("dataset")]
    return any(_comes_from(p, given, line, depth + 1) for p in parents if p is not None)
