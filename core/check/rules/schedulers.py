"""Learning rate schedulers: when they step, and how many steps they were told of."""

from __future__ import annotations

import ast

from core.check.loopmodel import exclusive
from core.check.names import EPOCH_SCHEDULERS, words
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Const, Seq, Tensor, Thing
from core.messages import N_

from .common import batch_loop, innermost


def own_steps(model, sched_step):
    """Steps of the optimizer that a scheduler drives, in the same entry."""
    optimizer = sched_step.obj.data.get("optimizer") if isinstance(sched_step.obj, Thing) else None
    steps = model.entry(sched_step, "step")
    mine = [s for s in steps if s.obj is optimizer]
    return mine or (steps if optimizer is None or optimizer.kind is None else [])


@rule(
    "FC601",
    N_("scheduler.step() before optimizer.step()"),
    ERROR,
    N_(
        "The scheduler steps before the optimizer does: the first learning rate is never used, and the "
        "whole schedule runs one step early."
    ),
    N_("Call {scheduler}.step() after optimizer.step()."),
    "/mistakes?mistake=scheduler-first",
)
def scheduler_first(model):
    """In one pass of the scheduler's own loop, every optimizer step comes after it."""
    for event in model.of("sched_step"):
        loop = innermost(event)
        if loop is None or event.data["args"] or event.data["kwargs"]:
            continue
        steps = [s for s in own_steps(model, event) if s.within(loop) and not exclusive(s, event)]
        if steps and all(s.index > event.index for s in steps) and not event.guards[len(loop.guards) :]:
            severity = INFO if event.obj.data.get("made_by") else ERROR  # an unseen class may count from one
            yield event.line, {"scheduler": event.obj.name or "scheduler"}, severity


def value_of(thing, place, *names):
    """An argument of a scheduler, by name or place."""
    for name in names:
        if name in thing.data.get("kwargs", {}):
            return thing.data["kwargs"][name]
    args = thing.data.get("args", ())
    return args[place] if place is not None and len(args) > place else None


def span(value) -> str:
    """What a number of steps counts: 'epochs', 'batches' (of one epoch), 'all' batches of all epochs, or ''."""
    if isinstance(value, Tensor):
        factors = value.factors or ({value.q} if value.q == "len_loader" else set())
        if "len_loader" in factors and "epochs" in factors:
            return "all"
        if factors == {"len_loader"}:
            return "batches"
        return "epochs" if factors == {"epochs"} else ""
    if isinstance(value, Thing) and value.name:
        parts = words(value.name)
        if any(w.startswith("epoch") for w in parts) and "per" not in parts:
            return "epochs"
    return ""


def horizon(thing):
    """How far a scheduler reaches, as far as its arguments tell."""
    cls = thing.cls
    if cls == "CosineAnnealingLR":
        return span(value_of(thing, 1, "T_max"))
    if cls == "OneCycleLR":
        per, epochs = value_of(thing, 4, "steps_per_epoch"), value_of(thing, 3, "epochs")
        if per is not None and epochs is not None:
            return "all" if span(per) == "batches" else ""
        return span(value_of(thing, 2, "total_steps"))
    if cls in ("LinearLR", "PolynomialLR", "ConstantLR"):
        return span(value_of(thing, None, "total_iters"))
    if cls.startswith("get_"):
        return span(value_of(thing, 2, "num_training_steps") or value_of(thing, 3, "num_training_steps"))
    return ""


def epochwise(thing) -> bool:
    """Small steps and milestones that only make sense in epochs."""
    if thing.cls == "ReduceLROnPlateau":
        return True
    if thing.cls == "StepLR":
        size = value_of(thing, 1, "step_size")
        return isinstance(size, Const) and isinstance(size.value, (int, float)) and size.value <= 50
    if thing.cls == "MultiStepLR":
        stones = value_of(thing, 1, "milestones")
        numbers = [v.value for v in stones.items if isinstance(v, Const)] if isinstance(stones, Seq) else []
        return bool(numbers) and all(isinstance(n, (int, float)) and n <= 300 for n in numbers)
    if thing.cls == "ExponentialLR":
        gamma = value_of(thing, 1, "gamma")
        return isinstance(gamma, Const) and isinstance(gamma.value, float) and gamma.value <= 0.99
    return False


