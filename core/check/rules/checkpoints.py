"""Checkpoints: what is in them, and how they are written and read."""

from __future__ import annotations

import ast

from core.check.names import words
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Const, Dict, State, Tensor, Thing
from core.messages import N_

from .saved import EPOCH, counted, dicts, resume_names, resumes, state_kinds, trains

HANDED_IN = ("args", "input", "url", "request", "argv", "upload", "download", "user", "hub")


@rule(
    "FC701",
    N_("Only the model is in the checkpoint"),
    WARNING,
    N_(
        "Training goes on from this checkpoint, and it holds the model only: the optimizer starts "
        "anew, without its momentum and its "
        "running averages, and the loss jumps."
    ),
    N_("Save and load optimizer.state_dict() as well."),
    "/resume",
)
def model_only(model):
    """A checkpoint with no optimizer in it, from which the file resumes."""
    if not model.of("optimizer") and not any("optim" in w.lower() for w in model.words):
        return
    loads_optimizer = any(
        isinstance(e.obj, Thing) and (e.obj.kind == "optimizer" or "opt" in e.obj.name.lower())
        for e in model.of("load_state")
    )
    if loads_optimizer or not resumes(model) or not (resume_names(model) or _loads_before_training(model)):
        return
    for event in model.of("save"):
        bare = (isinstance(event.value, State) and event.value.of is not None) or (
            isinstance(event.value, Thing) and event.value.kind == "model"
        )
        keyed = isinstance(event.value, Dict) and not event.value.open and "optimizer" not in state_kinds(event.value)
        lacking = (keyed and "model" in state_kinds(event.value)) or (bare and resume_names(model))
        if lacking and not _best(event):
            yield event.line
            return


def _loads_before_training(model) -> bool:
    """A load comes before the first backward of its entry and the epoch is read from the checkpoint."""
    return any(isinstance(e.value, Tensor) and e.value.loaded for e in model.of("range"))


def _best(event) -> bool:
    """Saved as the best weights, to be used and not to be resumed from."""
    text = ast.unparse(event.data["tree"]).lower()
    return "best" in text or any("best" in ast.unparse(g.test).lower() for g in event.guards if g.test is not None)


@rule(
    "FC702",
    N_("The scheduler is not in the checkpoint"),
    WARNING,
    N_(
        "The checkpoint holds the optimizer but not {scheduler}: after resuming, the learning rate "
        "schedule starts over."
    ),
    N_("Save and load {scheduler}.state_dict() as well."),
    "/resume",
)
def scheduler_missing(model):
    """Optimizer saved, scheduler stepped, no scheduler state anywhere in the saved dict."""
    stepped = [e for e in model.of("sched_step") if isinstance(e.obj, Thing)]
    if not stepped or "last_epoch" in model.words | model.keywords:  # the schedule is put back by its epoch
        return
    for event, saved in dicts(model):
        kinds = state_kinds(saved)
        here = [e for e in stepped if e.entry == event.entry] or ([] if trains(model, event) else stepped)
        if "optimizer" in kinds and "scheduler" not in kinds and here and not _best(event):
            severity = INFO if here[0].obj.data.get("made_by") or _by_count(here[0]) else WARNING
            yield event.line, {"scheduler": here[0].obj.name or "scheduler"}, severity


def _by_count(sched_step) -> bool:
    """The schedule is told where it is at every step, so it needs no memory."""
    told = sched_step.data["args"][0] if sched_step.data["args"] else None
    counted = isinstance(told, Tensor) and (told.loopvar is not None or told.q == "steps")
    return counted or (isinstance(told, Thing) and bool(set(words(told.name)) & set(EPOCH)))


@rule(
    "FC703",
    N_("The random state is not in the checkpoint"),
    INFO,
    N_(
        "The checkpoint holds everything but the state of the random generators: a resumed run draws "
        "other batches and other dropout "
        "masks than the run that was not interrupted."
    ),
    N_("Save torch.get_rng_state() (and that of CUDA, NumPy and random, where used), and set it again on resuming."),
    "/resume",
)
def rng_missing(model):
    """A full checkpoint without any random state."""
    if any("rng" in w.lower() or "getstate" in w.lower() for w in model.words):
        return
    for event, saved in dicts(model):
        if {"optimizer", "model"} <= state_kinds(saved) and counted(saved) and (resumes(model) or trains(model, event)):
            yield event.line


@rule(
    "FC704",
    N_("The epoch is not in the checkpoint"),
    WARNING,
    N_(
        "The checkpoint holds model and optimizer but not how far training had come: after resuming, "
        "the epochs are counted from zero."
    ),
    N_("Save the number of epochs finished, and start the loop there."),
    "/resume",
)
def epoch_missing(model):
    """Model and optimizer saved, no epoch or step beside them."""
    for event, saved in dicts(model):
        if {"optimizer", "model"} <= state_kinds(saved) and not counted(saved) and not _best(event):
            yield event.line, {}, WARNING if resumes(model) else INFO


