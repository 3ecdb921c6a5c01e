"""Every source of randomness of a run, kept apart from every other run in the process.

`nn.Linear`, `nn.Dropout` and the rest draw from torch's default generator, and there is one of it for a whole process.
Streamlit runs its visitors as threads of one process: two of them training at once would change each other's numbers.
The remedy is a gate: whoever draws from the default generator holds the lock, and finds there the state it left behind.
(`torch.random.fork_rng` restores the state afterwards too, but holds no lock.)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

_gate = threading.RLock()


class RandomStream:
    """What torch's default generator would be to a run that had the process to itself.

    `state` is a uint8 tensor of 5,056 bytes, as `torch.get_rng_state()` returns it; keep it in a checkpoint.
    """

    def __init__(self, seed: int) -> None:
        self.state = torch.Generator().manual_seed(seed).get_state()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make this the default generator's state for the block; hold the gate meanwhile. Re-entrant by thread."""
        with _gate:
            outside = torch.get_rng_state()
            torch.set_rng_state(self.state)
            try:
                yield
            finally:
                self.state = torch.get_rng_state()
                torch.set_rng_state(outside)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run the block as if right after `torch.manual_seed(seed)`, leaving the process's generator as it was."""
    with RandomStream(seed).active():
        yield


def numpy_generator(seed: int) -> np.random.Generator:
    """A NumPy generator of one's own: NumPy's are objects, so they need no gate."""
    return np.random.default_rng(seed)
