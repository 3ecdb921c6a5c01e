"""Metrics: sums, means and what they are divided by."""

from __future__ import annotations

import ast

from core.check.names import says_test, says_train, says_val
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Const, Seq, Tensor, Thing, tensors_in
from core.messages import N_


def divisions(model):
    """(event, accumulated number, divisor) for every mean made after or in a loop."""
    for event in model.of("divide"):
        total, by = event.value
        if isinstance(total, Tensor) and total.acc is not None:
            yield event, total, by
        elif isinstance(total, Seq):
            continue


def dropped_last(loader) -> bool:
    """All batches have one size."""
    last = loader.data.get("kwargs", {}).get("drop_last") if isinstance(loader, Thing) else None
    return isinstance(last, Const) and last.value is True


@rule(
    "FC501",
    N_("Mean of batch means"),
    WARNING,
    N_(
        "The mean of each batch is added up and divided by the number of batches. The last batch is "
        "usually smaller, and each of its "
        "examples then counts more than the others."
    ),
    N_("Add up sums (hits, or `loss.item() * len(batch)`) and divide by the number of examples."),
    "/mistakes?mistake=naive-mean",
)
def mean_of_means(model):
    """A sum of batch means divided by the number of batches: a warning for an accuracy, worth knowing for a loss."""
    for event, total, by in divisions(model):
        if (
            total.q == "mean"
            and isinstance(by, Tensor)
            and (by.q in ("len_loader", "steps") or _last_number(by, total))
            and not dropped_last(by.loader)
        ) and (not event.loops or not total.acc or not event.within(total.acc) or by.q == "steps"):
            yield event.line, {}, WARNING if total.of == "hits" else INFO
    for event in model.of("mean_of"):
        value = event.value
        parts = [t for t in tensors_in(value) if t.q == "mean" and (t.item or t.of) and _of_batches(t)]
        if isinstance(value, Seq) and value.open and parts:
            yield event.line, {}, WARNING if parts[0].of == "hits" else INFO
    for event in model.of("divide"):
        total, by = event.value
        found = tensors_in(total)
        if (
            not isinstance(total, Tensor)
            and found
            and found[0].q == "mean"
            and _of_batches(found[0])
            and isinstance(by, Tensor)
            and by.q in ("steps", "len_loader")
        ):
            yield event.line, {}, WARNING if found[0].of == "hits" else INFO


def _last_number(by, total) -> bool:
    """`i + 1` after `for i, batch in enumerate(loader)`: how many batches there were."""
    return by.loopvar is not None and by.loopvar is total.acc and by.plus == 1


def _of_batches(t) -> bool:
    """Was it computed on what a loader handed out? One number a fold, a seed or a run is no batch mean."""
    given = [x for f in t.forwards if not f.inner for a in f.args for x in tensors_in(a)]
    return not t.forwards or any(x.loader is not None or x.batchvar for x in given)


@rule(
    "FC502",
    N_("Divided by the wrong number"),
    ERROR,
    N_("{total} is divided by {by}."),
    N_(
        "Divide a sum over examples by the number of examples, and a sum of batch means by the number "
        "of batches, of the same loader."
    ),
    "/metrics",
)
def wrong_denominator(model):
    """What was added up and what it is divided by do not belong together."""
    for event, total, by in divisions(model):
        if not isinstance(by, Tensor):
            if total.q == "mean*const" and isinstance(by, (Thing, Const)) and not dropped_last(total.loader):
                yield (
                    event.line,
                    {"total": N_("A batch mean times a fixed batch size"), "by": N_("the number of examples")},
                )
            continue
        line = event.line
        if total.q == "mean" and by.q == "len_dataset" and _one_by_one(total):
            continue
        if (total.q == "mean" and by.q == "len_dataset") or (
            total.q == "mean" and by.q == "count" and by.acc is not None and total.item
        ):
            unseen = by.q == "count" and not any(e.data["cls"] for e in total.losses)
            values = {"total": N_("A sum of batch means"), "by": N_("the number of examples")}
            yield line, values, INFO if unseen else ERROR  # a loss that cannot be seen may be a sum
        elif (total.q == "sum" and by.q == "len_loader") or (
            total.q == "sum" and by.q == "steps" and by.acc is total.acc and total.of == "hits"
        ):
            yield line, {"total": N_("A sum over examples"), "by": N_("the number of batches")}
        elif total.q == "mean*const" and by.q in ("len_dataset", "count"):
            yield line, {"total": N_("A batch mean times a fixed batch size"), "by": N_("the number of examples")}
        elif total.q in ("sum", "mean", "count") and by.q in ("len_dataset", "len_loader") and _other(total, by):
            yield line, {"total": N_("A sum over one loader"), "by": N_("the length of another")}
        elif (
            total.q == "sum"
            and by.q == "count"
            and by.acc is None
            and by.loader is not None
            and not event.loops
            and total.acc
        ):
            yield line, {"total": N_("A sum over all batches"), "by": N_("the size of the last batch")}


def _one_by_one(total) -> bool:
    """The loader hands out single examples, so there are as many batches as examples."""
    loader = total.acc.loader if total.acc is not None else None
    for _ in range(5):
        if isinstance(loader, Thing) and loader.cls != "DataLoader":
            loader = loader.data.get("wraps")
    if not isinstance(loader, Thing):
        return False
    size = loader.data.get("batch_size")
    told = {"**", "batch_sampler"} & set(loader.data["kwargs"])
    return (size is None and not told) or (isinstance(size, Const) and size.value in (1, None))


