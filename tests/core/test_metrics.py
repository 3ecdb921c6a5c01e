import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from core.metrics import (
    batch_means,
    batch_sizes,
    bias_curve,
    drop_last_curve,
    naive_bias,
    report_means,
    script,
    validation_block,
    weighted_mean,
)

BLOCK = validation_block()
SIZES = range(1, 201)
values = st.lists(st.floats(-1000, 1000), min_size=1, max_size=40)


def test_the_lessons_block_to_the_digit():
    for size, loss, accuracy in ((64, "0.4372", "0.8516"), (50, "0.5156", "0.8100")):
        report, correct = report_means(BLOCK.loss, size), report_means(BLOCK.correct, size)
        assert (f"{report.naive:.4f}", f"{correct.naive:.4f}") == (loss, accuracy)
        assert (f"{report.weighted:.4f}", f"{correct.weighted:.4f}") == ("0.5156", "0.8100")
        assert (f"{report.full:.4f}", f"{correct.full:.4f}") == ("0.5156", "0.8100")
    assert report_means(BLOCK.loss, 64).sizes == (64, 64, 64, 8)


@pytest.mark.parametrize("size", SIZES)
def test_the_weighted_mean_is_the_full_sets_for_every_batch_size(size):
    for per_example in (BLOCK.loss, BLOCK.correct):
        report = report_means(per_example, size)
        assert report.weighted == pytest.approx(np.mean(per_example), abs=1e-14)
        assert report.naive - report.full == pytest.approx(naive_bias(per_example, size), abs=1e-14)


def test_the_bias_is_exactly_zero_where_the_size_divides_200_and_nowhere_else():
    curve = bias_curve(BLOCK.loss)
    assert [size for size in SIZES if curve[size - 1] == 0] == [size for size in SIZES if 200 % size == 0]


@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_are_cut_as_a_dataloader_cuts_them(drop_last):
    dataset = TensorDataset(torch.tensor(BLOCK.loss, dtype=torch.float64))
    for size in (1, 7, 50, 64, 150, 200):
        loader = DataLoader(dataset, batch_size=size, drop_last=drop_last)
        assert batch_sizes(200, size, drop_last=drop_last) == tuple(len(xb) for (xb,) in loader)
        means = [xb.mean().item() for (xb,) in loader]
        assert batch_means(BLOCK.loss, size, drop_last=drop_last) == pytest.approx(means, abs=1e-14)


@given(values, st.integers(1, 50))
def test_the_weighted_mean_of_any_numbers_is_their_mean(numbers, size):
    report = report_means(numbers, size)
    assert report.weighted == pytest.approx(report.full, abs=1e-9)
    assert min(numbers) - 1e-9 <= report.naive <= max(numbers) + 1e-9
    if len(numbers) % size == 0 or size >= len(numbers):
        assert naive_bias(numbers, size) == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 99)), min_size=1))
def test_the_weighted_mean_stays_between_the_batches(batches):
    means, sizes = zip(*batches, strict=True)
    assert min(means) - 1e-12 <= weighted_mean(means, sizes) <= max(means) + 1e-12


def test_drop_last_measures_another_set():
    report = report_means(BLOCK.loss, 64, drop_last=True)
    assert (report.sizes, report.dropped) == ((64, 64, 64), 8)
    assert report.weighted == pytest.approx(np.mean(BLOCK.loss[:192]))
    curve = drop_last_curve(BLOCK.loss)
    assert curve[63] == pytest.approx(report.weighted - report.full)
    assert all(curve[size - 1] == 0 for size in SIZES if 200 % size == 0)


def test_further_ways_to_go_wrong():
    report = report_means(BLOCK.loss, 64)
    assert report.last_batch == pytest.approx(np.mean(BLOCK.loss[192:]))
    assert report.means_over_dataset == pytest.approx(report.naive * 4 / 200)
    assert report.totals_over_loader == pytest.approx(report.full * 200 / 4)


def test_nothing_measured_is_nan_and_not_zero():
    report = report_means([1.0, 2.0], 3, drop_last=True)
    assert report.dropped == 2
    assert all(math.isnan(v) for v in (report.naive, report.weighted, report.last_batch, report.totals_over_loader))


@pytest.mark.parametrize(("size", "drop_last"), [(64, False), (50, False), (64, True)])
def test_the_script_prints_the_same_numbers(size, drop_last, run_script):
    output, _ = run_script(script(size, drop_last=drop_last))
    expected = []
    for name, per_example in (("loss", BLOCK.loss), ("accuracy", BLOCK.correct)):
        r = report_means(per_example, size, drop_last=drop_last)
        expected.append(f"{name:<8} naive {r.naive:.4f}  weighted {r.weighted:.4f}  full set {r.full:.4f}")
        expected.append(
            f"  last batch {r.last_batch:.4f}  means over dataset {r.means_over_dataset:.4f}"
            f"  totals over loader {r.totals_over_loader:.4f}"
        )
    assert output.splitlines() == expected
