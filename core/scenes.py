"""The scenes that the stepper plays: a model, its examples, its loss, and the right order of the calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.data import four_examples
from core.loop import LossFunction


class Scalar(nn.Module):
    """Exercise 3's model: one weight w = 1, whose output is 3w."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor(1.0))

    def forward(self, _xb: Tensor) -> Tensor:
        return 3 * self.w


@dataclass(frozen=True)
class Scene:
    """What a stepper needs to know to build a `TrainingLoop` and to name its parts."""

    name: str
    order: str
    """Codes of the calls of one optimizer step, in the right order."""
    watched: str
    """How a script writes the weight that the table follows."""
    build: Callable[[], nn.Module]
    batches: Callable[[], list[tuple[Tensor, Tensor]]]
    """The micro-batches that the forward calls take in turn: (inputs (N, 2), class indices (N,)) each."""
    loss_fn: LossFunction
    loss_divisor: int
    """By how much the loss is divided beyond the mean over the batch."""
    optimizer: str
    """Name of the optimizer that the scene starts with."""
    lines: dict[str, str]
    """Code of a call -> the line of a script that it stands for."""
    setup: str
    """The lines of a script that make the model and the data."""

    @property
    def is_classifier(self) -> bool:
        return self.build is not Scalar


def _linear() -> nn.Module:
    return nn.Linear(2, 3)


def _whole_batch() -> list[tuple[Tensor, Tensor]]:
    return [four_examples()]


def _micro_batches() -> list[tuple[Tensor, Tensor]]:
    x, y = four_examples()
    return [(x[:2], y[:2]), (x[2:], y[2:])]


def _no_batch() -> list[tuple[Tensor, Tensor]]:
    return [(torch.empty(0), torch.empty(0))]


def _half_cross_entropy(logits: Tensor, yb: Tensor) -> Tensor:
    return F.cross_entropy(logits, yb) / 2


def _half_square(output: Tensor, _yb: Tensor) -> Tensor:
    return output**2 / 2


_UPDATE_LINES = {"z": "opt.zero_grad()", "b": "loss.backward()", "s": "opt.step()"}
_LINEAR_SETUP = """\
model = nn.Linear(2, 3)
w = model.weight
x = torch.tensor([[0.5, -1.0], [1.5, 0.2], [-0.3, 0.8], [1.0, 1.0]])
y = torch.tensor([0, 2, 1, 2])
loss_fn = nn.CrossEntropyLoss()"""
_NEXT_MICRO_BATCH = "xb, yb = next(micro); logits = model(xb)"


def _accumulation(name: str, loss_fn: LossFunction, divisor: int, loss_line: str) -> Scene:
    return Scene(
        name=name,
        order="zflbflbs",
        watched="w[0,0]",
        build=_linear,
        batches=_micro_batches,
        loss_fn=loss_fn,
        loss_divisor=divisor,
        optimizer="sgd-momentum",
        lines={"f": _NEXT_MICRO_BATCH, "l": loss_line, **_UPDATE_LINES},
        setup=f"{_LINEAR_SETUP}\nmicro = itertools.cycle([(x[:2], y[:2]), (x[2:], y[2:])])",
    )


SCENES = {
    scene.name: scene
    for scene in (
        Scene(
            name="linear",
            order="flzbs",
            watched="w[0,0]",
            build=_linear,
            batches=_whole_batch,
            loss_fn=F.cross_entropy,
            loss_divisor=1,
            optimizer="sgd-momentum",
            lines={"f": "logits = model(xb)", "l": "loss = loss_fn(logits, yb)", **_UPDATE_LINES},
            setup=f"{_LINEAR_SETUP}\nxb, yb = x, y",
        ),
        Scene(
            name="scalar",
            order="flzbs",
            watched="w",
            build=Scalar,
            batches=_no_batch,
            loss_fn=_half_square,
            loss_divisor=1,
            optimizer="sgd",
            lines={"f": "output = 3 * w", "l": "loss = output ** 2 / 2", **_UPDATE_LINES},
            setup="w = torch.tensor(1.0, requires_grad=True)",
        ),
        _accumulation("accumulate", _half_cross_entropy, 2, "loss = loss_fn(logits, yb) / 2"),
        _accumulation("accumulate-undivided", F.cross_entropy, 1, "loss = loss_fn(logits, yb)"),
    )
}
