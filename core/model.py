"""The model that tells the customers' segments apart."""

from __future__ import annotations

from torch import nn

LAYERS = ("dropout", "batchnorm", "both")
"""What follows each hidden layer, besides ReLU."""


def make_model(
    features: int, classes: int, hidden: int = 128, dropout: float = 0.2, layers: str = "dropout"
) -> nn.Module:
    """Two hidden layers: 17,667 parameters for 5 features, 3 classes and the defaults.

    Draws the weights from torch's default generator: hold the run's stream.
    """
    modules: list[nn.Module] = []
    for width in (features, hidden):
        modules.append(nn.Linear(width, hidden))
        if layers != "dropout":
            modules.append(nn.BatchNorm1d(hidden))
        modules.append(nn.ReLU())
        if layers != "batchnorm":
            modules.append(nn.Dropout(dropout))
    return nn.Sequential(*modules, nn.Linear(hidden, classes))
