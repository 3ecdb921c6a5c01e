"""Gradient accumulation: several backward calls, one step."""

from __future__ import annotations

import ast

from core.check.loopmodel import exclusive
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Const, Tensor, Thing
from core.messages import N_

from .common import clears, guarded_within, in_charge, innermost, name_of


def counters(test) -> list[ast.BinOp]:
    """The `i % K` in a test."""
    return (
        [n for n in ast.walk(test) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
        if test is not None
        else []
    )


def mentions_end(test) -> bool:
    """Does the test also look for the last batch: `i + 1 == len(loader)`, `is_last`?"""
    if any(isinstance(n, ast.BoolOp) and isinstance(n.op, ast.Or) for n in ast.walk(test)):
        return True  # another way to the step than the counter
    text = ast.unparse(test).lower()
    return (
        "len(" in text
        or "last" in text
        or "final" in text
        or "num_batches" in text
        or "n_batches" in text
        or "sync" in text
    )


def windows(model):
    """(backward, step, guard, K) where a step waits for every K-th backward of its loop."""
    for step in model.of("step"):
        loop = innermost(step)
        if loop is None or (not in_charge(model, step) and not step.data.get("scaler")):
            continue
        for guard in guarded_within(step, loop):
            mods = counters(guard.test) if guard.test is not None else []
            if not mods:
                continue
            earlier = [
                e for e in model.inside(loop, "backward", "step") if e.index < step.index and not exclusive(e, step)
            ]
            if not earlier or earlier[-1].kind == "step" or any(g.id == guard.id for g in earlier[-1].guards):
                continue  # the backward before it has its own step, or waits as the step does
            if innermost(earlier[-1]) is loop:
                yield earlier[-1], step, guard, ast.unparse(mods[0].right)


def by_hand(model, backward) -> bool:
    """No library divides or skips by itself."""
    return not any(e.within(backward.loops[-1]) for e in model.of("accelerate_accumulate"))


@rule(
    "FC301",
    N_("Accumulated loss is not divided"),
    WARNING,
    N_(
        "The gradients of {k} batches are added up before each step, and the loss is not divided by "
        "{k}: the step is {k} times as "
        "long as with one large batch."
    ),
    N_("Divide before backward(): `(loss / {k}).backward()`."),
    "/mistakes?mistake=undivided",
)
def not_divided(model):
    """A mean loss, backward in every pass, step in every K-th, no division in between."""
    for backward, _, _, k in windows(model):
        value = backward.value
        source = backward.data["source"]
        if backward.data["how"] != "backward" and not (isinstance(value, Tensor) and value.scaled):
            continue
        if not by_hand(model, backward) or value.div or not backward.data["known"] or _divided_later(model, k):
            continue
        if value.red == "sum" or any(e.data["red"] in ("sum", "none") for e in value.losses):
            continue
        if isinstance(source, Tensor) and (value.losses or value.red == "mean") and value.red is not None:
            yield backward.line, {"k": k}


def _divided_later(model, k) -> bool:
    """The gradients themselves, or the learning rate, are divided."""
    text = model.source
    return (
        f"grad /= {k}" in text
        or f"grad.div_({k}" in text
        or f"/ {k}" in text
        or f"/{k}" in text
        or f"1.0 / {k}" in text
    )


@rule(
    "FC302",
    N_("Accumulated loss is divided twice"),
    ERROR,
    N_(
        "accelerator.accumulate() already divides the loss by the number of accumulated batches, and "
        "here it is divided by {k} once more."
    ),
    N_("Leave the division to accelerate: accelerator.backward(loss)."),
    "/mistakes?mistake=undivided",
)
def divided_twice(model):
    """A hand division inside accelerate's accumulate, or two divisions by the same number."""
    accumulating = any(
        "gradient_accumulation_steps" in e.obj.data["kwargs"] or "gradient_accumulation_plugin" in e.obj.data["kwargs"]
        for e in model.of("accelerator")
    )
    for backward in model.of("backward"):
        div = backward.value.div if backward.value is not None else ()
        loop = innermost(backward)
        held = accumulating or (loop is not None and any(e.within(loop) for e in model.of("accelerate_accumulate")))
        if div and held and backward.data["how"] == "engine":
            text, line, value = div[-1]
            if "accum" in text.lower() or isinstance(value, Const):
                yield line, {"k": text}
        texts = [t for t, _, _ in div]
        twice = next((d for d in div if texts.count(d[0]) > 1 and "accum" in d[0].lower()), None)
        if twice and not held:
            yield div[-1][1], {"k": twice[0]}


@rule(
    "FC303",
    N_("The last accumulation window is dropped"),
    WARNING,
    N_(
        "{optimizer} steps after every {k} batches only. When the number of batches is not a multiple "
        "of {k}, the last ones are "
        "never used, or their gradients leak into the next epoch."
    ),
    N_("Step on the last batch too: `if (i + 1) % {k} == 0 or i + 1 == len(loader)`."),
    "/mistakes?mistake=window-dropped",
)
def tail_dropped(model):
    """A guarded step, and none for what remains."""
    for _, step, guard, k in windows(model):
        loop = innermost(step)
        if mentions_end(guard.test) or not _over_data(loop) or step.data.get("prepared"):
            continue
        after = [e for e in model.entry(step, "step") if e.obj is step.obj and e is not step and not e.within(loop)]
        again = [e for e in model.inside(loop, "step") if e.obj is step.obj and e is not step]
        if not after and not again:
            yield guard.line, {"optimizer": name_of(step.obj), "k": k}


def _over_data(loop) -> bool:
    """A loop over batches, not over a number of steps that can be chosen to fit."""
    return loop.loader is not None and not loop.ranged and not isinstance(loop.node, ast.While)


@rule(
    "FC304",
    N_("The last accumulation window is scaled wrongly"),
    WARNING,
    N_("The loss of every batch is divided by {k}, also in the last window, which holds fewer: its step is too short."),
    N_("Divide the loss of the last window by the number of batches it really holds."),
    "/mistakes?mistake=window-dropped",
)
def tail_scaled(model):
    """A leftover step, with losses divided by the whole K."""
    for backward, step, guard, k in windows(model):
        loop = innermost(step)
        div = backward.value.div
        if not div or not _over_data(loop):
            continue
        text, line, value = div[-1]
        constant = isinstance(value, Const) or (isinstance(value, Thing) and not value.data.get("parents"))
        after = [
            e for e in model.entry(step, "step") if e.obj is step.obj and e.index > step.index and not e.within(loop)
        ]
        if after and text == k and constant and not _rescaled(model, loop, after[0]):
            yield after[0].line, {"k": k}
        elif mentions_end(guard.test) and text == k and constant and not after:
            yield line, {"k": k}, INFO


def _rescaled(model, loop, step) -> bool:
    """Something between the loop and the leftover step touches the gradients."""
    lines = model.source.split("\n")[loop.line : step.line]
    return any("grad.mul_" in x or "grad *=" in x or "grad.div_" in x or "grad /=" in x or ".grad" in x for x in lines)


@rule(
    "FC305",
    N_("zero_grad() in every micro-batch"),
    ERROR,
    N_(
        "{optimizer} steps after every {k} batches, but its gradients are cleared in each one: only the "
        "last batch of each window counts."
    ),
    N_("Call zero_grad() only where step() is called, right after it."),
    "/step?scene=accumulate&calls=zflbzflbs",
)
def zero_each_micro_batch(model):
    """zero_grad unguarded in a loop whose step is guarded by a counter."""
    for backward, step, guard, k in windows(model):
        for zero in model.inside(innermost(step), "zero_grad"):
            guarded = guarded_within(zero, innermost(step))
            if not by_hand(model, backward) or not clears(zero, step.obj) or zero.data.get("manual"):
                continue
            if (innermost(zero) is innermost(step) and not guarded and zero.index < step.index) or _after_unguarded(
                zero, step, guard, guarded
            ):
                yield zero.line, {"optimizer": name_of(step.obj), "k": k}


def _after_unguarded(zero, step, guard, guarded) -> bool:
    return innermost(zero) is innermost(step) and not guarded and zero.index > step.index
