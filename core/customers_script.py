"""The lines of a script to take home that make the customers: the same numbers, without this project."""

from __future__ import annotations

from core import data

_ROWS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# The customers: 600 of three segments, 10% of the labels flipped; 200 of them for validation.
g = torch.Generator().manual_seed({data_seed})
means = torch.tensor({means}, dtype=torch.float64)
spreads = torch.tensor({spreads}, dtype=torch.float64)
units = torch.tensor({units}, dtype=torch.float64)
lowest, highest = torch.tensor({lowest}, dtype=torch.float64), torch.tensor({highest}, dtype=torch.float64)
y = torch.arange(600) % 3
noise = torch.randn(600, 5, generator=g, dtype=torch.float64)
x = (((means[y] + spreads * noise) / units).round() * units).clamp(lowest, highest)
flipped = torch.randperm(600, generator=g)[:60]
y[flipped] = (y[flipped] + torch.randint(1, 3, (60,), generator=g)) % 3
rows = torch.randperm(600, generator=g)
val, train = rows[:200], rows[200:]
x = ((x - x[train].mean(0)) / x[train].std(0)).float()
"""
_LOADERS = """\

torch.set_num_threads(1)
torch.manual_seed({seed})
shuffle = torch.Generator().manual_seed({seed})
train_loader = DataLoader(TensorDataset(x[train], y[train]), batch_size={batch_size}, shuffle=True, generator=shuffle)
val_loader = DataLoader(TensorDataset(x[val], y[val]), batch_size=64)
loss_fn = nn.CrossEntropyLoss()
"""


def customers_lines(seed: int, batch_size: int) -> str:
    """Imports, data, loaders and loss; the default generator is left where `torch.manual_seed(seed)` puts it."""
    return customer_rows() + _LOADERS.format(seed=seed, batch_size=batch_size)


def customer_rows() -> str:
    """Imports and data alone: `x`, `y`, and the row numbers `train` and `val`."""
    return _ROWS.format(
        data_seed=data.DATA_SEED,
        means=data._MEANS,
        spreads=data._SPREADS,
        units=data._UNITS,
        lowest=data._LOWEST,
        highest=data._HIGHEST,
    )
