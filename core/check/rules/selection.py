"""Selection: keeping the best weights, stopping early, and on which data that is decided."""

from __future__ import annotations

import ast
import math

from core.check.names import direction, says_test, says_val, words
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Dict, Seq, State, Tensor, Thing
from core.messages import N_

from .besttests import assigned, best_tests, metric_events


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
    "/train",
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


@rule(
    "FC803",
    N_("The patience counter is not reset"),
    ERROR,
    N_(
        "{counter} counts the epochs without improvement, and an improvement does not set it back: it "
        "counts bad epochs in all, and "
        "training stops too early."
    ),
    N_("Set {counter} back where the best is updated."),
    "/train",
)
def counter_not_reset(model):
    """A counter raised in the branch without improvement, compared with something, and set nowhere but at the start."""
    for test in best_tests(model):
        improved = assigned(test.improved)
        for stmt in test.otherwise:
            for node in ast.walk(stmt):
                counter = _counted(node)
                if counter is None or counter in improved or not _compared(model, counter, test):
                    continue
                home = test.owner if counter.startswith("self.") and test.owner is not None else test.scope
                if _set_again(home, counter, test):
                    continue
                yield node.lineno, {"counter": counter}


def _counted(node) -> str | None:
    if (
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, (ast.Add, ast.Sub))
        and isinstance(node.value, ast.Constant)
    ):
        return ast.unparse(node.target) if node.value.value == 1 else None
    if (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Add)
    ):
        target = ast.unparse(node.targets[0])
        one = isinstance(node.value.right, ast.Constant) and node.value.right.value == 1
        return target if one and ast.unparse(node.value.left) == target else None
    return None


def _compared(model, counter, test) -> bool:
    home = test.owner if counter.startswith("self.") and test.owner is not None else test.scope
    for node in ast.walk(home):
        if isinstance(node, ast.Compare) and any(ast.unparse(n) == counter for n in (node.left, *node.comparators)):
            return True
    return model.has_word("patience") and counter.rpartition(".")[2] in model.words and "counter" in counter


