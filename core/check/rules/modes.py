"""Modes: train and eval, and whether gradients are recorded."""

from __future__ import annotations

import ast

from core.check.loopmodel import exclusive
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Thing, tensors_in
from core.messages import N_

from .common import automatic, escapes, inside, line_in, related
from .evaluating import eval_frame, eval_loop, evaluations, foreign, mode_matters, repeated_sampling, trained


@rule(
    "FC401",
    N_("eval() is missing"),
    WARNING,
    N_(
        "The model is evaluated here while it is in train mode: dropout drops, and batch "
        "normalisation uses this batch's numbers "
        "and changes its own."
    ),
    N_("Call {model}.eval() before evaluating, and {model}.train() after."),
    "/mistakes?mistake=no-eval",
)
def eval_missing(model):
    """A forward of an evaluation, in train mode."""
    any_eval = "eval" in model.calls or any("eval" in c and c != "evaluate" for c in model.calls if c.endswith(".eval"))
    trains = bool(model.of("backward")) or "train" in model.calls
    said = set()
    for event in evaluations(model):
        mode, by = event.mode, event.data.get("mode_event")
        if mode in ("eval", "unknown") or repeated_sampling(event) or escapes_before(model, event):
            continue
        matters = mode_matters(event.obj)
        if mode is None and (any_eval or not trains or matters is False or event.obj.kind == "checkpoint"):
            continue
        if event.obj.data.get("starts_eval") and mode is None:
            continue
        if mode is None and not event.loops and not tensors_in(list(event.args)):
            continue
        same = by is not None and by.frame is event.frame
        key = (id(event.frame.node), event.obj)
        if key in said:
            continue
        said.add(key)
        name = _name(event.obj)
        severity = INFO if matters is False else WARNING
        if (
            same
            and eval_frame(event) is not None
            and by.loops == event.loops[: len(by.loops)]
            and by.frame.name != "<module>"
        ):
            yield by.line, {"model": name}, severity
        else:
            place = eval_frame(event) or (event.loops[-1].frame if event.loops else event.frame)
            yield line_in(event, place), {"model": name}, severity


def escapes_before(model, event) -> bool:
    """An unseen function had the model in this function."""
    return escapes(model, event.obj, event.entry) and event.mode != "train"


def _name(thing) -> str:
    return thing.name if thing.name.isidentifier() else "model"


@rule(
    "FC402",
    N_("no_grad() is missing"),
    WARNING,
    N_(
        "The model is evaluated here with gradients recorded: every batch builds a graph that nobody "
        "uses, which costs memory and time."
    ),
    N_("Wrap the evaluation in `with torch.no_grad():`."),
    "/modes",
)
def no_grad_missing(model):
    """A forward of an evaluation that records a graph."""
    said = set()
    evaluated = list(evaluations(model))
    known = {id(e) for e in evaluated}
    if not model.truncated:
        evaluated += [
            e
            for e in model.of("forward")
            if id(e) not in known
            and e.mode == "eval"
            and not e.inner
            and e.loops
            and not trained(model, e)
            and not foreign(e)
            and not model.inside(e.loops[-1], "backward")
            and not e.data.get("discarded")
            and _own_eval(model, e)
        ]
    for event in evaluated:
        if event.grad != "on" or _gradients_wanted(model, event) or event.frame.opaque:
            continue
        if any(related(b, event.obj) for b in _frozen(model)):
            continue
        key = id(event.frame.node), event.loops[-1:] if event.loops else ()
        if key in said:
            continue
        said.add(key)
        strong = event.loops and (event.mode == "eval" or eval_loop(event) or eval_frame(event))
        strong = strong and event.loops[-1].loader is not None  # a loop over data, not over layers or draws
        place = eval_frame(event) or (event.loops[-1].frame if event.loops else event.frame)
        yield line_in(event, place), {}, WARNING if strong else INFO


def _own_eval(model, event) -> bool:
    """eval() of this model was called, and its loop is over data, not an optimisation of an input."""
    by = event.data.get("mode_event")
    return (
        by is not None
        and by.frame is event.frame
        and not any(e.entry == event.entry for e in model.of("requires_grad"))
    )


def _frozen(model):
    return [e.obj for e in model.of("freeze") if isinstance(e.obj, Thing) and e.obj.kind == "model"]


def _gradients_wanted(model, event) -> bool:
    """Something in this function or its callers goes backward: attacks, saliency, test-time training."""
    for other in model.entry(event, "backward", "autograd_grad", "requires_grad"):
        if (event.loops and other.within(event.loops[-1])) or (not event.loops and other.frame is event.frame):
            return True
    return False


