"""Targets: what a loss function compares with."""

from __future__ import annotations

from core.check.names import REGRESSION_LOSSES
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Tensor
from core.messages import N_


def targets(model, *classes):
    """(loss event, prediction, target) for losses of these classes."""
    for event in model.of("loss"):
        if event.data["cls"] in classes and len(event.args) > 1:
            yield event, event.args[0], event.args[1]


@rule(
    "FC121",
    N_("One-hot integers as target"),
    ERROR,
    N_(
        "{loss} is given one-hot integers (line {at}). Integers mean class indices to it, of shape "
        "(N,); a table of zeros and ones "
        "fails, or is read as classes 0 and 1."
    ),
    N_("Pass the class indices themselves, or turn the one-hot table into floats."),
    "/losses?view=takes&loss=crossentropyloss&input_shape=4x3&target_shape=4x3&target_dtype=int64",
)
def one_hot_target(model):
    """one_hot without .float() into cross-entropy or NLL."""
    for event, _, target in targets(model, "CrossEntropyLoss", "NLLLoss"):
        if isinstance(target, Tensor) and target.onehot and (target.dtype == "int" or event.data["cls"] == "NLLLoss"):
            yield event.line, {"loss": event.data["cls"], "at": target.onehot}


@rule(
    "FC122",
    N_("Float labels where class indices are due"),
    ERROR,
    N_(
        "{loss} is given float labels. Floats mean one probability for each class to it, so labels of "
        "shape (N,) raise an error."
    ),
    N_("Keep the labels as integers: labels.long()."),
    "/losses?view=takes&loss=crossentropyloss&input_shape=4x3&target_shape=4&target_dtype=float32",
)
def float_target(model):
    """A flat float target into cross-entropy or NLL."""
    for event, pred, target in targets(model, "CrossEntropyLoss", "NLLLoss"):
        if not isinstance(target, Tensor) or target.dtype != "float" or target.onehot or target.models or target.act:
            continue
        drawn = target.plain and target.loader is None and target.shape is None
        labels = target.loader is not None or target.shape == "flat"
        if labels and not drawn and target.shape != "col" and not target.forwards and not _named_soft(event):
            yield event.line, {"loss": event.data["cls"]}
        elif target.of == "labels" and target.shape is None and not _named_soft(event):
            yield event.line, {"loss": event.data["cls"]}, INFO  # a table of probabilities may go by that name too
        del pred


def _named_soft(event) -> bool:
    """Soft targets, mixup and label smoothing are floats on purpose."""
    loop = event.loops[-1] if event.loops else None
    text = " ".join(f.name for f in event.frame.chain()).lower()
    return any(w in text for w in ("mix", "soft", "distil")) or loop is None


@rule(
    "FC123",
    N_("Targets of shape (N, 1) where (N,) is due"),
    ERROR,
    N_("{loss} wants class indices of shape (N,), and the target here has shape (N, 1): it raises an error."),
    N_("Take the extra dimension away: target.squeeze(1)."),
    "/losses?view=takes&loss=crossentropyloss&input_shape=4x3&target_shape=4x1&target_dtype=int64",
)
def column_target(model):
    """A column of labels into cross-entropy or NLL."""
    for event, pred, target in targets(model, "CrossEntropyLoss", "NLLLoss"):
        wide = isinstance(pred, Tensor) and pred.shape == "col"
        if isinstance(target, Tensor) and target.shape == "col" and not wide and not target.act and not target.forwards:
            yield event.line, {"loss": event.data["cls"]}


@rule(
    "FC124",
    N_("Class labels start at one"),
    ERROR,
    N_(
        "{loss} counts classes from 0, and the labels are made to start at 1 (line {at}): the highest "
        "one is out of range, and "
        "class 0 never occurs."
    ),
    N_("Number the classes from 0."),
    "/glossary?find=class+index",
)
def labels_from_one(model):
    """Labels known to start at one into cross-entropy or NLL."""
    said = set()
    for event, _, target in targets(model, "CrossEntropyLoss", "NLLLoss"):
        if not isinstance(target, Tensor) or not target.base or target.base in said:
            continue
        if not event.data["options"].get("ignore_index"):
            said.add(target.base)
            values = {"loss": event.data["cls"], "at": target.base}
            yield target.base, values, INFO if target.unsure else ERROR


@rule(
    "FC125",
    N_("A column against a row: the loss broadcasts"),
    ERROR,
    N_(
        "One side of {loss} has shape (N, 1) and the other (N,). They are stretched to (N, N), every "
        "prediction is compared with "
        "every target, and the model learns the mean."
    ),
    N_("Give both the same shape: prediction.squeeze(1), or target.unsqueeze(1)."),
    "/losses?view=takes&loss=bcewithlogitsloss&input_shape=4x1&target_shape=4&target_dtype=float32",
)
def broadcasting(model):
    """(N, 1) against (N,) in a regression loss or a difference."""
    for event, pred, target in targets(model, *REGRESSION_LOSSES, "BCELoss", "BCEWithLogitsLoss"):
        if _shapes_clash(pred, target):
            yield event.line, {"loss": event.data["cls"]}
    for event in model.of("difference"):
        a, b = event.value
        if _shapes_clash(a, b) and any(isinstance(t, Tensor) and t.models for t in (a, b)):
            yield event.line, {"loss": "-"}


def _shapes_clash(a, b) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return False
    return {a.shape, b.shape} == {"col", "flat"}


@rule(
    "FC126",
    N_("Integer targets in a loss that wants floats"),
    WARNING,
    N_("{loss} compares floats, and its target is made of integers here: it raises an error about the data type."),
    N_("Turn the target into floats: target.float()."),
    "/losses?view=takes&loss=bcewithlogitsloss&input_shape=4&target_shape=4&target_dtype=int64",
)
def integer_target(model):
    """An integer target in a BCE loss."""
    for event, _, target in targets(model, "BCELoss", "BCEWithLogitsLoss"):
        if isinstance(target, Tensor) and target.dtype == "int" and not target.forwards:
            yield event.line, {"loss": event.data["cls"]}
