import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.losses import at_logit, logit_script, logits_script, report_logits, softmax_twice_floor, sweep_logit

logit = st.floats(-30, 30)


@pytest.mark.parametrize(
    ("logits", "right", "twice"),
    [
        ((4, 0, 0), ("0.0360", "0.0433"), ("0.5743", "0.0274")),
        ((0, 4, 0), ("4.0360", "1.3769"), ("1.5213", "0.0374")),
        ((0, 0, 0), ("1.0986", "0.8165"), ("1.0986", "0.2722")),
    ],
)
def test_the_lessons_table(logits, right, twice):
    report = report_logits(logits, 0)
    assert (f"{report.right.loss:.4f}", f"{report.right.norm:.4f}") == right
    assert (f"{report.twice.loss:.4f}", f"{report.twice.norm:.4f}") == twice


def test_three_spellings_agree_and_the_floor_is_the_lessons():
    report = report_logits((2, 0.5, -1), 0)
    assert f"{report.module:.4f}" == "0.2413"
    assert report.module == report.function == pytest.approx(report.by_hand, abs=1e-15)
    assert f"{report.floor:.4f}" == "0.5514"


def test_the_gradient_of_a_confident_mistake_is_37_times_smaller():
    assert round(report_logits((0, 4, 0), 0).ratio) == 37


@given(st.lists(logit, min_size=2, max_size=6).flatmap(lambda z: st.tuples(st.just(z), st.integers(0, len(z) - 1))))
def test_the_right_gradient_is_p_minus_y_and_the_wrong_loss_stays_above_its_floor(case):
    logits, target = case
    report = report_logits(tuple(logits), target)
    p = torch.softmax(torch.tensor(logits, dtype=torch.float64), dim=0)
    p[target] -= 1
    assert report.right.gradient == pytest.approx(p.tolist(), abs=1e-12)
    assert report.twice.loss >= softmax_twice_floor(len(logits)) - 1e-12
    assert report.twice.norm <= report.right.norm + 1e-12


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.integers(0, 2))
def test_both_gradients_against_finite_differences(logits, target):
    report, h = report_logits(tuple(logits), target), 1e-5
    for i in range(3):
        up, down = list(logits), list(logits)
        up[i] += h
        down[i] -= h
        above, below = report_logits(tuple(up), target), report_logits(tuple(down), target)
        for name in ("right", "twice"):
            slope = (getattr(above, name).loss - getattr(below, name).loss) / (2 * h)
            assert getattr(report, name).gradient[i] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_logit_200_label_0(dtype):
    sweep = sweep_logit(0, dtype)
    assert (sweep.fused_loss[-1], sweep.split_loss[-1]) == (200, 100)
    assert sweep.fused_gradient[-1] == 1
    assert sweep.split_gradient[-1] != 1


def test_split_gradient_vanishes_in_float32_and_is_nan_in_float16():
    assert sweep_logit(0, "float32").split_gradient[-1] == 0
    assert sweep_logit(0, "bfloat16").split_gradient[-1] == 0
    assert math.isnan(sweep_logit(0, "float16").split_gradient[-1])


def test_the_fused_loss_and_gradient_hold_everywhere():
    for label in (0, 1):
        sweep = sweep_logit(label)
        for z, loss, gradient in zip(sweep.logits, sweep.fused_loss, sweep.fused_gradient, strict=True):
            assert loss == pytest.approx(max(z, 0) - z * label + math.log1p(math.exp(-abs(z))), abs=1e-4)
            sigmoid = 1 / (1 + math.exp(-z)) if z > -100 else math.exp(z)
            assert gradient == pytest.approx(sigmoid - label, abs=1e-6)


def test_the_logits_script_prints_the_same_numbers(run_script):
    output, _ = run_script(logits_script((0, 4, 0), 0))
    report = report_logits((0, 4, 0), 0)
    expected = []
    for name in ("right", "twice"):
        path = getattr(report, name)
        expected += [
            f"{name} loss = {path.loss:.4f}   |grad| = {path.norm:.4f}",
            "      softmax  " + " ".join(f"{p:.4f}" for p in path.probabilities),
            "      gradient " + " ".join(f"{g:.4f}" for g in path.gradient),
        ]
    expected.append(f"module {report.module:.4f}  function {report.function:.4f}  by hand {report.by_hand:.4f}")
    assert output.splitlines() == expected


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("logit", [200.0, -3.3])
def test_the_logit_script_prints_the_same_numbers(run_script, dtype, logit):
    at = at_logit(logit, 0, dtype)
    output, _ = run_script(logit_script(logit, 0, dtype))
    assert output.splitlines() == [
        f"BCEWithLogitsLoss      loss = {at.fused_loss[0]:.4f}  gradient = {at.fused_gradient[0]:.4f}",
        f"sigmoid, then BCELoss  loss = {at.split_loss[0]:.4f}  gradient = {at.split_gradient[0]:.4f}",
    ]