@rule(
    "FC403",
    N_("train() is not called again after evaluating"),
    ERROR,
    N_(
        "The model is put in eval mode (line {at}) inside the loop that trains it, and not put back: "
        "from then on it trains without "
        "dropout and with batch statistics standing still."
    ),
    N_("Call {model}.train() at the start of every epoch, or right after evaluating."),
    "/modes",
)
def train_not_restored(model):
    """eval in a loop that trains, and no train() in that loop, nor anywhere before it."""
    for event, evaluating, before in stuck_in_eval(model):
        if not before or _between_batches(event, evaluating):
            call = _call_line(evaluating, event)
            yield call or evaluating.line, {"model": _name(event.obj), "at": evaluating.line}


def _between_batches(event, evaluating) -> bool:
    """The evaluation stands in the very loop over the training batches."""
    return evaluating.within(event.loops[-1])


@rule(
    "FC404",
    N_("train() once, before a loop that evaluates"),
    ERROR,
    N_(
        "train() is called before the loop (line {at}), and the evaluation inside the loop switches "
        "to eval(): from the second round "
        "on the model trains in eval mode."
    ),
    N_("Move {model}.train() to the start of the loop."),
    "/modes",
)
def train_called_once(model):
    """As FC403, with a train() before the loop."""
    for event, evaluating, before in stuck_in_eval(model):
        if before and not _between_batches(event, evaluating):
            yield before.line, {"model": _name(event.obj), "at": before.line}


def _call_line(evaluating, event) -> int:
    """The line, in the function that trains, where the evaluation is called."""
    frames = set(map(id, event.frame.chain()))
    line = 0
    for frame in evaluating.frame.chain():
        if id(frame) in frames:
            return line
        line = frame.call_line
    return line


def stuck_in_eval(model):
    """(training forward, eval event, train event before the loop or None), once a model."""
    if model.truncated or not (model.of("step", "unknown_step", "manual_step") or automatic(model)):
        return  # gradients are wanted for themselves, as in attacks on an input
    said = set()
    for event in model.of("forward"):
        if event.inner or not event.loops or not trained(model, event) or event.obj in said or event.grad == "off":
            continue
        for loop in event.loops:
            modes = [m for m in model.inside(loop, "mode") if inside(event.obj, m.obj) and not exclusive(m, event)]
            evals = [m for m in modes if m.value == "eval"]
            if not evals or any(m.value in ("train", "unknown") for m in modes) or _unrolled(evals[0], loop):
                continue
            if any(_on_purpose(model, m, event) for m in evals):
                continue
            if _restores(model, loop, event) or all(m.index < event.index and not eval_frame(m) for m in evals):
                continue
            every = [m for m in model.entry(event, "mode") if inside(event.obj, m.obj) and m.index < loop.index]
            before = next((m for m in reversed(every) if m.value == "train"), None)
            said.add(event.obj)
            yield event, evals[0], before
            break


def _on_purpose(model, evaluating, event) -> bool:
    """eval() stands in the function that trains, on the way to the training and with nothing else to serve."""
    if evaluating.frame is not event.frame or evaluating.index > event.index or eval_frame(evaluating):
        return False
    if len(evaluating.guards) > len(event.guards):
        return False
    served = [f for f in model.entry(event, "forward") if evaluating.index < f.index < event.index and not f.inner]
    return not any(related(f.obj, event.obj) and not trained(model, f) for f in served)


def _unrolled(evaluating, loop) -> bool:
    """The eval stands under a condition on the phase or the mode that was there before."""
    for guard in evaluating.guards:
        text = ast.unparse(guard.test) if guard.test is not None else ""
        if any(w in text for w in ("phase", "train", "mode", "split")):
            return True
    return any(g.test is None for g in evaluating.guards) and not loop


def _restores(model, loop, event) -> bool:
    """The mode is restored in a way that cannot be followed: `model.train(was_training)`, an unseen helper."""
    later = [e for e in model.inside(loop, "escape") if any(related(event.obj, v) for v in e.value or ())]
    return any("train" in str(e.data.get("name", "")).lower() for e in later)


@rule(
    "FC405",
    N_("Training where gradients are switched off"),
    ERROR,
    N_(
        "backward() is called on a loss computed with gradients switched off: there is no graph to go "
        "back through, and it raises an error."
    ),
    N_("Train outside no_grad() and inference_mode(), or open torch.enable_grad() round it."),
    "/modes",
)
def training_under_no_grad(model):
    """A backward on a tensor whose forwards all ran with gradients off."""
    for event in model.of("backward"):
        value = event.value
        if not event.data["known"] or value.graph or value.cut or event.data["how"] not in ("backward", "engine"):
            continue
        forwards = [f for f in value.forwards if not f.inner]
        off = all(f.grad == "off" for f in forwards) if forwards else event.grad == "off" and value.losses
        if off:
            yield event.line
