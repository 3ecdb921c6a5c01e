"""Mixed precision and clipping: what happens to the gradients between backward and step."""

from __future__ import annotations

from core.check.loopmodel import exclusive
from core.check.rule import ERROR, WARNING, rule
from core.check.values import Params, Tensor, Thing
from core.messages import N_

from .accumulation import by_hand, windows
from .common import guarded_within, in_charge, innermost, models_of, name_of, related


def scaled(backward) -> bool:
    """A backward on a loss that a GradScaler multiplied."""
    return isinstance(backward.value, Tensor) and bool(backward.value.scaled)


def window(model, step):
    """(backward, events between it and the step) of one pass."""
    events = [
        e
        for e in model.entry(step, "backward", "clip", "unscale", "step", "scaler_update")
        if e.index < step.index and not exclusive(e, step)
    ]
    between = []
    for event in reversed(events):
        if event.kind == "backward":
            return event, between[::-1]
        between.append(event)
    return None, between[::-1]


@rule(
    "FC1101",
    N_("Clipping scaled gradients"),
    ERROR,
    N_(
        "The gradients are still multiplied by the scaler's factor when they are clipped: compared "
        "with a factor of many thousands, any "
        "limit is tiny, and every step is cut to it."
    ),
    N_("Call scaler.unscale_(optimizer) before clipping."),
    "/glossary?find=gradient+norm",
)
def clip_without_unscale(model):
    """backward of a scaled loss, clip, scaler.step, with no unscale_ before the clip."""
    for step in model.of("step"):
        if not step.data.get("scaler"):
            continue
        backward, between = window(model, step)
        if backward is None or not scaled(backward):
            continue
        for clip in (e for e in between if e.kind == "clip"):
            before = [e for e in between if e.kind == "unscale" and e.index < clip.index]
            if not before and _clips(clip, step.obj):
                yield clip.line


def _clips(clip, optimizer) -> bool:
    """Does the clip touch what this optimizer holds? When it cannot be told: yes."""
    held = models_of(optimizer)
    given = clip.value.models if isinstance(clip.value, Params) else None
    if held is None or given is None:
        return True
    return any(related(a, b) for a in held for b in given)


@rule(
    "FC1102",
    N_("scaler.update() is missing"),
    ERROR,
    N_(
        "The scaler's factor is never adjusted: after the first overflow every step is skipped, and a "
        "second step in the same pass raises an error."
    ),
    N_("Call scaler.update() after scaler.step(optimizer), once in every iteration."),
    "/glossary?find=underflow",
)
def update_missing(model):
    """scaler.step with no update of any scaler in the entry."""
    said = set()
    for step in model.of("step"):
        if (
            step.data.get("scaler")
            and not model.entry(step, "scaler_update")
            and step.entry not in said
            and not model.truncated
        ) and "update" not in model.uses.get(step.data["scaler"].name, ()):
            said.add(step.entry)
            yield step.line


@rule(
    "FC1103",
    N_("The optimizer is stepped past the scaler"),
    ERROR,
    N_(
        "The loss was scaled, and {optimizer}.step() is called directly: it moves along gradients "
        "that may still be scaled or may be "
        "infinite, and where scaler.step() is called too, it moves twice."
    ),
    N_("Call scaler.step({optimizer}) only."),
    "/step?calls=flzbss",
)
def stepped_directly(model):
    """A plain step after a scaled backward."""
    for step in model.of("step"):
        if step.data.get("scaler") or not in_charge(model, step):
            continue
        backward, between = window(model, step)
        if backward is None or not scaled(backward) or exclusive(backward, step):
            continue
        scaled_steps = [s for s in model.entry(step, "step") if s.data.get("scaler")]
        spared = scaled_steps and all(s.obj is not step.obj for s in scaled_steps)
        if spared and any(e.kind == "unscale" and e.obj is step.obj for e in between):
            continue  # the scaler steps another optimizer; this one is unscaled by hand and stepped on purpose
        if (len(step.guards) > len(backward.guards) and _scaler_choice(step)) or _made_of_another(step.obj):
            continue
        yield step.line, {"optimizer": name_of(step.obj)}


