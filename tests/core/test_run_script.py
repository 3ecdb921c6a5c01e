"""The run's script prints the log of `fit`, whatever the settings."""

from __future__ import annotations

import pytest

from core.fit import fit
from core.fit_config import FitConfig
from core.records import ending_of, log_line
from core.run_script import run_script as text


@pytest.mark.parametrize(
    "config",
    [
        FitConfig(),
        FitConfig(optimizer="sgd-momentum", lr=0.05, scheduler="step", seed=3, batch_size=50, patience=4),
        FitConfig(layers="both", scheduler="plateau", dropout=0.4, patience=5),
        FitConfig(layers="batchnorm", scheduler="cosine", optimizer="sgd", lr=0.3, patience=3),
    ],
    ids=["default", "sgd", "both", "batchnorm"],
)
def test_it_prints_the_same_log(config: FitConfig, run_script) -> None:
    records = list(fit(config))
    printed = run_script(text(config, 100))[0].splitlines()
    assert printed == [*map(log_line, records), ending_of(records[-1])]


def test_it_stops_where_the_page_has_come(run_script) -> None:
    printed = run_script(text(FitConfig(), 3))[0].splitlines()
    assert printed == [log_line(record) for record in list(fit(FitConfig()))[:3]]
