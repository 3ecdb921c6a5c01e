"""Order: zero_grad, backward and step, each at its place."""

from __future__ import annotations

from core.check.loopmodel import common_loop, exclusive
from core.check.names import words
from core.check.rule import ERROR, WARNING, rule
from core.check.values import Thing
from core.messages import N_

from .common import automatic, clears, escapes, feeds, innermost, models_of, related, together

WORLDS = frozenset(("env", "envs", "world", "game", "gym", "sim", "simulator", "profiler", "clock"))


def in_charge(model, step) -> bool:
    """Is the order in the hands of this file? Not when hooks, closures, engines or unseen functions take part."""
    obj = step.obj
    if model.truncated or model.of("hook") or model.of("manual_optimization"):
        return False
    if step.data.get("closure") or (isinstance(obj, Thing) and (obj.kind == "engine" or obj.data.get("local"))):
        return False
    return not escapes(model, obj)


def repeated_pairs(model):
    """(backward, step, loop) where a step follows a backward, both repeated in `loop`."""
    for step in model.of("step"):
        if not in_charge(model, step) or (isinstance(step.obj, Thing) and step.obj.name in ("engine", "model_engine")):
            continue
        best = None
        for backward in model.entry(step, "backward"):
            if backward.index < step.index and together(backward, step) and feeds(backward, step.obj):
                best = backward
        if best is not None:
            loop = common_loop(best, step)
            if loop is not None:
                yield best, step, loop


def zero_like(model) -> bool:
    """Something in the file clears gradients in a way that cannot be followed."""
    return model.has_word(
        "zero_grad_", "clear_grad", "zero_gradients", "set_to_none", "clear_gradients"
    ) and not model.of("zero_grad")


@rule(
    "FC201",
    N_("zero_grad() is missing"),
    ERROR,
    N_(
        "backward() adds to the gradients that are already there, and nothing clears them between two "
        "steps of {optimizer}: each "
        "step also moves along all earlier batches."
    ),
    N_("Call {optimizer}.zero_grad() in every iteration, before backward()."),
    "/step?calls=flbsflbs",
)
def zero_grad_missing(model):
    """A repeated backward and step with nothing that clears the optimizer."""
    if zero_like(model):
        return
    seen = set()
    for backward, step, loop in repeated_pairs(model):
        outermost = step.loops[0]
        zeros = [z for z in model.entry(step, "zero_grad") if clears(z, step.obj)]
        if any(z.within(outermost) for z in zeros) or (zeros and not _all_before(zeros, outermost)):
            continue
        if (id(step.obj), step.entry) in seen or (len(step.loops) and _fresh(step, loop)):
            continue
        seen.add((id(step.obj), step.entry))
        yield step.line, {"optimizer": name_of(step.obj)}
        del backward
    yield from _lone_function(model)


def _all_before(zeros, loop) -> bool:
    return all(z.index < loop.index for z in zeros)


def _fresh(step, loop) -> bool:
    """The optimizer and its parameters are made anew in every pass."""
    return (
        isinstance(step.obj, Thing)
        and step.obj.line
        and loop.line < step.obj.line < step.line
        and loop.frame is step.frame
    )


def _lone_function(model):
    """A function that does one batch and is called from elsewhere: no zero_grad in the whole file."""
    if model.of("zero_grad") or "zero_grad" in model.calls:
        return
    if model.of("manual_optimization"):
        yield from _manual(model)
    if automatic(model):
        return
    for step in model.of("step"):
        if step.loops or not in_charge(model, step) or step.frame.parent is not None:
            continue
        name = step.frame.name.lower()
        if not any(w in name for w in ("train", "step", "batch", "update", "learn", "optim")) or "__init__" in name:
            continue
        before = [b for b in model.entry(step, "backward") if b.index < step.index]
        if before and isinstance(step.obj, Thing) and step.obj.line < step.frame.node.lineno:
            yield step.line, {"optimizer": name_of(step.obj)}, WARNING


def _manual(model):
    """A LightningModule that backs and steps by hand, in a file where nothing clears gradients."""
    for step in model.of("step"):
        before = [b for b in model.entry(step, "backward") if b.index < step.index and b.data["how"] == "engine"]
        hers = any(f.instance is not None and f.instance.data.get("lightning") for f in step.frame.chain())
        if before and hers and not step.data.get("closure") and not model.of("hook"):
            yield step.line, {"optimizer": name_of(step.obj)}
            return


