"""Results kept for whoever asks next: at most so many, and at most so much in all."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any


class Kept:
    """The values last asked for; the one that nobody has asked for longest goes first. Safe among threads.

    There are at most `entries` of them, and their weights by `weigh` add up to at most `most`.
    """

    def __init__(self, entries: int, weigh: Callable[[Any], float] = lambda value: 0, most: float = math.inf) -> None:
        self.entries, self.weigh, self.most = entries, weigh, most
        self.weight = 0.0
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Any:
        """The value of `key`; None if there is none."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        with self._lock:
            if key in self._values:
                self.weight -= self.weigh(self._values.pop(key))
            self._values[key] = value
            self.weight += self.weigh(value)
            while len(self._values) > self.entries or self.weight > self.most:
                self.weight -= self.weigh(self._values.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.weight = 0.0


def keeping(kept: Kept) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A pure function of hashable arguments, whose results go into `kept`. None is not kept.

    `peek` answers from there alone, None if it is not there; `__wrapped__` is the function itself.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def ask(*args: Hashable, **kwargs: Hashable) -> Any:
            key = (args, tuple(sorted(kwargs.items())))
            value = kept.get(key)
            if value is None:
                value = function(*args, **kwargs)
                kept.put(key, value)
            return value

        ask.peek = lambda *args, **kwargs: kept.get((args, tuple(sorted(kwargs.items()))))
        ask.cache_clear = kept.clear
        return ask

    return decorate
