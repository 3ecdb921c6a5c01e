"""The same run from several seeds: how much of a difference is luck."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace

from core.fit_config import FitConfig
from core.live import finished
from core.turns import heavy

SEEDS = tuple(range(10))


@dataclass(frozen=True)
class Spread:
    """`low`, `mean`, `high` are the val losses by epoch, over the runs that were still going then."""

    low: tuple[float, ...]
    mean: tuple[float, ...]
    high: tuple[float, ...]
    best: tuple[float, ...]
    """Each seed's lowest val loss."""
    best_epochs: tuple[int, ...]

    @property
    def best_mean(self) -> float:
        return statistics.fmean(self.best)

    @property
    def best_deviation(self) -> float:
        """Standard deviation of `best` over the seeds."""
        return statistics.stdev(self.best)


@heavy(64)
def spread(config: FitConfig) -> Spread:
    """Train `config` once from each of `SEEDS`; its own seed does not matter."""
    runs = [finished(replace(config, seed=seed)) for seed in SEEDS]
    by_epoch = [[run[i].val_loss for run in runs if i < len(run)] for i in range(max(map(len, runs)))]
    return Spread(
        low=tuple(map(min, by_epoch)),
        mean=tuple(map(statistics.fmean, by_epoch)),
        high=tuple(map(max, by_epoch)),
        best=tuple(run[-1].best_val for run in runs),
        best_epochs=tuple(run[-1].best_epoch for run in runs),
    )
