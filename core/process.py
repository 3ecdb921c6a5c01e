"""What a process does once, before its first visitor."""

from __future__ import annotations

import gc

import torch

from core.fit import Run
from core.trace import StepConfig, replay


def one_thread() -> None:
    """Let torch compute on one thread: the tensors are small, and sums come out in one order on every machine size.

    With visitors training at once, the threads of one would wait for those of another: an epoch takes up to three times
    as long, measured on two cores.
    """
    torch.set_num_threads(1)


def warm_up() -> None:
    """Pay for the first optimizer's imports now, and take all that is loaded out of the collector's way.

    Streamlit collects garbage after every script run; with torch loaded that takes over 100 ms unless it is frozen.
    """
    one_thread()
    replay(StepConfig(optimizer="adamw").resolved(), "flzbs")
    Run().step()
    gc.collect()
    gc.freeze()
