"""The training loop: five calls, each one real PyTorch call. Nothing here knows who drives it, or how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

CALLS = {"f": "forward", "l": "loss", "z": "zero_grad", "b": "backward", "s": "step"}
"""Code -> name of each call, in the right order."""

LossFunction = Callable[[Tensor, Tensor], Tensor]


class TrainingLoop:
    """A model, a loss function and an optimizer, and the five calls that train them.

    `logits` and `loss_tensor` are what a script would hold in its variables `logits` and `loss`. Until the call that
    sets them they do not exist, and using them raises the NameError that a script would get.
    """

    def __init__(
        self,
        model: nn.Module,
        loss_fn: LossFunction,
        optimizer: torch.optim.Optimizer,
        *,
        set_to_none: bool = True,
    ) -> None:
        self.model = model
        self.loss_fn = loss_fn
        self.optimizer = optimizer
        self.set_to_none = set_to_none
        self.logits: Tensor | None = None
        self.loss_tensor: Tensor | None = None

    def forward(self, xb: Tensor) -> None:
        """Compute `logits` from the inputs; autograd writes the graph as it goes."""
        self.logits = self.model(xb)

    def loss(self, yb: Tensor) -> None:
        """Compare `logits` with the targets: one scalar, one more node on the graph."""
        if self.logits is None:
            raise NameError("name 'logits' is not defined", name="logits")
        self.loss_tensor = self.loss_fn(self.logits, yb)

    def zero_grad(self) -> None:
        """Forget the gradients of every parameter: to None, or to zeros when `set_to_none` is False."""
        self.optimizer.zero_grad(set_to_none=self.set_to_none)

    def backward(self) -> None:
        """Add d loss / d parameter to every `.grad`, and free the graph."""
        if self.loss_tensor is None:
            raise NameError("name 'loss' is not defined", name="loss")
        self.loss_tensor.backward()

    def step(self) -> None:
        """Move every parameter whose `.grad` is not None."""
        self.optimizer.step()

    def batch(self, xb: Tensor, yb: Tensor) -> None:
        """Train on one batch: the five calls in the right order."""
        self.forward(xb)
        self.loss(yb)
        self.zero_grad()
        self.backward()
        self.step()


def evaluate(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], loss_fn: LossFunction) -> tuple[float, float]:
    """Mean loss and accuracy over all examples of `batches`, in eval mode and without a graph.

    Each batch counts by its size, so that a short last one does not weigh as much as a full one. The model is left in
    the mode that it was found in.
    """
    was_training = model.training
    model.eval()
    total, correct, n = 0.0, 0, 0
    with torch.no_grad():
        for xb, yb in batches:
            logits = model(xb)
            total += loss_fn(logits, yb).item() * len(yb)
            correct += (logits.argmax(1) == yb).sum().item()
            n += len(yb)
    model.train(was_training)
    return total / n, correct / n
