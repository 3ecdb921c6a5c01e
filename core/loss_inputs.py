"""What each loss takes: PyTorch's own answer to shapes and dtypes, and the mistakes to which it says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.config import Choice, Field
from core.messages import N_
from core.warned import taking

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "CrossEntropyLoss": nn.CrossEntropyLoss(),
    "BCEWithLogitsLoss": nn.BCEWithLogitsLoss(),
    "NLLLoss": nn.NLLLoss(),
}
INPUT_SHAPES = ((4, 3), (4, 1), (4,))
TARGET_SHAPES = ((4,), (4, 1), (4, 3))
INPUT_DTYPES = ("float32", "int64")
TARGET_DTYPES = ("int64", "int32", "float32")


def shape_code(shape: tuple[int, ...]) -> str:
    """The shape as an address writes it: (4, 3) is 4x3."""
    return "x".join(map(str, shape))


FIELDS: dict[str, Field] = {
    "loss": Choice(tuple(name.lower() for name in LOSSES)),
    "input_shape": Choice(tuple(map(shape_code, INPUT_SHAPES))),
    "input_dtype": Choice(INPUT_DTYPES),
    "target_shape": Choice(tuple(map(shape_code, TARGET_SHAPES))),
    "target_dtype": Choice(TARGET_DTYPES),
}
"""What the address may say."""

Case = tuple[str, tuple[int, ...], str, tuple[int, ...], str]
"""The arguments of `what_does_it_take`, and of `script`."""


def case_of(settings: Mapping[str, str]) -> Case:
    """The call that such settings mean."""
    return (
        next(name for name in LOSSES if name.lower() == settings["loss"]),
        tuple(map(int, settings["input_shape"].split("x"))),
        settings["input_dtype"],
        tuple(map(int, settings["target_shape"].split("x"))),
        settings["target_dtype"],
    )


@dataclass(frozen=True)
class Answer:
    """What PyTorch said to an input and a target: a loss or an error, and why."""

    loss: float | None
    error: str | None
    """Type and text of PyTorch's own exception."""
    cause: str
    """One English sentence, marked for translation."""
    fine: bool
    """True where the call is what the loss is made for; a call can return a number and still be a mistake."""


_FINE = {
    "CrossEntropyLoss": N_("Right: float logits of shape (N, C) and int64 class indices of shape (N,)."),
    "BCEWithLogitsLoss": N_("Right: float logits and float labels of one and the same shape."),
    "NLLLoss": N_(
        "The shapes and types are right, but NLLLoss wants log-probabilities: given raw logits it takes no logarithm, "
        "and its loss can even be negative. Put log_softmax before it, or use CrossEntropyLoss on the logits."
    ),
}
_INT_INPUT = N_("The input must be floating point: logits are real numbers, and no gradient flows to integers.")
_PROBABILITIES = N_(
    "A float target of the input's own shape is read as class probabilities: one-hot rows are fine, but "
    "(N,) int64 class indices say the same with less."
)
_ONE_EXAMPLE = N_(
    "A 1-D input is read as ONE example with N classes, and the float target as its N class probabilities: a number "
    "comes back, but not the loss of N examples. Labels of two classes belong to BCEWithLogitsLoss."
)
_ONE_CLASS = N_(
    "Only one class: its softmax is 1 whatever the logit, so the loss is 0 and so is every gradient; nothing is ever "
    "learned. One logit per example belongs to BCEWithLogitsLoss."
)
_ONE_CLASS_NLL = N_("With one column there is one class, and nothing to choose between; NLLLoss merely reads it back.")
_EXTRA_DIM = N_("Class indices have no second dimension: squeeze (N, 1) to (N,), or turn one-hot rows into indices.")
_INDEX_DTYPE = N_("Class indices must be int64 (PyTorch calls it Long): convert them with y.long().")
_SAME_SHAPE_INT = N_(
    "A target of the input's own shape is read as class probabilities, which must be floats; did you mean class "
    "indices of shape (N,)?"
)
_NO_CLASSES = N_("The input has no class dimension: it must be (N, C), one row of C numbers for each example.")
_BCE_SHAPE = N_("Input and target must have one and the same shape: squeeze the logits (N, 1) to (N,), or shape y so.")
_BCE_DTYPE = N_(
    "Labels of BCEWithLogitsLoss are floats, 0.0 or 1.0, for it multiplies by them: convert with y.float()."
)

_NOTICED = {
    "not implemented for": _INT_INPUT,
    "expected target dtype to be Long": _INDEX_DTYPE,
    "multi-target not supported": _EXTRA_DIM,
    "class probabilities": _SAME_SHAPE_INT,
    "must be the same as input size": _BCE_SHAPE,
    "can't be cast": _BCE_DTYPE,
    "For 1D input": _NO_CLASSES,
}
"""Words of an error -> its cause. Of several things wrong with a call, it is the one that PyTorch noticed."""
_AS_MEANT = (_FINE["CrossEntropyLoss"], _FINE["BCEWithLogitsLoss"], _PROBABILITIES)


def what_does_it_take(
    loss: str, input_shape: tuple[int, ...], input_dtype: str, target_shape: tuple[int, ...], target_dtype: str
) -> Answer:
    """Call the loss on fixed values of the given shapes and dtypes and report what PyTorch answered."""
    given, target = _example(input_shape, input_dtype, target_shape, target_dtype)
    kind = (loss, input_shape, input_dtype, target_shape, target_dtype)
    try:
        result = LOSSES[loss](given, target).item()
    except Exception as raised:  # whatever PyTorch raises is the lesson
        text = str(raised)
        noticed = next((cause for words, cause in _NOTICED.items() if words in text), None)
        if noticed is None or (noticed is _SAME_SHAPE_INT and len(input_shape) == 1):
            noticed = _cause(*kind)
        return Answer(None, f"{type(raised).__name__}: {text}", noticed, fine=False)
    cause = _cause(*kind)
    return Answer(result, None, cause, fine=cause in _AS_MEANT)


