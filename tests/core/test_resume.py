import contextlib

import pytest
import torch

from core.checkpoint import SKIPPABLE, CheckpointError, to_bytes
from core.config import SettingError, write_setting
from core.fit_config import FitConfig
from core.resume import (
    FIELDS,
    MOST_EPOCHS_ON,
    ORDERS,
    PARTS,
    REASONS,
    ResumeConfig,
    compare,
    compare_file,
    interrupt,
)
from core.resume_script import resume_script

STEPPED = FitConfig(scheduler="step")


@pytest.mark.parametrize("batch", [0, 1, 3, 6, 7])
def test_with_every_part_the_runs_are_equal_to_the_bit(batch: int) -> None:
    result = compare(ResumeConfig(STEPPED, batch=batch))
    assert result.exact
    assert result.equal_tensors == result.tensors == 6
    assert result.largest_difference == 0
    assert result.full.log == result.resumed.log
    assert len(result.before) + len(result.rows) == result.full.epochs[-1].epoch


@pytest.mark.parametrize(
    ("part", "reason", "step"),
    [
        ("optimizer", "lr", (7, 4)),
        ("torch_rng", "loss", (7, 4)),
        ("loader_rng", "order", (8, 1)),
        ("scheduler", "lr", (9, 1)),
        ("position", "order", (7, 4)),
    ],
)
def test_a_part_left_out_parts_the_runs_at_a_known_step(part: str, reason: str, step: tuple[int, int]) -> None:
    result = compare(ResumeConfig(STEPPED, batch=3, skip=(part,)))
    assert result.parting.reason == reason
    assert (result.parting.full.epoch, result.parting.full.batch) == step
    assert result.equal_tensors < result.tensors
    assert result.largest_difference > 0
    sides = result.parting.full, result.parting.resumed
    assert (sides[0].rows == sides[1].rows) == (reason != "order")
    assert (sides[0].lr == sides[1].lr) == (reason != "lr")


def test_an_optimizer_that_forgot_makes_another_step_of_the_same_loss() -> None:
    parting = compare(ResumeConfig(skip=("optimizer",))).parting
    assert parting.reason == "step"
    assert parting.full == parting.resumed
    assert (parting.full.epoch, parting.full.batch) == (7, 1)


def test_without_the_loop_state_the_epochs_are_counted_anew() -> None:
    result = compare(ResumeConfig(skip=("loop",)))
    assert result.parting.reason in ("length", "log")
    assert result.resumed.epochs[0].epoch == 1
    assert result.resumed.epochs[0].train_loss == result.full.epochs[0].train_loss


def test_rng_restored_before_the_skip_goes_wrong_within_an_epoch_only() -> None:
    assert compare(ResumeConfig(order="rng-before-skip")).exact
    result = compare(ResumeConfig(batch=3, order="rng-before-skip"))
    assert result.parting.reason == "order"
    assert result.parting.full.batch == result.parting.resumed.batch == 4


def test_a_stopper_saved_before_its_update_stops_too_late() -> None:
    result = compare(ResumeConfig(order="stopper-before-update"))
    assert result.parting.reason == "length"
    assert result.parting.full is None
    assert len(result.resumed.epochs) == len(result.full.epochs) + 1
    assert result.rows[-1][0] is None


def test_a_log_that_counts_otherwise_is_a_parting_too() -> None:
    config = FitConfig(max_epochs=8, patience=100)
    result = compare(ResumeConfig(config, epoch=4, order="stopper-before-update"))
    assert result.parting.reason == "log"
    assert result.equal_tensors == result.tensors


def test_a_run_that_is_over_has_nothing_left_to_compare() -> None:
    result = compare(ResumeConfig(epoch=100, batch=5))
    assert result.exact
    assert result.rows == []


def test_parts_are_read_as_they_are_written() -> None:
    field = FIELDS["skip"]
    assert field.parse("skip", write_setting(SKIPPABLE)) == SKIPPABLE
    assert field.parse("skip", "") == ()
    assert field.parse("skip", "RNG, optimizer") == ("optimizer", "torch_rng", "loader_rng")
    with pytest.raises(SettingError, match="allowed: optimizer"):
        PARTS.parse("skip", "weights")
    assert {"weights", "order", "lr", "loss", "step", "length", "log"} == set(REASONS)
    assert ORDERS[0] == ResumeConfig().order