@rule(
    "FC705",
    N_("Resuming is off by one epoch"),
    ERROR,
    N_("The checkpoint of an epoch that is finished stores {stored}, and the resumed loop starts at {start}: {what}."),
    N_(
        "Store the epoch to go on with (epoch + 1) and start there, or store the finished one and start "
        "at the next: one +1, not none and not two."
    ),
    "/resume",
)
def epoch_off_by_one(model):
    """Count the +1 between the loop variable that is saved and the start of the resumed loop."""
    again, skipped = N_("the finished epoch is trained again"), N_("one epoch is skipped")
    stored = {}
    for event, saved in dicts(model):
        for key, value in saved.items.items():
            if isinstance(value, Tensor) and value.loopvar is not None and value.loopvar.ranged:
                loop = value.loopvar
                before = [s for s in model.inside(loop, "step", "backward") if s.index < event.index]
                if before and event.within(loop) and len(event.loops) == len(loop.loops) + 1:
                    stored[str(key)] = value.plus
    for event in model.of("range"):
        start = event.value
        if isinstance(start, Tensor) and start.loaded in stored and len(event.data["args"]) > 1:
            plus = stored[start.loaded]
            total = plus + start.plus
            if total != 1 and total in (0, 2):
                values = {
                    "stored": "epoch" + (" + 1" if plus else ""),
                    "start": start.loaded + (" + 1" if start.plus else ""),
                    "what": again if total == 0 else skipped,
                }
                yield start.line if start.line and not start.plus else event.line, values


@rule(
    "FC706",
    N_("A file that can run code is loaded"),
    WARNING,
    N_(
        "torch.load with weights_only=False unpickles the file, and a pickle can run any code. The path "
        "comes from outside this program."
    ),
    N_("Use weights_only=True, and keep to tensors, numbers, strings, lists and dicts in what you save."),
    "/resume",
)
def unsafe_load(model):
    """weights_only=False: a warning when the path comes from outside, worth knowing otherwise."""
    written = {ast.unparse(e.data["tree"].args[1]) for e in model.of("save") if len(e.data["tree"].args) > 1}
    for event in model.of("load"):
        tree, flag = event.data["tree"], event.data["kwargs"].get("weights_only")
        first = event.data["args"][0] if event.data["args"] else event.data["kwargs"].get("f")
        off = isinstance(flag, Const) and flag.value is False
        path = ast.unparse(tree.args[0]) if tree.args else ""
        outside = not isinstance(first, Const) and path not in written
        if off or "pickle_module" in event.data["kwargs"]:
            yield event.line, {}, WARNING if outside and _handed_in(path) else INFO
        elif event.data["path"].startswith(("pickle.", "joblib.")) and outside:
            if any(w in path.lower() for w in ("model", "checkpoint", "ckpt", "weight")) or any(
                e.index > event.index for e in model.entry(event, "load_state")
            ):
                yield event.line, {}, INFO
        elif flag is None and event.data["path"].startswith("torch") and outside and _handed_in(path):
            yield event.line, {}, INFO


def _handed_in(path: str) -> bool:
    """Does the expression say that whoever runs the program names the file?"""
    return any(
        w in path.lower() for w in ("args", "input", "url", "request", "argv", "upload", "download", "user", "hub")
    )


@rule(
    "FC707",
    N_("The checkpoint is overwritten in place"),
    INFO,
    N_(
        "The only checkpoint is overwritten in every epoch. A crash in the middle of writing leaves "
        "neither the old one nor the new one."
    ),
    N_("Write to a temporary file beside it, then os.replace() it."),
    "/resume",
)
def written_in_place(model):
    """The same path written again and again, and loaded from."""
    if model.of("rename") or not model.of("load") or not (resume_names(model) or resumes(model)):
        return
    for event in model.of("save"):
        args = event.data["tree"].args
        target = args[1] if len(args) > 1 else None
        if (
            event.loops
            and target is not None
            and not isinstance(target, (ast.JoinedStr, ast.BinOp, ast.Call))
            and not _best(event)
        ):
            yield event.line


@rule(
    "FC708",
    N_("A NumPy number in the checkpoint"),
    WARNING,
    N_(
        "{key} is a NumPy number (line {at}), not a Python one: loading the checkpoint with "
        "weights_only=True, the default, refuses it."
    ),
    N_("Turn it into a Python number before saving: float(...)."),
    "/resume",
)
def numpy_in_checkpoint(model):
    """A value made by NumPy in a saved dict."""
    for event, saved in dicts(model):
        for key, value in saved.items.items():
            if isinstance(value, Tensor) and value.numpy:
                yield event.line, {"key": repr(str(key)), "at": value.numpy}
