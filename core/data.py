"""The data that the pages train on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


def four_examples() -> tuple[Tensor, Tensor]:
    """The lesson's batch: inputs of shape (4, 2), class indices (0 to 2) of shape (4,)."""
    x = torch.tensor([[0.5, -1.0], [1.5, 0.2], [-0.3, 0.8], [1.0, 1.0]])
    y = torch.tensor([0, 2, 1, 2])
    return x, y


@dataclass(frozen=True)
class Points:
    """Points of the plane in three classes: inputs (N, 2) float64, class indices (N,) int64."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_val: np.ndarray
    y_val: np.ndarray


def three_class_points(rng: np.random.Generator) -> Points:
    """300 points around three centres, 240 to train on and 60 to validate; 15 in 100 get a label drawn afresh."""
    centres = np.array([[0, 2], [2, -1], [-2, -1]])
    y = rng.integers(0, 3, 300)
    x = rng.normal(0, 1.1, (300, 2)) + centres[y]
    redrawn = rng.random(300) < 0.15
    y = np.where(redrawn, rng.integers(0, 3, 300), y)
    return Points(x[:240], y[:240], x[240:], y[240:])