def _example(
    input_shape: tuple[int, ...], input_dtype: str, target_shape: tuple[int, ...], target_dtype: str
) -> tuple[Tensor, Tensor]:
    values = torch.tensor([2.0, 0.5, -1.0, 0.0, 1.5, -0.5, 1.0, -2.0, 0.5, -1.0, 0.0, 2.0])
    given = values[: math.prod(input_shape)].reshape(input_shape).to(getattr(torch, input_dtype))
    classes = input_shape[-1] if len(input_shape) > 1 else 2
    return given, _target(target_shape, getattr(torch, target_dtype), classes)


def _target(shape: tuple[int, ...], dtype: torch.dtype, classes: int) -> Tensor:
    """Class indices where each example has one number, one-hot rows where it has several."""
    indices = torch.tensor([0, 1, 2, 1]) % max(classes, 1)
    if shape[-1] == 3:
        return F.one_hot(indices % 3, 3).to(dtype)
    return indices.reshape(shape).to(dtype)


def _cause(
    loss: str, input_shape: tuple[int, ...], input_dtype: str, target_shape: tuple[int, ...], target_dtype: str
) -> str:
    """What there is to say about the call by its shapes and types alone."""
    same_shape = input_shape == target_shape
    whole_target = target_dtype != "float32"
    if loss == "BCEWithLogitsLoss":
        return _BCE_SHAPE if not same_shape else _BCE_DTYPE if whole_target else _FINE[loss]
    if loss == "CrossEntropyLoss" and same_shape and not whole_target:
        return {1: _ONE_EXAMPLE}.get(len(input_shape), _ONE_CLASS if input_shape[-1] == 1 else _PROBABILITIES)
    if len(input_shape) == 1:
        return _NO_CLASSES
    if len(target_shape) > 1:
        return _SAME_SHAPE_INT if loss == "CrossEntropyLoss" and same_shape else _EXTRA_DIM
    if target_dtype != "int64":
        return _INDEX_DTYPE
    if input_shape[-1] == 1:
        return _ONE_CLASS if loss == "CrossEntropyLoss" else _ONE_CLASS_NLL
    return _FINE[loss]


@dataclass(frozen=True)
class SilentCase:
    """A pair of lines that both run. `warning` is PyTorch's own, where it gives one."""

    key: str
    wrong_line: str
    right_line: str
    wrong: float
    right: float
    """The numbers that the two lines give."""
    why: str
    warning: str | None = None


_WRONG_DIM = N_(
    "dim=0 normalizes each column over the batch: the rows, one for each example, no longer sum to 1. "
    "The numbers shown are the sum of the first row."
)
_BROADCAST = N_(
    "(N, 1) against (N,) broadcasts to an N by N table: every prediction is compared with every label, so a perfect "
    "model does not get a loss of 0."
)
_FLOAT_LABELS = N_(
    "Float labels of shape (N, 1) beside one output column are read by CrossEntropyLoss as probabilities of a single "
    "class, whose softmax is always 1: the loss is 0 for every model, or nearly so, and no gradient comes back."
)


@lru_cache(maxsize=1)
def silent_cases() -> tuple[SilentCase, ...]:
    """Run the three cases that raise nothing; MSE's broadcast warns, and the warning is taken along."""
    logits = torch.tensor([[2.0, 1.5, 1.0], [0.0, 1.0, -0.5], [1.0, -2.0, 0.5], [-1.0, 0.0, 0.5]])
    y = torch.tensor([1.0, 2.0, 3.0, 4.0])
    perfect = y.unsqueeze(1)
    with taking("Using a target size") as taken:
        broadcast = F.mse_loss(perfect, y).item()
    one_logit = torch.tensor([[2.0], [0.5], [-1.0], [0.0]])
    labels = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    return (
        SilentCase(
            key="softmax-dim",
            wrong_line="torch.softmax(logits, dim=0)",
            right_line="torch.softmax(logits, dim=1)",
            wrong=torch.softmax(logits, dim=0)[0].sum().item(),
            right=torch.softmax(logits, dim=1)[0].sum().item(),
            why=_WRONG_DIM,
        ),
        SilentCase(
            key="mse-broadcast",
            wrong_line="F.mse_loss(prediction, y)",
            right_line="F.mse_loss(prediction.squeeze(1), y)",
            wrong=broadcast,
            right=F.mse_loss(perfect.squeeze(1), y).item(),
            why=_BROADCAST,
            warning=taken[0] if taken else None,
        ),
        SilentCase(
            key="float-labels",
            wrong_line="nn.CrossEntropyLoss()(logit, labels)",
            right_line="nn.BCEWithLogitsLoss()(logit, labels)",
            wrong=abs(F.cross_entropy(one_logit, labels).item()),  # PyTorch gives -0.0
            right=F.binary_cross_entropy_with_logits(one_logit, labels).item(),
            why=_FLOAT_LABELS,
        ),
    )


def script(
    loss: str, input_shape: tuple[int, ...], input_dtype: str, target_shape: tuple[int, ...], target_dtype: str
) -> str:
    """A file that makes the same call and prints the loss, or PyTorch's own error."""
    given, target = _example(input_shape, input_dtype, target_shape, target_dtype)
    return f"""\
import torch
from torch import nn

given = torch.tensor({given.tolist()}, dtype=torch.{input_dtype})
target = torch.tensor({target.tolist()}, dtype=torch.{target_dtype})
try:
    print(f"{{nn.{loss}()(given, target).item():.4f}}")
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""
