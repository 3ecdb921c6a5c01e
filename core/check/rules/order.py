"""Order: backward and step, each at its place, and gradients meant for another."""

from __future__ import annotations

from core.check.loopmodel import exclusive
from core.check.names import words
from core.check.rule import ERROR, rule
from core.check.values import Thing
from core.messages import N_

from .common import automatic, clears, escapes, feeds, guarded_within, in_charge, innermost, models_of, name_of, related

WORLDS = frozenset(("env", "envs", "world", "game", "gym", "sim", "simulator", "profiler", "clock"))


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
    "/mistakes?mistake=no-zero-grad",
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


@rule(
    "FC208",
    N_("step() once an epoch, zero_grad() in every batch"),
    ERROR,
    N_(
        "{optimizer}.step() stands outside the loop that calls zero_grad() and backward(): only the gradients of the "
        "last batch are left to step along, all the others are cleared unused."
    ),
    N_("Move {optimizer}.step() into the inner loop, after backward()."),
    "/step?calls=zflbzflbs",
)
def step_too_rare(model):
    """zero_grad and backward in every pass of an inner loop, and the one step of that optimizer after the loop."""
    for step in model.of("step"):
        outer = innermost(step)
        if outer is None or not in_charge(model, step) or step.data.get("scaler") or step.guards != outer.guards:
            continue
        backs = [b for b in model.inside(outer, "backward") if b.index < step.index and feeds(b, step.obj)]
        if not backs or len(backs[-1].loops) <= len(step.loops) or any(innermost(b) is outer for b in backs):
            continue
        inner = backs[-1].loops[len(step.loops)]
        if inner.frame is not step.frame or any(s.obj is step.obj for s in model.inside(inner, "step")):
            continue
        zeros = [z for z in model.inside(inner, "zero_grad") if z.obj is not None and clears(z, step.obj)]
        if zeros and zeros[0].loops == backs[-1].loops and not guarded_within(zeros[0], inner):
            yield step.line, {"optimizer": name_of(step.obj)}