def name_of(thing) -> str:
    """A name to call an object by."""
    return thing.name if isinstance(thing, Thing) and thing.name and thing.name.isidentifier() else "optimizer"


@rule(
    "FC202",
    N_("zero_grad() once an epoch"),
    ERROR,
    N_(
        "The gradients of {optimizer} are cleared outside the loop that calls backward() and step(): "
        "within it, each step also moves "
        "along all earlier batches."
    ),
    N_("Move {optimizer}.zero_grad() into the inner loop, before backward()."),
    "/step?calls=zflbsflbs",
)
def zero_grad_too_rare(model):
    """zero_grad only outside the innermost loop that has both backward and step."""
    for backward, step, loop in repeated_pairs(model):
        zeros = [z for z in model.entry(step, "zero_grad") if clears(z, step.obj)]
        if zeros and not any(z.within(loop) for z in zeros) and backward.within(loop):
            if any(z.data.get("manual") for z in zeros) or _fresh(step, loop):
                continue
            outside = [z for z in zeros if z.within(loop.loops[-1])] if loop.loops else []
            mark = (outside or zeros)[-1]
            if not outside and any(
                z.loops and not _all_before([z], loop.loops[0] if loop.loops else loop) for z in zeros
            ):
                continue
            yield mark.line, {"optimizer": name_of(step.obj)}


@rule(
    "FC203",
    N_("zero_grad() between backward() and step()"),
    ERROR,
    N_(
        "The gradients backward() has just computed are cleared before {optimizer}.step() can use them: "
        "nothing is learned."
    ),
    N_("Call zero_grad() before backward(), or after step()."),
    "/step?calls=flbzs",
)
def zero_grad_between(model):
    """backward, then zero_grad, then step, with no other backward in between."""
    for step in model.of("step"):
        if step.data.get("closure") or model.of("hook"):
            continue
        events = [
            e for e in model.entry(step, "backward", "zero_grad", "step") if e.index < step.index and together(e, step)
        ]
        zero = None
        for event in reversed(events):
            if event.kind == "zero_grad" and event.obj is not None and clears(event, step.obj) and zero is None:
                zero = event
            elif event.kind == "step" and event.obj is step.obj:
                break
            elif event.kind == "backward":
                if zero is not None and feeds(event, step.obj) and _same_pass(event, zero, step):
                    yield zero.line, {"optimizer": name_of(step.obj)}
                break


def _same_pass(backward, zero, step) -> bool:
    loop = innermost(step)
    for event in (backward, zero):
        if innermost(event) is not loop:
            return False
    extra = {g.id for g in zero.guards} - {g.id for g in step.guards}
    return not extra


@rule(
    "FC204",
    N_("step() before backward()"),
    ERROR,
    N_(
        "{optimizer}.step() stands before backward(): it moves along the gradients of the batch before, "
        "or finds none at all."
    ),
    N_("Call backward() first, then step()."),
    "/step?calls=zflsb",
)
def step_before_backward(model):
    """In one pass of the loop, the first step comes before the only backward."""
    for step in model.of("step"):
        loop = innermost(step)
        if not in_charge(model, step):
            continue
        events = (
            model.inside(loop, "backward", "step")
            if loop
            else [e for e in model.entry(step, "backward", "step") if not e.loops]
        )
        events = [e for e in events if e.frame is step.frame or loop]
        backwards = [e for e in events if e.kind == "backward" and feeds(e, step.obj) and not exclusive(e, step)]
        steps = [e for e in events if e.kind == "step" and e.obj is step.obj]
        if not backwards or len(steps) != 1 or any(e.kind == "backward" and e.index < step.index for e in events):
            continue
        if any(innermost(b) is not loop for b in backwards) or len(step.guards) > len(backwards[0].guards):
            continue
        if not loop and [e for e in model.entry(step, "backward") if e.index < step.index]:
            continue
        yield step.line, {"optimizer": name_of(step.obj)}