def steps_by_place(model):
    """(scheduler, [events stepping it in the batch loop], [in an epoch loop outside it])."""
    places: dict = {}
    if model.of("prepare"):  # accelerate steps a scheduler as often as it sees fit
        return []
    for event in model.of("sched_step"):
        loop = innermost(event)
        if loop is None or not isinstance(event.obj, Thing):
            continue
        steps = [s for s in model.entry(event, "step", "backward") if s.within(loop)]
        if not steps:
            continue
        inner = batch_loop(model, event)
        deeper = [s for s in steps if len(s.loops) > len(event.loops)]
        group = places.setdefault((event.entry, event.obj), ([], []))
        group[1 if deeper else 0].append(event)
        del inner
    return [(obj, a, b) for (_, obj), (a, b) in places.items()]


@rule(
    "FC602",
    N_("Scheduler steps at the wrong pace"),
    ERROR,
    N_("{scheduler} ({cls}) {what}."),
    N_(
        "Step it once a batch when its length was given in batches, once an epoch when it was given in "
        "epochs, and never both."
    ),
    "/optimizers?view=schedule&compare=per",
)
def wrong_pace(model):
    """Stepped both per batch and per epoch, or at another pace than its arguments count in."""
    both, fast, slow = (
        N_("is stepped in every batch and once more in every epoch"),
        N_("counts in epochs, and is stepped in every batch"),
        N_("counts in batches, and is stepped once an epoch"),
    )
    for thing, batch, epoch in steps_by_place(model):
        values = {"scheduler": thing.name or "scheduler", "cls": thing.cls or "scheduler"}
        if (
            batch
            and epoch
            and not any(exclusive(a, b) for a in batch for b in epoch)
            and batch[0].guards == epoch[0].guards
        ):
            for event in (*batch, *epoch):
                yield event.line, {**values, "what": both}
        elif batch and not epoch:
            nested = len(batch[0].loops) > 1 and not batch[0].data["args"] and batch[0].loops[-1].loader is not None
            guarded = batch[0].guards[len(innermost(batch[0]).guards) :]
            one_pass = batch[0].loops[-1].loader is not None and not batch[0].loops[-1].ranged
            if (
                (nested and epochwise(thing) and not guarded)
                or (nested and _epochs_wanted(thing) and not guarded)
                or (
                    one_pass
                    and not guarded
                    and not batch[0].data["args"]
                    and thing.cls in EPOCH_SCHEDULERS
                    and epochwise(thing)
                )
            ):
                yield batch[0].line, {**values, "what": fast}
            elif thing.cls == "ReduceLROnPlateau" and not guarded and _of_one_batch(batch[0]):
                yield batch[0].line, {**values, "what": fast}, WARNING if _patience(thing) <= 20 else INFO
        elif epoch and horizon(thing) in ("all",):
            yield epoch[0].line, {**values, "what": slow}


def _epochs_wanted(thing) -> bool:
    """Its length was given in epochs, and it could be stepped so (a one-cycle schedule could not: that is FC604)."""
    return horizon(thing) == "epochs" and thing.cls != "OneCycleLR" and not thing.cls.startswith("get_")


@rule(
    "FC603",
    N_("ReduceLROnPlateau without its metric"),
    ERROR,
    N_("ReduceLROnPlateau looks at a metric to decide, and {scheduler}.step() gives it none: it raises a TypeError."),
    N_("Pass the validation metric: {scheduler}.step(val_loss)."),
    "/optimizers?view=schedule&schedule=plateau",
)
def plateau_without_metric(model):
    """step() of a ReduceLROnPlateau with no metric."""
    for event, told in _plateaus(model):
        if told is None and "**" not in event.data["kwargs"]:
            yield event.line, {"scheduler": event.obj.name or "scheduler"}


