"""The settings of a run, within what bounds a stranger may choose them, and how they are read out of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.optim import lr_scheduler

from core.checkpoint import Checkpoint, CheckpointError
from core.config import Choice, Field, Number, parse_settings, write_setting
from core.messages import N_
from core.model import LAYERS

OPTIMIZERS = ("adamw", "sgd", "sgd-momentum")
SCHEDULERS = ("none", "step", "cosine", "plateau")

FIELDS: dict[str, Field] = {
    "seed": Number(0, 2**32 - 1, whole=True),
    "lr": Number(0, 10),
    "weight_decay": Number(0, 1),
    "patience": Number(1, 100, whole=True),
    "dropout": Number(0, 0.9),
    "batch_size": Number(4, 400, whole=True),
    "optimizer": Choice(OPTIMIZERS, {"sgd_momentum": "sgd-momentum", "momentum": "sgd-momentum", "adam-w": "adamw"}),
    "scheduler": Choice(SCHEDULERS),
    "max_epochs": Number(1, 100, whole=True),
    "hidden": Number(1, 256, whole=True),
    "layers": Choice(LAYERS),
}
"""What the address, the command line and a checkpoint may say: every field of `FitConfig`."""

FREE_ON_RESUME = ("patience", "max_epochs")
"""The settings that a resumed run may change: they decide when to end, not how to train."""


@dataclass(frozen=True)
class FitConfig:
    """All that a run depends on, apart from its data."""

    seed: int = 0
    """Of the weights and the dropout masks, and, in a generator of its own, of the order of the rows."""
    lr: float = 3e-3
    weight_decay: float = 1e-2
    patience: int = 8
    """So many epochs without a lower val loss end the run."""
    dropout: float = 0.2
    batch_size: int = 64
    optimizer: str = "adamw"
    scheduler: str = "none"
    """"step" halves lr every 4 epochs, "cosine" takes it to 0 by epoch 20, "plateau" halves it after 2 bad epochs."""
    max_epochs: int = 100
    hidden: int = 128
    layers: str = "dropout"

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        if self.optimizer == "adamw":
            return torch.optim.AdamW(model.parameters(), lr=self.lr, weight_decay=self.weight_decay)
        momentum = 0.9 if self.optimizer == "sgd-momentum" else 0.0
        return torch.optim.SGD(model.parameters(), lr=self.lr, momentum=momentum, weight_decay=self.weight_decay)

    def make_scheduler(self, optimizer: torch.optim.Optimizer) -> Any:
        if self.scheduler == "step":
            return lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
        if self.scheduler == "cosine":
            return lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
        if self.scheduler == "plateau":
            return lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
        return None


def config_of(checkpoint: Checkpoint) -> FitConfig:
    """The config that a checkpoint was saved with; raises CheckpointError if it is not one that could have been."""
    given = checkpoint.get("config")
    if not isinstance(given, dict) or set(given) != set(FIELDS):
        raise CheckpointError(N_("The file is not a checkpoint of such a run: it has no config of its settings."))
    values, errors = parse_settings(FIELDS, {name: write_setting(value) for name, value in given.items()})
    if errors:
        name, allowed = errors[0].name, FIELDS[errors[0].name].help()
        template = N_("In the file, {name} cannot be {value}; allowed: {allowed}.")
        raise CheckpointError(template, name=name, value=repr(errors[0].value), allowed=allowed)
    return FitConfig(**values)