@rule(
    "FC205",
    N_("step() is missing"),
    ERROR,
    N_("backward() computes gradients, and no optimizer uses them: the parameters never move."),
    N_("Call optimizer.step() after backward()."),
    "/step?calls=zflb",
)
def step_missing(model):
    """A training loop with an optimizer that never steps, anywhere in the file."""
    stepped = any("step" in uses and not _world(name) for name, uses in model.uses.items())
    stepped = stepped or any(c != "step" and "step" in c.lower() for c in model.calls)
    silent = model.of("hook", "manual_step", "manual_optimization") or automatic(model)
    if model.truncated or silent:
        return
    for backward in model.of("backward"):
        if not backward.loops or backward.data["how"] != "backward" or _input_gradients(model, backward):
            continue
        here = model.entry(backward, "step", "unknown_step")
        if here or (stepped and not _scheduler_steps_only(model)):
            continue
        owner = any(f.instance is not None for f in backward.frame.chain())
        made = model.of("optimizer") if owner else model.entry(backward, "optimizer")
        optimizers = [e.obj for e in made]
        optimizers += [z.obj for z in model.entry(backward, "zero_grad") if _optimizer_like(z.obj)]
        if optimizers and not any(escapes(model, o) for o in optimizers):
            yield backward.line


def _world(name: str) -> bool:
    """An environment, a simulation or a profiler: its steps move no parameter."""
    return any(w in WORLDS or w.startswith(("env", "prof")) for w in words(name))


def _optimizer_like(obj) -> bool:
    return isinstance(obj, Thing) and (obj.kind == "optimizer" or "opt" in obj.name.lower())


def _scheduler_steps_only(model) -> bool:
    names = [n for n, m in model.uses.items() if "step" in m]
    return bool(model.of("sched_step")) and all("sched" in n.lower() for n in names) and not model.of("step")


def _input_gradients(model, backward) -> bool:
    """Gradients of an input (saliency, attacks) are wanted for themselves."""
    return any(e.entry == backward.entry for e in model.of("requires_grad")) or model.has_word(
        "saliency", "fgsm", "attack"
    )


@rule(
    "FC206",
    N_("backward() is missing"),
    ERROR,
    N_("{optimizer}.step() is called, but no backward() computes gradients: the parameters never move."),
    N_("Call loss.backward() before step()."),
    "/step?calls=zfls",
)
def backward_missing(model):
    """A loop that runs the model and steps, with no backward anywhere in the file."""
    if model.truncated or any("backward" in c for c in model.calls) or model.has_word("autograd", "functorch", "grad"):
        return
    for step in model.of("step"):
        if not step.loops or not in_charge(model, step) or step.data.get("scaler"):
            continue
        loop = innermost(step)
        ran = [f for f in model.inside(loop, "forward", "loss") if f.grad == "on"]
        if ran and not any(e.data.get("args") for e in model.entry(step, "escape") if e.within(loop)):
            yield step.line, {"optimizer": name_of(step.obj)}


@rule(
    "FC207",
    N_("Gradients of another loss are still there"),
    ERROR,
    N_(
        "The backward() on line {other} also adds gradients to what {optimizer} holds, though it was "
        "meant for another optimizer, and "
        "they are not cleared before {optimizer} steps: the discriminator moves along the generator's wish."
    ),
    N_("Call {optimizer}.zero_grad() right before the backward() that is meant for it."),
    "/mistakes",
)
def stale_gradients(model):
    """Between the last clearing and the step of one optimizer lies a backward meant for another."""
    if (
        model.of("freeze", "requires_grad")
        or model.of("hook")
        or model.has_word("set_requires_grad", "requires_grad", "toggle_optimizer")
    ):
        return
    for step in model.of("step"):
        mine, loop = models_of(step.obj), innermost(step)
        if mine is None or loop is None or step.data.get("closure"):
            continue
        events = [e for e in model.inside(loop, "backward", "zero_grad", "step") if not exclusive(e, step)]
        if step not in events:
            continue
        at = events.index(step)
        window, cleared = [], False
        for event in reversed(events[at + 1 :] + events[:at]):
            if event.kind == "zero_grad" and clears(event, step.obj):
                cleared = True
                break
            window.append(event)
        if not cleared:
            continue
        window.reverse()
        for i, event in enumerate(window):
            if event.kind != "backward" or not event.value.models:
                continue
            if not any(related(m, x) for m in mine for x in event.value.models):
                continue
            rest = window[i + 1 :]
            other = next((k for k, e in enumerate(rest) if e.kind == "step"), None)
            if other is None or rest[other].obj is step.obj:
                continue
            theirs = models_of(rest[other].obj)
            if theirs is None or any(related(a, b) for a in theirs for b in mine):
                continue
            later = [e for e in rest[other + 1 :] if e.kind == "backward" and feeds(e, step.obj)]
            if later:
                yield later[0].line, {"optimizer": name_of(step.obj), "other": event.line}
                break
