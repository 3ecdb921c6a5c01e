"""The two switches of validation, train/eval and grad/no_grad, and what each of them does and does not do."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.batches import in_order
from core.config import Choice, Field, Number
from core.data import bazarghar
from core.fit import Run
from core.fit_config import FIELDS as FIT_FIELDS
from core.fit_config import FitConfig
from core.model import LAYERS
from core.rng import seeded
from core.turns import heavy

MODES = ("train", "eval")
GRADS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
}
"""Name -> the context in which a cell measures."""

FIELDS: dict[str, Field] = {
    "layers": Choice(LAYERS),
    "dropout": FIT_FIELDS["dropout"],
    "seed": FIT_FIELDS["seed"],
    "again": Number(0, 999, whole=True),
}
"""What the address may say: every field of `ModeConfig`."""


@dataclass(frozen=True)
class ModeConfig:
    """`again` counts how often "measure again" was pressed: every value of it draws other dropout masks."""

    layers: str = "dropout"
    dropout: float = 0.2
    seed: int = 0
    again: int = 0


@dataclass(frozen=True)
class Cell:
    """What one way to measure the val loss gives, on a copy of the best model that the run of this config reached."""

    mode: str
    grad: str
    losses: tuple[float, float]
    """The same measurement made twice, one right after the other; the mean over the 200 validation examples."""
    requires_grad: bool
    """Of the logits; so too `grad_fn`, the name of the node that made them, None if there is none."""
    grad_fn: str | None
    saved_bytes: int
    """What autograd kept for backward in one pass over the validation examples, apart from the model and the data."""
    saved_tensors: int
    statistics_moved: bool | None
    """Whether a pass changed the running mean or variance of a BatchNorm layer; None if there is no such layer."""
    left_training: bool
    """`model.training` afterwards: the mode in which the next epoch would begin."""
    later_error: str | None
    """What PyTorch says when the logits are used in a later computation with gradients; None if it lets them."""

    @property
    def steady(self) -> bool:
        return self.losses[0] == self.losses[1]


@lru_cache(maxsize=64)
def grid(config: ModeConfig) -> tuple[Cell, ...]:
    """The cells, by mode and then by grad. Each starts from the same random state and the same weights.

    So what differs between two cells is the work of the switches alone, to the bit.
    """
    model = _best_model(config)
    return tuple(_measure(copy.deepcopy(model), mode, grad, config) for mode in MODES for grad in GRADS)


def best_epoch(config: ModeConfig) -> int:
    """The epoch whose weights the cells measure."""
    return _trained(config.layers, config.dropout, config.seed).stopper.best_epoch


@heavy(16)
def _trained(layers: str, dropout: float, seed: int) -> Run:
    run = Run(fit_config(layers, dropout, seed))
    while not run.done:
        run.epoch()
    return run


def fit_config(layers: str, dropout: float, seed: int) -> FitConfig:
    return FitConfig(seed=seed, dropout=dropout, layers=layers)


def _best_model(config: ModeConfig) -> nn.Module:
    run = _trained(config.layers, config.dropout, config.seed)
    model = copy.deepcopy(run.model)
    model.load_state_dict(run.best_weights)
    return model


def _measure(model: nn.Module, mode: str, grad: str, config: ModeConfig) -> Cell:
    data = bazarghar()
    batches = in_order(data.x_val, data.y_val, 64)
    statistics = [buffer.clone() for buffer in model.buffers()]
    model.train(mode == "train")
    with GRADS[grad](), seeded(masks_seed(config)):
        losses, saved = [], _Saved(model, batches)
        for pass_ in range(2):
            total = 0.0
            for xb, yb in batches:
                if pass_ == 0:
                    with torch.autograd.graph.saved_tensors_hooks(saved.pack, saved.unpack):
                        logits = model(xb)
                        loss = F.cross_entropy(logits, yb)
                else:
                    logits = model(xb)
                    loss = F.cross_entropy(logits, yb)
                total += loss.item() * len(yb)
            losses.append(total / len(data.y_val))
    moved = [not torch.equal(a, b) for a, b in zip(statistics, model.buffers(), strict=True)]
    return Cell(
        mode=mode,
        grad=grad,
        losses=(losses[0], losses[1]),
        requires_grad=logits.requires_grad,
        grad_fn=None if logits.grad_fn is None else logits.grad_fn.name(),
        saved_bytes=saved.bytes,
        saved_tensors=len(saved.kept),
        statistics_moved=any(moved) if moved else None,
        left_training=model.training,
        later_error=_later(logits),
    )


def masks_seed(config: ModeConfig) -> int:
    """Keeps the masks of one press apart from those of the next, and from the seed that the weights came from."""
    return 1_000_003 * (config.again + 1) + config.seed


def _later(logits: Tensor) -> str | None:
    scale = torch.ones(3, requires_grad=True)
    try:
        logits * scale
    except RuntimeError as error:
        return str(error)
    return None


class _Saved:
    """Counts each piece of memory that autograd saves once, leaving out what exists anyway: parameters and data."""

    def __init__(self, model: nn.Module, batches: list[tuple[Tensor, Tensor]]) -> None:
        owned = [*model.parameters(), *model.buffers(), *(tensor for batch in batches for tensor in batch)]
        self._owned = {tensor.untyped_storage().data_ptr() for tensor in owned}
        self.kept: dict[int, Tensor] = {}

    @property
    def bytes(self) -> int:
        return sum(tensor.untyped_storage().nbytes() for tensor in self.kept.values())

    def pack(self, tensor: Tensor) -> Tensor:
        pointer = tensor.untyped_storage().data_ptr()
        if pointer not in self._owned:
            self.kept[pointer] = tensor  # held on to, so that its memory is not given to another
        return tensor

    def unpack(self, tensor: Tensor) -> Tensor:
        return tensor