def _set_again(home, counter, test) -> bool:
    """An assignment of the counter that is neither its start nor its counting up."""
    loops = [n for n in ast.walk(home) if isinstance(n, (ast.For, ast.While)) and _holds_node(n, test.node)]
    for node in ast.walk(home):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or _counted(node) is not None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [ast.unparse(e) for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if counter not in names:
            continue
        if loops and _holds_node(loops[0], node):
            return True
        if not loops and not _in_init(home, node) and isinstance(home, ast.ClassDef):
            return True
    return False


def _in_init(cls, node) -> bool:
    return any(isinstance(m, ast.FunctionDef) and m.name == "__init__" and _holds_node(m, node) for m in cls.body)


def _holds_node(tree, node) -> bool:
    return any(n is node for n in ast.walk(tree))


@rule(
    "FC804",
    N_("The wrong direction counts as better"),
    ERROR,
    N_(
        "{metric} counts as better when it is {way}, and it is a measure that should {should}: the "
        "worst weights are kept."
    ),
    N_("Turn the comparison round, and start from the other end of the scale."),
    "/train",
)
def wrong_direction(model):
    """The test's direction against that of the metric, or against the start value of the best."""
    larger, smaller, rise, fall = N_("larger"), N_("smaller"), N_("rise"), N_("fall")
    for test in best_tests(model):
        name = ast.unparse(test.metric)
        wanted = _value_direction(model, test) or direction(name.replace("best", "")) or direction(test.best)
        start = _start(model, test)
        values = {"metric": name, "way": larger if test.up else smaller, "should": rise if wanted > 0 else fall}
        if wanted and (wanted > 0) != test.up and _keeps_best(test):
            negative = isinstance(test.metric, ast.UnaryOp)
            if not negative and not (
                start is not None and _value_direction(model, test) == 0 and _consistent(start, test.up)
            ):
                yield test.node.lineno, values
        elif start is not None and "best" in test.best.lower() and _impossible(start, test.up, wanted):
            yield test.node.lineno, {**values, "should": rise if not test.up else fall}
    for event in model.of("scheduler"):
        mode = event.data["kwargs"].get("mode") or (event.data["args"][1] if len(event.data["args"]) > 1 else None)
        if event.obj.cls != "ReduceLROnPlateau" or getattr(mode, "value", "min") not in ("min", "max"):
            continue
        up = getattr(mode, "value", "min") == "max"
        for step in model.of("sched_step"):
            value = step.data["args"][0] if step.data["args"] else None
            if step.obj is not event.obj or not isinstance(value, (Tensor, Thing)):
                continue
            wanted = _sense(value) if isinstance(value, Tensor) else direction(value.name)
            if wanted and (wanted > 0) != up:
                values = {
                    "metric": value.name if isinstance(value, Thing) else "metric",
                    "way": larger if up else smaller,
                }
                yield event.line, {**values, "should": rise if wanted > 0 else fall}


def _keeps_best(test) -> bool:
    """A best by name, or by what is done with it: a plain maximum or minimum is no selection."""
    text = " ".join(ast.unparse(s) for s in (*test.improved, *test.otherwise)).lower()
    return "best" in test.best.lower() or any(w in text for w in ("save", "state_dict", "patience", "counter", "best"))


def _sense(value: Tensor) -> int:
    return {"loss": -1, "hits": 1}.get(value.of, 0) * value.sign


def _value_direction(model, test) -> int:
    senses = {_sense(v) for _, v in metric_events(model, test) if v is not None} - {0}
    return senses.pop() if len(senses) == 1 else 0


def _start(model, test):
    """The number the best starts from, when it is written out in its function or class, or at the top of the file."""
    home = test.owner if test.best.startswith("self.") and test.owner is not None else test.scope
    for place in (home, model.tree):
        if id(place) not in model.starts:
            model.starts[id(place)] = _starts(place)
        if test.best in model.starts[id(place)]:
            return model.starts[id(place)][test.best]
    return None


def _starts(place) -> dict[str, float]:
    """Target -> the first number assigned to it; of a file, only what stands outside its functions."""
    found: dict[str, float] = {}
    todo = list(reversed(place.body))
    while todo:
        node = todo.pop()
        pairs = []
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs += zip(target.elts, node.value.elts, strict=False)
                else:
                    pairs.append((target, node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs.append((node.target, node.value))
        elif not isinstance(place, ast.Module) or not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            todo += [n for n in reversed(list(ast.iter_child_nodes(node))) if isinstance(n, ast.stmt)]
        for target, value in pairs:
            number = _number(value)
            if number is not None:
                found.setdefault(ast.unparse(target), number)
    return found


def _number(node):
    text = ast.unparse(node).lower()
    sign = -1 if text.startswith("-") or '"-' in text or "'-" in text else 1
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if "inf" in text and ("float(" in text or text.lstrip("-").split(".")[-1] in ("inf", "infty")):
        return sign * math.inf
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, (int, float))
    ):
        return -node.operand.value
    return None


def _consistent(start, up) -> bool:
    """The start value fits the direction of the test: then a doubtful name is no proof."""
    return start == (-math.inf if up else math.inf)


def _impossible(start, up, wanted) -> bool:
    """From there nothing can ever count as better."""
    if math.isinf(start):
        return (start > 0) == up
    return start == 0 and not up and wanted < 0


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


def _sources(model, value):
    """Loops a number was computed in."""
    loops = [value.acc] if value.acc is not None else []
    loops += [e.loops[-1] for e in value.losses if e.loops and not e.inner]
    loops += [e.loops[-1] for e in value.forwards if e.loops and not e.inner]
    return loops


@rule(
    "FC805",
    N_("Stopping on the training loss"),
    WARNING,
    N_("The best epoch is chosen by the training loss, which goes on falling while the model overfits."),
    N_("Choose and stop by the loss on validation data."),
    "/train",
)
def stopping_on_train_loss(model):
    """The number decided on was computed by the batches that went backward; a warning when there is
    validation data to use.
    """
    for event, value, line in decided_on(model):
        trained = [
            b
            for b in model.entry(event, "backward")
            if b.value.forwards & value.forwards or b.value.losses & value.losses
        ]
        if not trained:
            continue
        validates = any(
            e.loops[-1].loader is not None and says_val(e.loops[-1].loader.name) for e in model.of("forward") if e.loops
        )
        validates = validates or any(
            says_val(w) and w.lower().endswith(("loader", "dl", "set", "loss", "data")) for w in model.words
        )
        if not event.loops:
            continue
        for at in {line, event.frame.call_line if event.frame.call_line and event.frame.instance is not None else line}:
            yield at, {}, WARNING if validates else INFO


@rule(
    "FC806",
    N_("Choosing on the test set"),
    WARNING,
    N_(
        "The best epoch is chosen by a number computed on {loader}: the test set is then part of "
        "training, and its score is no longer honest."
    ),
    N_("Choose on validation data, and touch the test set once, at the end."),
    "/train",
)
def choosing_on_test(model):
    """The number decided on comes from a loader named after the test set: a warning when a validation set exists."""
    for event, value, line in decided_on(model):
        for loop in _sources(model, value):
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
    "/metrics",
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