def test_a_file_is_resumed_beside_the_run_of_its_settings() -> None:
    _, checkpoint = interrupt(STEPPED, 6, 3)
    assert compare_file(to_bytes(checkpoint)).exact
    left_out = compare_file(to_bytes(checkpoint), skip=("torch_rng",))
    assert left_out.parting == compare(ResumeConfig(STEPPED, batch=3, skip=("torch_rng",))).parting


def test_a_file_with_other_weights_is_told_apart_before_any_step() -> None:
    _, checkpoint = interrupt(FitConfig(), 6, 0)
    checkpoint["model"]["0.bias"] += 1e-3
    result = compare_file(to_bytes(checkpoint))
    assert result.parting.reason == "weights"
    assert result.equal_tensors == 0


def test_a_file_of_a_place_that_the_run_never_reached_is_compared_all_the_same() -> None:
    _, checkpoint = interrupt(FitConfig(), 6, 0)
    checkpoint["epoch"], checkpoint["bad_epochs"] = 50, 0
    result = compare_file(to_bytes(checkpoint))
    assert not result.exact
    assert result.full.epochs == ()
    assert len(result.resumed.epochs) <= MOST_EPOCHS_ON
    checkpoint["epoch"], checkpoint["bad_epochs"] = 100, 8
    assert compare_file(to_bytes(checkpoint)).parting.full is None


@pytest.mark.parametrize(
    ("path", "value"),
    [(("optimizer", "state", 0, "step"), -1.0), (("scheduler", "step_size"), 0), (("scheduler", "last_epoch"), 2**52)],
)
def test_numbers_that_pytorch_stumbles_on_are_one_sentence(path: tuple, value: float) -> None:
    _, checkpoint = interrupt(STEPPED, 3, 0)
    place = checkpoint
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    place[path[-1]] = torch.tensor(value) if isinstance(old, torch.Tensor) else value
    with contextlib.suppress(CheckpointError):
        compare_file(to_bytes(checkpoint))


def test_settings_that_no_model_can_have_are_refused() -> None:
    _, checkpoint = interrupt(FitConfig(batch_size=399), 1, 0)
    checkpoint["config"]["layers"] = "both"
    with pytest.raises(CheckpointError):
        compare_file(to_bytes(checkpoint))


def test_a_run_that_diverged_is_equal_to_itself() -> None:
    result = compare(ResumeConfig(FitConfig(optimizer="sgd", lr=10.0, patience=3), epoch=1))
    assert any(value.isnan().any() for value in result.full.weights.values())
    assert result.exact
    assert result.largest_difference == 0


@pytest.mark.parametrize(
    "config",
    [
        ResumeConfig(),
        ResumeConfig(STEPPED, batch=3, skip=("loader_rng", "scheduler")),
        ResumeConfig(FitConfig(optimizer="sgd-momentum", lr=0.05, scheduler="plateau"), 3, 2, order="rng-before-skip"),
        ResumeConfig(order="stopper-before-update"),
        ResumeConfig(FitConfig(scheduler="cosine", patience=4), 4, 5, skip=("torch_rng", "position", "loop")),
        ResumeConfig(skip=("optimizer",)),
    ],
)
def test_the_script_prints_the_same_numbers(config: ResumeConfig, run_script) -> None:
    result = compare(config)
    lines = run_script(resume_script(config))[0].splitlines()
    logs = [f"alone   {line}" for line in result.full.log] + [f"resumed {line}" for line in result.resumed.log]
    assert lines[: len(logs)] == logs
    tensors, same_log, steps = lines[len(logs) :]
    assert tensors == (
        f"tensors equal: {result.equal_tensors} of {result.tensors}, largest difference {result.largest_difference:.4f}"
    )
    assert same_log == f"log lines the same: {result.full.log == result.resumed.log}"
    if result.parting and result.parting.reason in ("order", "lr", "loss", "step"):
        step = result.parting.full
        assert steps.endswith(f"epoch {step.epoch}, batch {step.batch} of the run left alone: {result.parting.reason}")
    else:
        assert ("longer" in steps) is bool(result.parting)
