"""Losses on logits: softmax once and twice, and one logit with and without the fused loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.config import Choice, Field, Number

FIELDS: dict[str, Field] = {
    "z0": Number(-10, 10),
    "z1": Number(-10, 10),
    "z2": Number(-10, 10),
    "target": Choice(("0", "1", "2")),
    "logit": Number(-200, 200),
    "label": Choice(("0", "1")),
    "dtype": Choice(("float32", "float16", "bfloat16")),
}
"""What the address may say: three logits and the true class; one logit, its label and type."""


@dataclass(frozen=True)
class Path:
    """One example's way from its logits to its loss, and back by autograd. Lists have C numbers each."""

    probabilities: tuple[float, ...]
    """What the loss takes for probabilities: the softmax of whatever it was given."""
    loss: float
    gradient: tuple[float, ...]
    """d loss / d logits."""
    norm: float
    """Euclidean length of `gradient`."""


@dataclass(frozen=True)
class LogitsReport:
    """One example seen by cross-entropy the right way (on logits) and after a softmax too many."""

    logits: tuple[float, ...]
    target: int
    right: Path
    twice: Path
    floor: float
    """What the loss of `twice` can never go below."""
    module: float
    function: float
    by_hand: float
    """The right loss in three spellings: `nn.CrossEntropyLoss()`, `F.cross_entropy`, `-F.log_softmax(...)[target]`."""

    @property
    def ratio(self) -> float:
        """How many times longer the right gradient is; infinite where the other one underflows to zero."""
        return self.right.norm / self.twice.norm if self.twice.norm else math.inf


def softmax_twice_floor(classes: int) -> float:
    """The least cross-entropy that probabilities given as logits can reach: a perfect (1, 0, ..., 0) for C classes."""
    return -math.log(math.e / (math.e + classes - 1))


def report_logits(logits: tuple[float, ...], target: int) -> LogitsReport:
    """Measure one example of C logits in float64, whose true class is `target` (0 to C - 1)."""
    z = torch.tensor([logits], dtype=torch.float64)
    y = torch.tensor([target])
    return LogitsReport(
        logits=tuple(float(value) for value in logits),
        target=target,
        right=_path(z, y, lambda given: given),
        twice=_path(z, y, lambda given: torch.softmax(given, dim=1)),
        floor=softmax_twice_floor(len(logits)),
        module=nn.CrossEntropyLoss()(z, y).item(),
        function=F.cross_entropy(z, y).item(),
        by_hand=-F.log_softmax(z, dim=1)[0, target].item(),
    )


def _path(logits: Tensor, y: Tensor, before_loss: Callable[[Tensor], Tensor]) -> Path:
    z = logits.clone().requires_grad_()
    given = before_loss(z)
    loss = F.cross_entropy(given, y)
    loss.backward()
    return Path(
        probabilities=tuple(torch.softmax(given.detach(), dim=1)[0].tolist()),
        loss=loss.item(),
        gradient=tuple(z.grad[0].tolist()),
        norm=z.grad.norm().item(),
    )


DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
"""The types that the CPU computes both losses in."""


@dataclass(frozen=True)
class BinarySweep:
    """Loss and d loss / d logit at each logit, by `BCEWithLogitsLoss` (`fused`) and by `sigmoid` + `BCELoss` (`split`).

    A gradient may be NaN: float16 cannot hold the small number that `BCELoss` divides by.
    """

    dtype: str
    label: int
    logits: tuple[float, ...]
    """As the dtype rounds them."""
    fused_loss: tuple[float, ...]
    fused_gradient: tuple[float, ...]
    split_loss: tuple[float, ...]
    split_gradient: tuple[float, ...]


def sweep_logit(
    label: int, dtype: str = "float32", low: float = -200.0, high: float = 200.0, points: int = 401
) -> BinarySweep:
    """Sweep one logit from `low` to `high`; `label` is 0 or 1, `dtype` a name in `DTYPES`."""
    logits = torch.linspace(low, high, points).to(DTYPES[dtype])
    target = torch.full_like(logits, label)
    fused = _each(logits, lambda z: F.binary_cross_entropy_with_logits(z, target, reduction="none"))
    split = _each(logits, lambda z: F.binary_cross_entropy(torch.sigmoid(z), target, reduction="none"))
    return BinarySweep(dtype, label, tuple(logits.tolist()), *fused, *split)


def at_logit(logit: float, label: int, dtype: str = "float32") -> BinarySweep:
    """The same at one logit alone."""
    return sweep_logit(label, dtype, logit, logit, points=1)


def _each(logits: Tensor, loss_fn: Callable[[Tensor], Tensor]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    z = logits.clone().requires_grad_()
    losses = loss_fn(z)
    losses.sum().backward()  # every logit has a loss of its own, so the gradient of the sum is each one's gradient
    return tuple(losses.tolist()), tuple(z.grad.tolist())


def logits_script(logits: tuple[float, ...], target: int) -> str:
    """A file that prints what `report_logits` holds of both ways, to four digits."""
    return f"""\
import torch
from torch import nn
from torch.nn import functional as F

y = torch.tensor([{target}])
for name in ("right", "twice"):
    z = torch.tensor([{list(map(float, logits))}], dtype=torch.float64, requires_grad=True)
    given = z if name == "right" else torch.softmax(z, dim=1)
    loss = F.cross_entropy(given, y)
    loss.backward()
    print(f"{{name}} loss = {{loss.item():.4f}}   |grad| = {{z.grad.norm().item():.4f}}")
    print("      softmax ", " ".join(f"{{p:.4f}}" for p in torch.softmax(given, dim=1)[0].tolist()))
    print("      gradient", " ".join(f"{{g:.4f}}" for g in z.grad[0].tolist()))
print(f"module {{nn.CrossEntropyLoss()(z, y).item():.4f}}  function {{F.cross_entropy(z, y).item():.4f}}"
      f"  by hand {{-F.log_softmax(z, dim=1)[0, {target}].item():.4f}}")
"""


def logit_script(logit: float, label: int, dtype: str = "float32") -> str:
    """A file that prints loss and gradient of one logit, with the fused loss and with sigmoid and `BCELoss` apart."""
    return f"""\
import torch
from torch import nn

label = torch.tensor([{float(label)}], dtype=torch.{dtype})
for name in ("BCEWithLogitsLoss", "sigmoid, then BCELoss"):
    z = torch.tensor([{float(logit)}], dtype=torch.{dtype}, requires_grad=True)
    loss = nn.BCEWithLogitsLoss()(z, label) if name == "BCEWithLogitsLoss" else nn.BCELoss()(torch.sigmoid(z), label)
    loss.backward()
    print(f"{{name:<21}}  loss = {{loss.item():.4f}}  gradient = {{z.grad.item():.4f}}")
"""
