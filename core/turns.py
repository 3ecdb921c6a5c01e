"""Turns at heavy work: a process trains for one visitor at a time, and who waits can be told the place in the queue.

Small tensors keep Python's one lock busy, so two runs side by side take as long as one after the other, and everybody
else's click waits for both. A turn that lasts longer than a second is given up between epochs if somebody waits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from core.kept import Kept, keeping

log = logging.getLogger("five_calls")


class Turns:
    """A queue in the order of asking; its first `at_once` are at work.

    `tell(place)` is called from the waiting thread about four times a second, from `patience` seconds on: 1 is who
    comes next, and a last call with 0 says that the wait is over. It may raise, and who raises has left the queue.
    """

    def __init__(self, at_once: int = 1, patience: float = 0.4, longest: float = 1.0) -> None:
        self.at_once, self.patience, self.longest = at_once, patience, longest
        self.tell: Callable[[int], None] = lambda place: None
        self._queue: list[object] = []
        self._moved = threading.Condition()
        self._mine = threading.local()

    def __len__(self) -> int:
        """How many are at work or waiting."""
        return len(self._queue)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and hold it for the block. Within a turn of the same thread, nothing to wait for."""
        if getattr(self._mine, "ticket", None) is not None:
            yield
            return
        ticket = object()
        self._mine.ticket = ticket
        with self._moved:
            self._queue.append(ticket)
        try:
            self._wait(ticket)
            yield
        finally:
            self._mine.ticket = None
            with self._moved:
                self._queue.remove(ticket)
                self._moved.notify_all()

    def give_way(self) -> None:
        """Between two parts of the work: if the turn has lasted long and somebody waits, go to the end of the queue."""
        ticket = getattr(self._mine, "ticket", None)
        if ticket is None or time.monotonic() - self._mine.since < self.longest or len(self._queue) <= self.at_once:
            return
        with self._moved:
            self._queue.remove(ticket)
            self._queue.append(ticket)
            self._moved.notify_all()
        self._wait(ticket)

    def _place(self, ticket: object) -> int:
        return max(0, self._queue.index(ticket) - self.at_once + 1)

    def _wait(self, ticket: object) -> None:
        began, told = time.monotonic(), False
        while True:
            with self._moved:
                if place := self._place(ticket):
                    self._moved.wait(0.25)
                    place = self._place(ticket)
            if not place:
                break
            if time.monotonic() - began > self.patience:
                told = True
                self.tell(place)
        if told:
            self.tell(0)
        self._mine.since = time.monotonic()


TURNS = Turns()
"""Those of this process."""


def heavy(entries: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A pure function that trains: computed in turn, and once for a class that opens the same link; `entries` are kept.

    The log says which function it was and how long it took, and nothing of its arguments, which are a visitor's.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept = Kept(entries)

        @wraps(function)
        def compute(*args: Hashable, **kwargs: Hashable) -> Any:
            key = (args, tuple(sorted(kwargs.items())))
            asked = time.monotonic()
            with TURNS.turn():
                value = kept.get(key)  # somebody before us in the queue may have asked for the same
                if value is None:
                    began = time.monotonic()
                    value = function(*args, **kwargs)
                    log.info("%s: %.2f s, waited %.2f s", function.__name__, time.monotonic() - began, began - asked)
                return value

        ask = keeping(kept)(compute)
        ask.__wrapped__ = function
        return ask

    return decorate
