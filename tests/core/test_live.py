"""A watched run equals one that nobody watches, whoever ran it first."""

from __future__ import annotations

import logging
import re

from core.fit import fit
from core.fit_config import FitConfig
from core.live import LiveRun, is_over
from core.spread import SEEDS, spread


def test_epoch_by_epoch_equals_at_once() -> None:
    config = FitConfig(seed=11, patience=3)
    expected = tuple(fit(config))
    run = LiveRun(config)
    assert [len(run.upto(n)) for n in (0, 1, 1, 3)] == [0, 1, 1, 3]
    assert run.upto(100) == expected
    assert is_over(config, expected)
    assert not is_over(config, expected[:-1])


def test_a_finished_run_is_not_run_again() -> None:
    config = FitConfig(seed=12, patience=2)
    first = LiveRun(config).upto(100)
    second = LiveRun(config)
    assert second.upto(100) is not None
    assert second._run is None
    assert second.upto(2) == first[:2]


def test_a_finished_run_is_one_line_in_the_log_without_its_settings(caplog) -> None:
    with caplog.at_level(logging.INFO, "five_calls"):
        run = LiveRun(FitConfig(seed=987654321, patience=1))
        for epoch in range(1, 100):
            run.upto(epoch)
        LiveRun(FitConfig(seed=987654321, patience=1)).upto(100)
    assert len(caplog.messages) == 1
    assert re.fullmatch(r"run: \d+ epochs, early stop, \d+\.\d\d s", caplog.messages[0])


def test_the_spread_is_over_the_runs_of_its_seeds() -> None:
    config = FitConfig(patience=2)
    found = spread(config)
    runs = [tuple(fit(FitConfig(patience=2, seed=seed))) for seed in SEEDS]
    assert found.best == tuple(run[-1].best_val for run in runs)
    assert found.low[0] == min(run[0].val_loss for run in runs)
    assert len(found.mean) == max(map(len, runs))
