import math
import threading
import warnings
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.schedules import (
    FIELDS,
    NAMES,
    WARNING_BEGINS,
    ScheduleConfig,
    compare_orders,
    compare_script,
    run_schedule,
    script,
)

WITHOUT_METRIC = [name for name in NAMES if name != "plateau"]


def per_epoch(run, config):
    return run.used[:: config.batches]


def test_steplr_to_the_digit():
    config = ScheduleConfig("steplr", lr=0.1, epochs=6, batches=2, step_size=2)
    assert per_epoch(run_schedule(config), config) == pytest.approx((0.1, 0.1, 0.05, 0.05, 0.025, 0.025))


def test_cosine_is_half_a_cosine():
    config = ScheduleConfig("cosine", lr=0.2, epochs=5, batches=3, per="batch")
    assert run_schedule(config).used == pytest.approx([0.1 * (1 + math.cos(math.pi * k / 15)) for k in range(15)])


def test_warm_up_climbs_and_the_cosine_follows():
    used = run_schedule(ScheduleConfig("warmup-cosine", lr=0.1, epochs=12, batches=1, warmup=3)).used
    assert used[:4] == pytest.approx((0.01, 0.04, 0.07, 0.1))
    assert list(used[3:]) == sorted(used[3:], reverse=True)


def test_one_cycle_climbs_to_its_maximum_and_back():
    used = run_schedule(ScheduleConfig("onecycle", lr=0.1, per="batch")).used
    assert used[0] == pytest.approx(0.1 / 25)
    assert max(used) == pytest.approx(0.1, rel=1e-2)
    assert used[-1] < used[0] / 10


def test_plateau_waits_for_its_patience():
    config = ScheduleConfig("plateau", lr=0.1, epochs=8, batches=1, patience=2)
    falling = tuple(1 - 0.1 * k for k in range(8))
    assert set(run_schedule(config, falling).used) == {0.1}
    stalled = (1.0, 0.9) + (0.95,) * 6
    assert run_schedule(config, stalled).used == pytest.approx((0.1,) * 5 + (0.05,) * 3)


@pytest.mark.parametrize("name", WITHOUT_METRIC)
@pytest.mark.parametrize("per", ["epoch", "batch"])
def test_the_wrong_order_warns_and_skips_the_first_value(name, per):
    config = ScheduleConfig(name, per=per)
    report = compare_orders(config)
    assert report.right.warning is None
    assert report.right.error is report.wrong.error is None
    assert report.wrong.warning.startswith(WARNING_BEGINS)
    assert "skipping the first value of the learning rate schedule" in report.wrong.warning
    assert report.skipped == report.right.used[0]
    shift = config.batches if per == "epoch" else 1
    assert report.wrong.used[:-shift] == report.right.used[shift:]


def test_plateau_has_no_such_warning():
    assert compare_orders(ScheduleConfig("plateau")).wrong.warning is None


def test_a_schedule_planned_in_epochs_and_called_per_batch_runs_out():
    onecycle = run_schedule(ScheduleConfig("onecycle", epochs=4, batches=5, per="batch", planned="epoch"))
    assert onecycle.error.startswith("ValueError: Tried to step")
    assert len(onecycle.used) < 20
    steplr = run_schedule(ScheduleConfig("steplr", epochs=12, batches=7, per="batch", planned="epoch"))
    assert steplr.used[-1] < run_schedule(ScheduleConfig("steplr", epochs=12, batches=7)).used[-1] / 1000


configs = st.builds(
    ScheduleConfig,
    schedule=st.sampled_from(sorted(NAMES)),
    lr=st.floats(0.001, 1),
    epochs=st.integers(2, 8),
    batches=st.integers(1, 5),
    per=st.sampled_from(["epoch", "batch"]),
    planned=st.sampled_from([None, "epoch", "batch"]),
    step_size=st.integers(1, 9),
    gamma=st.floats(0.01, 0.99),
    warmup=st.integers(1, 30),
    patience=st.integers(0, 5),
)


@settings(max_examples=60, deadline=None)
@given(configs)
def test_any_allowed_setting_runs_with_rates_that_make_sense(config):
    report = compare_orders(config)
    for run in (report.right, report.wrong):
        assert run.error is not None or len(run.used) == config.epochs * config.batches
        assert all(0 <= rate <= config.lr * (1 + 1e-9) for rate in run.used)
    assert report.right.warning is None


def test_fields_are_those_of_the_config():
    assert set(FIELDS) == set(vars(ScheduleConfig()))


def test_the_warning_is_found_by_each_of_many_threads():
    filters = list(warnings.filters)
    found = []

    def work(k):
        config = ScheduleConfig(lr=0.1 + k / 1000, scheduler_first=bool(k % 2))  # not from the cache
        found.append((k % 2, run_schedule(config).warning is not None))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(0, False)] * 4 + [(1, True)] * 4
    assert warnings.filters == filters


@pytest.mark.parametrize("name", [*WITHOUT_METRIC, "plateau"])
def test_the_script_prints_the_same_rates(name, run_script):
    config = ScheduleConfig(name, epochs=4, batches=2, per="batch" if name == "onecycle" else "epoch")
    config = replace(config, scheduler_first=name == "steplr")
    output, complaints = run_script(script(config))
    run = run_schedule(config)
    assert output.split() == [f"{rate:.6f}" for rate in run.used]
    assert (run.warning or "") in complaints


def test_the_script_of_a_plateau_takes_the_val_losses_along(run_script):
    config, losses = ScheduleConfig("plateau", epochs=8, batches=2, patience=1), (1.0, 0.9, 0.95, 0.96, 0.97)
    output, _ = run_script(script(config, losses))
    run = run_schedule(config, losses)
    assert output.split() == [f"{rate:.6f}" for rate in run.used]
    assert run.used[-1] < run.used[0]


def test_a_script_of_two_prints_both(run_script):
    config = ScheduleConfig(epochs=3, batches=1, step_size=1)
    other = replace(config, scheduler_first=True)
    output, _ = run_script(compare_script({"right": config, "wrong": other}))
    rates = [[f"{rate:.6f}" for rate in run_schedule(c).used] for c in (config, other)]
    assert output.split() == ["right", *rates[0], "wrong", *rates[1]]
