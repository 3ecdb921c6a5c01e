"""What a process does once, before its first visitor, and what it does between visitors to stay quick."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import socket
from contextlib import suppress

import torch

from core.fit import Run
from core.trace import StepConfig, replay


def one_thread() -> None:
    """Let torch compute on one thread: the tensors are small, and sums come out in one order on every machine size.

    With visitors training at once, the threads of one would wait for those of another: an epoch takes up to three times
    as long, measured on two cores.
    """
    torch.set_num_threads(1)


def answer_at_once() -> None:
    """Turn Nagle's algorithm off for every connection that this process's listening sockets will accept.

    asyncio does so for sockets that name TCP as their protocol. Streamlit 1.67's does not, so a small message waited
    for the receipt of the one before, which a peer may put off for 40 ms: most of a click, measured on loopback.
    """
    for descriptor in range(3, 256):
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as listening:
            if listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)


def warm_up() -> None:
    """Pay for the first optimizer's imports now, and take all that is loaded out of the collector's way."""
    one_thread()
    replay(StepConfig(optimizer="adamw").resolved(), "flzbs")
    Run().step()
    tidy()


def tidy() -> None:
    """Collect garbage, then take what is left out of the collector's way."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


async def keep_tidy(seconds: float = 0.2, rounds: int = 300) -> None:
    """Streamlit collects garbage after every script run, which takes the longer the more there is that is none: over
    100 ms with torch loaded, and more with each click since. So what has come is frozen five times a second, which
    costs nothing, and once a minute all of it is looked through. (Frozen after each run, it would leave 20 kB a click.)
    """
    for n in itertools.count(1):
        await asyncio.sleep(seconds)
        if n % rounds:
            gc.freeze()
        else:
            tidy()
