"""The data that the pages train on."""

from __future__ import annotations

import torch
from torch import Tensor


def four_examples() -> tuple[Tensor, Tensor]:
    """The lesson's batch: inputs of shape (4, 2), class indices (0 to 2) of shape (4,)."""
    x = torch.tensor([[0.5, -1.0], [1.5, 0.2], [-0.3, 0.8], [1.0, 1.0]])
    y = torch.tensor([0, 2, 1, 2])
    return x, y
