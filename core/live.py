"""A run as somebody watches it: it goes on when asked, and a run that anyone has finished is not run again."""

from __future__ import annotations

import time

from core.data import Dataset, bazarghar
from core.fit import Run
from core.fit_config import FitConfig
from core.kept import Kept
from core.records import EpochRecord
from core.turns import TURNS, log

_finished = Kept(256)
"""(config, digest of the data) -> the records of the whole run."""


class LiveRun:
    """`upto(n)` trains as far as epoch n, and no further. Determinism makes the records of another's run one's own."""

    def __init__(self, config: FitConfig, data: Dataset | None = None) -> None:
        self.config = config
        self.own_table = data is not None
        self.data = data or bazarghar()
        self._run: Run | None = None
        self._seconds = 0.0

    def upto(self, epoch: int) -> tuple[EpochRecord, ...]:
        """The records of the epochs 1 to `epoch`, or to where the run ended."""
        key = (self.config, self.data.digest)
        records = _finished.get(key)
        if records is not None:
            return records[:epoch]
        if self._run is None:
            self._run = Run(self.config, self.data)
        if self._run.epochs < epoch and not self._run.done:
            self._train(epoch)
            if self._run.done:
                _finished.put(key, tuple(self._run.history))
                log.info("run: %d epochs, %s, %.2f s", self._run.epochs, self._run.ending, self._seconds)
        return tuple(self._run.history[:epoch])

    def _train(self, epoch: int) -> None:
        with TURNS.turn():
            while self._run.epochs < epoch and not self._run.done:
                began = time.monotonic()
                self._run.epoch()
                self._seconds += time.monotonic() - began
                TURNS.give_way()


def is_over(config: FitConfig, records: tuple[EpochRecord, ...]) -> bool:
    """Whether the run ends with the last of `records`."""
    return bool(records) and (records[-1].stopped or records[-1].epoch >= config.max_epochs)


def finished(config: FitConfig, data: Dataset | None = None) -> tuple[EpochRecord, ...]:
    """The records of the whole run, from its first epoch to where it stops."""
    return LiveRun(config, data).upto(config.max_epochs)
