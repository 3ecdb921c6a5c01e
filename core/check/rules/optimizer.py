"""Optimizer: which parameters it holds."""

from __future__ import annotations

import ast

from core.check.names import words
from core.check.rule import ERROR, WARNING, rule
from core.check.values import Params, Thing
from core.messages import N_

from .common import escapes, inside, models_of, related

COPIES = frozenset(("target", "tgt", "teacher", "ema", "momentum", "frozen", "reference"))
"""What a model is called that follows another, or is held still."""


@rule(
    "FC901",
    N_("Parameters no optimizer knows"),
    WARNING,
    N_("{model} takes part in the loss, and no optimizer holds its parameters: it stays as it was initialised."),
    N_("Give the optimizer its parameters too, or freeze it and say so with requires_grad_(False)."),
    "/glossary?find=param_groups",
)
def parameters_missing(model):
    """A model made here, in train mode in a loss that goes backward, in no optimizer; or layers kept in a
    plain list.
    """
    yield from _plain_lists(model)
    optimizers = model.of("optimizer")
    if (
        not optimizers
        or any(models_of(e.obj) is None for e in optimizers)
        or model.of("freeze", "add_param_group", "hook", "manual_step")
    ):
        return
    held = [m for e in optimizers for m in models_of(e.obj)]
    said = set()
    followers = {m for e in model.of("zip") for v in e.value if isinstance(v, Params) for m in v.models or ()}
    for event in model.of("backward"):
        for one in event.value.models:
            if (
                one in said
                or not isinstance(one, Thing)
                or one.kind != "model"
                or not one.line
                or one.data.get("parent") is not None
            ):
                continue
            if one.data.get("pretrained") or not _has_parameters(one) or escapes(model, one):
                continue
            if (
                any(related(one, m) for m in held)
                or any(one in _parts(m) for m in held)
                or any(m in _parts(one) for m in held)
            ):
                continue
            if any(m.value == "eval" and inside(one, m.obj) for m in model.of("mode")) or one.data.get("copied"):
                continue
            if one in followers or COPIES & set(words(one.name)):
                continue
            if any(e.obj is one for e in model.of("load_state")) or (event.data["how"] == "engine" and not event.loops):
                continue
            steps = [s for s in model.entry(event, "step") if s.obj is not None]
            if not steps:
                continue
            said.add(one)
            yield one.line, {"model": one.name or one.cls}


def _parts(thing, depth=0):
    """Every module a module holds."""
    if depth > 6 or not isinstance(thing, Thing):
        return
    children = [a for a in thing.attrs.values() if isinstance(a, Thing)] + list(thing.data.get("layers") or [])
    for child in children:
        yield child
        yield from _parts(child, depth + 1)


def _has_parameters(thing) -> bool:
    if thing.data.get("local") is not None:
        bases = thing.data["local"].base_names()
        return any(
            isinstance(a, Thing) and a.kind == "model" and _has_parameters(a) for a in thing.attrs.values()
        ) and not any("Loss" in b for b in bases)
    if thing.data.get("layers"):
        return any(_has_parameters(layer) for layer in thing.data["layers"])
    frozen = thing.data.get("kwargs", {}).get("requires_grad")
    if thing.cls == "Parameter":
        return frozen is None
    return thing.cls in ("Linear", "LazyLinear", "Embedding", "LSTM", "GRU", "RNN") or thing.cls.startswith(
        ("Conv", "LazyConv", "BatchNorm", "LSTM", "GRU")
    )


def _plain_lists(model):
    """`self.layers = [nn.Linear(...), ...]` in a Module: a plain list hides its parameters."""
    for cls in model.classes:
        bases = [ast.unparse(b) for b in cls.bases]
        if not any(b.endswith("Module") for b in bases):
            continue
        for node in ast.walk(cls):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
                continue
            value = node.value
            items = (
                value.elts if isinstance(value, ast.List) else [value.elt] if isinstance(value, ast.ListComp) else []
            )
            made = [
                i
                for i in items
                if isinstance(i, ast.Call)
                and ast.unparse(i.func).rpartition(".")[2] in ("Linear", "Conv1d", "Conv2d", "Embedding", "LSTM", "GRU")
            ]
            name = node.targets[0].attr
            if made and len(made) == len(items) and not _registered(cls, name):
                yield node.lineno, {"model": f"self.{name}"}


def _registered(cls, name) -> bool:
    """The list is turned into a ModuleList or a Sequential, or each layer is registered."""
    text = ast.unparse(cls)
    return (
        f"ModuleList(self.{name})" in text
        or f"Sequential(*self.{name})" in text
        or "add_module" in text
        or "register_module" in text
    )


@rule(
    "FC902",
    N_("A layer replaced after the optimizer was built"),
    ERROR,
    N_(
        "{layer} is replaced after {optimizer} (line {at}) took the parameters: the optimizer goes on "
        "with those of the old layer, and "
        "the new one never trains."
    ),
    N_("Build the optimizer after the model is complete."),
    "/glossary?find=param_groups",
)
def replaced_after_optimizer(model):
    """A module set on a model whose parameters an optimizer already has, and no optimizer built again after it."""
    for event in model.of("setattr"):
        value = event.value
        if (
            not isinstance(value, Thing)
            or value.cls in ("Identity", "Dropout", "ReLU", "Flatten")
            or (not _has_parameters(value) and value.cls)
        ):
            continue
        built = [o for o in model.entry(event, "optimizer") if o.index < event.index and _holds(o.obj, event.obj)]
        again = [o for o in model.entry(event, "optimizer", "add_param_group") if o.index > event.index]
        if built and not again:
            last = built[-1]
            yield (
                event.line,
                {"layer": event.data["name"] or value.cls, "optimizer": last.obj.name or "optimizer", "at": last.line},
            )


def _holds(optimizer, owner) -> bool:
    held = models_of(optimizer)
    return held is not None and any(related(owner, m) for m in held)


@rule(
    "FC903",
    N_("The optimizer was built before the model moved"),
    WARNING,
    N_(
        "{cls} makes its state when it is built, on the device the parameters are on then; the model "
        "is moved on line {at}, and the "
        "state stays behind."
    ),
    N_("Move the model first, then build the optimizer."),
    "/optimizers",
)
def built_before_move(model):
    """to(device) after an optimizer that makes its state at once."""
    for event in model.of("to_device"):
        for built in model.entry(event, "optimizer"):
            if built.obj.cls == "Adagrad" and built.index < event.index and _holds(built.obj, event.obj):
                yield built.line, {"cls": built.obj.cls, "at": event.line}