def _plateaus(model):
    """(step, what it is told) for each ReduceLROnPlateau."""
    for event in model.of("sched_step"):
        if isinstance(event.obj, Thing) and event.obj.cls == "ReduceLROnPlateau":
            yield event, event.data["args"][0] if event.data["args"] else event.data["kwargs"].get("metrics")


@rule(
    "FC605",
    N_("The epoch's number in place of the metric"),
    ERROR,
    N_(
        "ReduceLROnPlateau takes the first argument of step() for its metric, and {scheduler} is told the number of "
        "the epoch: it never falls, so the learning rate is lowered again and again."
    ),
    N_("Pass the validation metric: {scheduler}.step(val_loss)."),
    "/optimizers?view=schedule&schedule=plateau",
)
def plateau_told_the_epoch(model):
    """step() of a ReduceLROnPlateau with a loop's counter."""
    for event, told in _plateaus(model):
        if isinstance(told, Tensor) and told.loopvar is not None and told.loopvar.ranged:
            yield event.line, {"scheduler": event.obj.name or "scheduler"}


def _of_one_batch(event) -> bool:
    """The plateau is judged by the loss of a single batch of training, in a loop over epochs and batches."""
    told = event.data["args"][0] if event.data["args"] else None
    own = event.loops[-1]
    return (
        len(event.loops) > 1
        and own.loader is not None
        and isinstance(told, Tensor)
        and told.acc is None
        and any(e.within(own) for e in told.losses)
    )


def _patience(thing) -> int:
    value = thing.data["kwargs"].get("patience")
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else 10 if value is None else 1000


@rule(
    "FC604",
    N_("The scheduler was told a wrong number of steps"),
    ERROR,
    N_(
        "{cls} was told a length that counts {told}, and it is stepped {often}: the schedule ends "
        "early, or starts over."
    ),
    N_("Give it the number of times its step() is really called: `len(loader) * epochs` when it steps in every batch."),
    "/optimizers?view=schedule&schedule=onecycle&compare=per",
)
def wrong_total(model):
    """A horizon of one epoch's batches, or of epochs, on a schedule that runs per batch over all epochs;
    accumulation forgotten.
    """
    once, batches, epochs, every = (
        N_("the batches of one epoch"),
        N_("in every batch of all epochs"),
        N_("epochs"),
        N_("only once for several batches"),
    )
    whole = N_("the batches of all epochs")
    for thing, batch, epoch in steps_by_place(model):
        reach = horizon(thing)
        if batch and not epoch:
            event = batch[0]
            nested = len(event.loops) > 1
            line = thing.line
            restarts = thing.cls == "CosineAnnealingWarmRestarts"
            if reach == "batches" and nested and not restarts and not _only_at_first(event):
                yield line, {"cls": thing.cls, "told": once, "often": batches}
            elif (reach == "epochs" and nested and thing.cls in ("OneCycleLR",)) or (
                reach == "epochs" and nested and thing.cls.startswith("get_")
            ):
                yield line, {"cls": thing.cls, "told": epochs, "often": batches}
            elif reach == "all" and _accumulating(event) and "accumulation" not in _factors(thing):
                yield line, {"cls": thing.cls, "told": whole, "often": every}, WARNING
        elif epoch and reach == "batches":
            yield thing.line, {"cls": thing.cls, "told": once, "often": N_("once an epoch")}


def _only_at_first(event) -> bool:
    """It is stepped under a condition that is no counter of batches: in the first epoch, while warming up."""
    from .accumulation import counters

    inside = event.guards[len(event.loops[0].guards) :]
    return any(g.test is not None and isinstance(g.test, ast.Compare) and not counters(g.test) for g in inside)


def _accumulating(event) -> bool:
    from .accumulation import counters

    return any(counters(g.test) for g in event.guards if g.test is not None)


def _factors(thing) -> frozenset:
    out = frozenset()
    for value in (*thing.data.get("args", ()), *thing.data.get("kwargs", {}).values()):
        if isinstance(value, Tensor):
            out |= value.factors
    return out
