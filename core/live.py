"""A run as somebody watches it: it goes on when asked, and a run that anyone has finished is not run again."""

from __future__ import annotations

import threading
from collections import OrderedDict

from core.data import Dataset, bazarghar
from core.fit import EpochRecord, FitConfig, Run

_MOST_FINISHED = 256
_finished: OrderedDict[tuple[FitConfig, str], tuple[EpochRecord, ...]] = OrderedDict()
_lock = threading.Lock()


class LiveRun:
    """`upto(n)` trains as far as epoch n, and no further. Determinism makes the records of another's run one's own."""

    def __init__(self, config: FitConfig, data: Dataset | None = None) -> None:
        self.config = config
        self.own_table = data is not None
        self.data = data or bazarghar()
        self._run: Run | None = None

    def upto(self, epoch: int) -> tuple[EpochRecord, ...]:
        """The records of the epochs 1 to `epoch`, or to where the run ended."""
        key = (self.config, self.data.digest)
        with _lock:
            if key in _finished:
                _finished.move_to_end(key)
                return _finished[key][:epoch]
        if self._run is None:
            self._run = Run(self.config, self.data)
        while self._run.epochs < epoch and not self._run.done:
            self._run.epoch()
        if self._run.done:
            with _lock:
                _finished[key] = tuple(self._run.history)
                while len(_finished) > _MOST_FINISHED:
                    _finished.popitem(last=False)
        return tuple(self._run.history[:epoch])


def is_over(config: FitConfig, records: tuple[EpochRecord, ...]) -> bool:
    """Whether the run ends with the last of `records`."""
    return bool(records) and (records[-1].stopped or records[-1].epoch >= config.max_epochs)


def finished(config: FitConfig, data: Dataset | None = None) -> tuple[EpochRecord, ...]:
    """The records of the whole run, from its first epoch to where it stops."""
    return LiveRun(config, data).upto(config.max_epochs)