def _other(total, by) -> bool:
    """The two come from different loaders: known objects, or names that speak of different parts of the data."""
    source = total.acc.loader if total.acc is not None else None
    if source is None or by.loader is None or source is by.loader:
        return False
    a, b = source.name, by.loader.name
    if source.data.get("dataset") is by.loader or source.data.get("wraps") is by.loader:
        return False
    sides = [(says_train(n), says_val(n), says_test(n)) for n in (a, b)]
    return sides[0] != sides[1] and any(sides[0]) and any(sides[1])


@rule(
    "FC503",
    N_("The last batch is reported as the whole epoch"),
    WARNING,
    N_("{name} is the value of the last batch only, and it is reported after the loop over all of them."),
    N_("Add up over the batches, and report the mean."),
    "/metrics",
)
def last_batch_reported(model):
    """A batch's loss or accuracy printed, logged or returned as an epoch's, after the loop that computed it."""
    for event in model.of("report", "return"):
        if event.inner:
            continue
        for t in tensors_in(event.value):
            loops = {e.loops[-1] for e in t.losses if e.loops and not e.inner}
            if len(loops) != 1 or t.parts or t.acc is not None:
                continue
            loop = next(iter(loops))
            if (
                loop.loader is None
                or loop.ranged
                or event.within(loop)
                or loop.frame is not event.frame
                or loop.guards != event.guards
            ):
                continue
            if _stops_early(loop):
                continue
            yield event.line, {"name": "loss"}, WARNING if event.kind == "report" else INFO
            break


def _stops_early(loop) -> bool:
    """The loop is left by a break: its last batch is the one that was looked for."""
    return any(isinstance(n, ast.Break) for n in ast.walk(loop.node))


@rule(
    "FC504",
    N_("Loss tensors are kept with their graphs"),
    WARNING,
    N_(
        "{target} collects loss tensors that still hold the graph of their batch: memory grows with "
        "every batch until it runs out."
    ),
    N_("Collect plain numbers: loss.item()."),
    "/metrics",
)
def loss_kept(model):
    """A loss tensor with its graph added to a total or a list that is never sent backward."""
    went_back = set()
    for event in model.of("backward", "autograd_grad"):
        went_back |= event.value.parts
    losses_back = set()
    for event in model.of("backward"):
        losses_back |= event.value.losses
    for event in model.of("accumulate"):
        value = event.value
        if (
            not value.graph
            or value.item
            or event in went_back
            or not event.loops
            or event.inner
            or (event.data.get("unknown") and not value.losses)
        ):
            continue
        if not _is_loss(model, event, value, losses_back) or _escaped(model, event):
            continue
        if _fresh(event) or _by_index(model, event):
            continue
        yield event.line, {"target": event.data["target"]}, INFO if _emptied(event) else WARNING


def _by_index(model, event) -> bool:
    """One of several totals, told apart by a number, and something goes backward after the loop."""
    later = [b for b in model.entry(event, "backward") if b.index > event.index and not b.within(event.loops[-1])]
    return event.data["target"].endswith("]") and bool(later)


def _emptied(event) -> bool:
    """The total is set back to a number inside the loop, now and then."""
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.value, ast.Constant)
        and any(ast.unparse(t) == event.data["target"] for t in n.targets)
        for n in ast.walk(event.loops[-1].node)
    )


def _fresh(event) -> bool:
    """The total began in this same pass, with a loss of this batch: it does not grow from batch to batch."""
    old = event.data.get("old")
    if not isinstance(old, Tensor) or not old.graph or not old.losses:
        return False
    loop = event.loops[-1]
    begun = all(e.within(loop) for e in old.losses)
    return begun and all(_fresh(e) for e in old.parts if e.data["target"] == event.data["target"] and e is not event)


def _is_loss(model, event, value, losses_back) -> bool:
    """The tensor went backward by itself, or is a loss of an evaluation that recorded a graph."""
    if value.losses & losses_back:
        return True
    back = [
        b
        for b in model.entry(event, "backward")
        if b.value.forwards and b.value.forwards <= value.forwards and b.within(event.loops[-1])
    ]
    if back and (value.red or value.losses):
        return not any(event in b.value.parts for b in back)
    loop_back = model.inside(event.loops[-1], "backward")
    if value.losses and not loop_back and not model.entry(event, "backward"):
        return event.data["how"] == "+=" and not _returned(model, event)
    return (
        bool(value.losses)
        and not loop_back
        and not (value.forwards & set().union(*(b.value.forwards for b in model.entry(event, "backward"))))
    )


def _returned(model, event) -> bool:
    return any(event in t.parts for e in model.entry(event, "return") for t in tensors_in(e.value))


def _escaped(model, event) -> bool:
    """The collection was handed to a function that may send it backward."""
    for other in model.entry(event, "escape"):
        if any(event in t.parts for a in other.data.get("args", ()) for t in tensors_in(a)):
            return "step" in other.data["name"] or "backward" in other.data["name"] or "optim" in other.data["name"]
    return False
