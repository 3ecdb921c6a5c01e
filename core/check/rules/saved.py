"""What a checkpoint holds, as far as its keys and values tell."""

from __future__ import annotations

from core.check.names import words
from core.check.values import Const, Dict, State, Tensor, Thing

OPT = ("opt", "optim", "optimizer", "optimiser")
EPOCH = ("epoch", "epochs", "step", "steps", "iter", "iteration", "iters", "it", "itr")


def key_words(saved: Dict) -> set[str]:
    """Every word in the keys of a saved dict."""
    return {w for k in saved.items for w in words(str(k))}


def dicts(model):
    """(save event, dict) for every checkpoint saved as a dict with known keys."""
    for event in model.of("save"):
        if isinstance(event.value, Dict) and not event.value.open:
            yield event, event.value


def counted(saved: Dict) -> bool:
    """Does it say how far training had come: by a key's name, or with a loop's variable in it?"""
    return bool(key_words(saved) & set(EPOCH)) or any(isinstance(v, Tensor) and v.loopvar for v in saved.items.values())


def state_kinds(saved: Dict) -> set[str]:
    """'model', 'optimizer', 'scheduler', 'scaler' as far as the values and keys tell."""
    kinds = set()
    for key, value in saved.items.items():
        if isinstance(value, Const) and value.value is None:
            continue  # the key is there, and nothing behind it
        if isinstance(value, Thing) and value.kind == "options":
            continue
        parts = words(str(key))
        of = value.of if isinstance(value, State) else value if isinstance(value, Thing) else None
        kind = (of.kind or _called(of.name)) if isinstance(of, Thing) else None
        if kind in ("optimizer", "scheduler", "scaler"):
            kinds.add(kind)
        elif any(w.startswith("sched") or w in ("lr",) for w in parts):
            kinds.add("scheduler")
        elif any(w in OPT or w.startswith("optim") for w in parts):
            kinds.add("optimizer")
        elif "scaler" in parts or "amp" in parts:
            kinds.add("scaler")
        elif isinstance(value, State) or any(w in ("model", "net", "state", "weights") for w in parts):
            kinds.add("model")
    return kinds


def _called(name: str) -> str | None:
    """The kind of an object that was handed in, by its name."""
    parts = words(name)
    if any(w in OPT or w.startswith("optim") for w in parts):
        return "optimizer"
    if any(w.startswith("sched") for w in parts):
        return "scheduler"
    return "scaler" if "scaler" in parts else None


def resumes(model) -> bool:
    """Does the file go on training from what it loads?"""
    return bool(model.of("load")) and bool(model.of("load_state")) and bool(model.of("backward"))


def resume_names(model) -> bool:
    """The file speaks of resuming, or starts its epochs elsewhere than at zero."""
    return any(
        "resume" in w.lower() or w.lower() in ("start_epoch", "first_epoch", "epoch_start", "initial_epoch")
        for w in model.words
    )


def trains(model, event) -> bool:
    """The save belongs to a training: the entry trains, or the file resumes."""
    return bool(model.entry(event, "backward"))
