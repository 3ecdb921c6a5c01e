"""Stopping: the counter, the direction and the number that training is stopped by."""

from __future__ import annotations

import ast
import math

from core.check.names import direction, says_val
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Tensor, Thing
from core.messages import N_

from .besttests import assigned, best_tests, metric_events
from .unseen import decided_on


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
            named_only = start is not None and _value_direction(model, test) == 0 and _consistent(start, test.up)
            if not negative:
                yield test.node.lineno, values, INFO if named_only else ERROR
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
            if any(b.loops and e.within(b.loops[-1]) for e in b.value.forwards & value.forwards)
            or b.value.losses & value.losses
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
