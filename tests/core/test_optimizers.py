import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.optimizers import TWO_RATES_FIELDS, state_script, two_rates, two_rates_script, view_optimizer
from core.trace import StepConfig


@pytest.mark.parametrize(
    ("optimizer", "keys", "numbers"),
    [("sgd", set(), 0), ("sgd-momentum", {"momentum_buffer"}, 9), ("adamw", {"exp_avg", "exp_avg_sq", "step"}, 20)],
)
def test_the_state_laid_open(optimizer, keys, numbers):
    config = StepConfig(optimizer=optimizer)
    assert view_optimizer(config, 0).state_numbers == 0
    view = view_optimizer(config, 3)
    assert set(view.state.get("weight", {})) == keys
    assert view.state_numbers == numbers
    if optimizer == "adamw":
        assert view.state["weight"]["step"] == 3
        assert view.param_groups[0]["betas"] == (0.9, 0.999)
        assert view.param_groups[0]["weight_decay"] == 0.01


def test_the_first_momentum_buffer_is_the_lessons_gradient():
    assert f"{view_optimizer(StepConfig(), 1).state['weight']['momentum_buffer'][0, 0]:.4f}" == "0.1648"
    assert f"{view_optimizer(StepConfig(), 0).next_w:.4f}" == "-0.0218"


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["sgd", "sgd-momentum", "adamw"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 0.5),
    st.integers(0, 5),
    st.sampled_from(["linear", "accumulate"]),
)
def test_the_next_step_derived_is_the_one_that_pytorch_takes(optimizer, lr, momentum, decay, steps, scene):
    view = view_optimizer(StepConfig(scene, optimizer, lr, momentum, decay), steps)
    if view.next_step is None:
        assert view.next_w == view.w
    else:
        assert view.next_step.result == pytest.approx(view.next_w, abs=2e-5, rel=1e-4)


@given(st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_under_sgd_each_layer_moves_by_its_own_rate_times_its_gradient(first, second):
    for row in two_rates(first, second, steps=3):
        assert [layer.lr for layer in row.layers] == [first, second]
        for layer in row.layers:
            assert layer.moved == pytest.approx(layer.lr * layer.gradient, rel=1e-4, abs=1e-6)


def test_a_layer_with_rate_0_is_frozen_while_the_other_learns():
    rows = two_rates(0, 0.5, steps=30)
    assert all(row.layers[0].moved == 0 and row.layers[0].gradient > 0 for row in rows)
    assert rows[-1].loss < rows[0].loss


def test_views_draw_nothing_from_the_process():
    before = torch.get_rng_state()
    view_optimizer(StepConfig(seed=7), 2)
    two_rates(0.123, 0.1, steps=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_step_that_moves_nothing_has_no_arithmetic():
    assert view_optimizer(StepConfig(optimizer="sgd", lr=0), 2).next_step is None


def test_the_script_prints_the_same_numbers(run_script):
    output, _ = run_script(two_rates_script(0.1, 0.01, 4, "adamw"))
    assert output.splitlines() == [
        f"step {row.step}  loss = {row.loss:.4f}"
        f"  |grad| = {row.layers[0].gradient:.4f} and {row.layers[1].gradient:.4f}"
        f"  moved = {row.layers[0].moved:.4f} and {row.layers[1].moved:.4f}"
        for row in two_rates(0.1, 0.01, 4, "adamw")
    ]


@pytest.mark.parametrize(
    "config",
    [StepConfig(), StepConfig(optimizer="adamw"), StepConfig(optimizer="sgd"), StepConfig("scalar", "adamw")],
    ids=str,
)
def test_the_state_script_prints_the_same_state(config, run_script):
    output, _ = run_script(state_script(config, 2))
    view = view_optimizer(config, 2)
    expected = [
        " ".join([f"{name} {key}:", *(f"{number:.6f}" for number in value.flatten().tolist())])
        for name, tensors in view.state.items()
        for key, value in tensors.items()
    ]
    lines = output.splitlines()
    assert sorted(lines[len(lines) - len(expected) :]) == sorted(expected)


def test_fields_are_arguments():
    given = {name: field.parse(name, "1") for name, field in TWO_RATES_FIELDS.items() if name != "optimizer"}
    assert two_rates(**given)
