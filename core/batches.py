"""The batches that `DataLoader(TensorDataset(x, y), batch_size)` would serve, without putting each together by example.

To the bit, and to the last draw from the generators: what torch's loader draws without using it is drawn here too, so
that a run equals the script that anyone would write.
"""

from __future__ import annotations

import torch
from torch import Tensor


class ShuffledLoader:
    """The order of each epoch's rows, from a generator of its own: `shuffle=True, generator=g`.

    `state` is a uint8 tensor of 5,056 bytes; keep it in a checkpoint.
    """

    def __init__(self, n: int, batch_size: int, seed: int) -> None:
        self.n, self.batch_size = n, batch_size
        self._generator = torch.Generator().manual_seed(seed)

    @property
    def state(self) -> Tensor:
        return self._generator.get_state()

    @state.setter
    def state(self, state: Tensor) -> None:
        self._generator.set_state(state)

    def draw(self) -> tuple[Tensor, ...]:
        """The next epoch's row numbers, int64, a tensor for each batch; the last may be shorter."""
        draw_base_seed(self._generator)
        order = torch.randperm(self.n, generator=self._generator)
        torch.randperm(self.n, generator=self._generator)  # RandomSampler's remainder, of which it takes n % n rows
        return order.split(self.batch_size)


def draw_base_seed(generator: torch.Generator | None = None) -> None:
    """Draw what a DataLoader draws whenever it is iterated over, for workers it may not have.

    None is the default generator, as in a DataLoader that was given no generator of its own.
    """
    torch.empty((), dtype=torch.int64).random_(generator=generator)


def in_order(x: Tensor, y: Tensor, batch_size: int) -> list[tuple[Tensor, Tensor]]:
    """The batches without shuffling, for validation."""
    return list(zip(x.split(batch_size), y.split(batch_size), strict=True))