def _made_of_another(optimizer) -> bool:
    """An outside function made it of an optimizer: it may unscale by itself."""
    parents = optimizer.data.get("parents", ()) if isinstance(optimizer, Thing) else ()
    return any(p.kind == "optimizer" or "optim" in p.name for p in parents)


def _scaler_choice(step) -> bool:
    """The direct step stands under a test of whether a scaler is used."""
    import ast

    return any(
        g.test is not None and any(w in ast.unparse(g.test).lower() for w in ("scaler", "amp", "fp16", "half"))
        for g in step.guards
    )


@rule(
    "FC1104",
    N_("Clipping after the step"),
    ERROR,
    N_("The gradients are clipped after the optimizer has used them: the clipping does nothing."),
    N_("Clip between backward() and step()."),
    "/step?calls=flzbs",
)
def clip_after_step(model):
    """backward, step, clip, with no clip between backward and step."""
    for clip in model.of("clip"):
        loop = innermost(clip)
        events = [
            e
            for e in model.entry(clip, "backward", "step", "clip", "zero_grad")
            if not exclusive(e, clip) and innermost(e) is loop
        ]
        before = [e for e in events if e.index < clip.index and e.kind in ("backward", "step")]
        after = [e for e in events if e.index > clip.index and e.kind in ("backward", "step")]
        if (
            before
            and before[-1].kind == "step"
            and _clips(clip, before[-1].obj)
            and any(e.kind == "backward" for e in before)
        ):
            clipped = [e for e in events if e.kind == "clip" and e.index < before[-1].index]
            if not clipped and not (after and after[0].kind == "step"):
                yield clip.line


@rule(
    "FC1105",
    N_("Clipping before backward()"),
    ERROR,
    N_(
        "The gradients are clipped before backward() computes them: what is clipped is empty, or left "
        "from the batch before."
    ),
    N_(
        "Clip between backward() and step(); in Lightning, set gradient_clip_val or override "
        "configure_gradient_clipping."
    ),
    "/step?calls=flz",
)
def clip_before_backward(model):
    """In one pass, the clip comes before the only backward; or in a training_step that Lightning goes backward from."""
    for clip in model.of("clip"):
        loop = innermost(clip)
        same = [
            e for e in model.entry(clip, "backward", "step", "clip") if not exclusive(e, clip) and innermost(e) is loop
        ]
        backs = [e for e in same if e.kind == "backward"]
        if backs and all(b.index > clip.index for b in backs):
            first = backs[0]
            steps = [s for s in same if s.kind == "step" and s.index > clip.index]
            clips = [c for c in same if c.kind == "clip" and c.index > first.index]
            if (
                (not steps or steps[0].index > first.index)
                and not clips
                and not [g for g in clip.guards if g not in first.guards]
            ):
                yield clip.line
        elif (
            clip.frame.name == "training_step"
            and not model.entry(clip, "backward")
            and not model.of("manual_optimization")
        ):
            owner = clip.frame.instance
            if isinstance(owner, Thing) and owner.data.get("lightning"):
                yield clip.line


@rule(
    "FC1106",
    N_("Clipping in every micro-batch"),
    WARNING,
    N_(
        "The gradients of {k} batches are added up, and they are clipped after each one: the sum of the "
        "first ones is cut again and again."
    ),
    N_("Clip once, right before step()."),
    "/step?scene=accumulate&calls=zflbflb",
)
def clip_each_micro_batch(model):
    """clip in every pass, step in every K-th."""
    for backward, step, _guard, k in windows(model):
        for clip in model.inside(innermost(step), "clip"):
            if (
                (
                    innermost(clip) is innermost(step)
                    and not guarded_within(clip, innermost(step))
                    and clip.index > backward.index
                    and clip.index < step.index
                )
                and by_hand(model, backward)
                and not clip.data.get("accelerate")
            ):
                yield clip.line, {"k": k}
                break
