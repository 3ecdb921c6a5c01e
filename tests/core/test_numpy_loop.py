import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from core.numpy_loop import (
    FIELDS,
    NumpyConfig,
    as_module,
    backward,
    cross_entropy,
    decision_grid,
    forward,
    pytorch_twin,
    run_numpy,
    start_weights,
)
from core.numpy_script import LINES, numpy_script, pytorch_script
from core.rng import numpy_generator


def test_the_lessons_figures_to_the_digit():
    run = run_numpy()
    assert (run.stopped, run.best, run.early) == (33, 13, True)
    assert f"{run.best_val_loss:.4f}" == "0.4291"
    assert f"{run.accuracy:.3f}" == "0.833"
    assert f"{run.train_losses[-1]:.4f}" == "0.4681"
    assert len(run.train_losses) == len(run.val_losses) == len(run.orders) == 33


def test_pytorch_agrees_to_1e_10_at_every_epoch():
    twin = pytorch_twin()
    assert len(twin.differences) == 33
    assert max(twin.differences) < 1e-10


@settings(max_examples=10, deadline=None)
@given(
    lr=st.floats(0.001, 0.1),
    momentum=st.floats(0, 0.95),
    batch_size=st.integers(8, 240),
    hidden=st.integers(1, 32),
    seed=st.integers(0, 999),
)
def test_pytorch_agrees_whatever_the_settings(lr, momentum, batch_size, hidden, seed):
    config = NumpyConfig(lr, momentum, batch_size, patience=3, hidden=hidden, most_epochs=5, seed=seed)
    assert max(pytorch_twin(config).differences) < 1e-9


def test_a_run_that_diverges_is_a_result_too():
    run = run_numpy(NumpyConfig(lr=1, momentum=0.99, batch_size=8, patience=3))
    assert run.early
    assert run.stopped >= 3
    assert np.isnan(run.best_val_loss) or run.best_val_loss == min(v for v in run.val_losses if v == v)


def a_batch(seed, n=6, hidden=5):
    rng = numpy_generator(seed)
    return start_weights(rng, hidden), rng.normal(0, 2, (n, 2)), rng.integers(0, 3, n)


@pytest.mark.parametrize("seed", range(5))
def test_backward_is_autograds(seed):
    weights, x, y = a_batch(seed)
    gradients = backward(weights, x, *forward(weights, x), y)
    model = as_module(weights)
    F.cross_entropy(model(torch.tensor(x)), torch.tensor(y)).backward()
    theirs = {"W1": model[0].weight.grad.T, "b1": model[0].bias.grad, "W2": model[2].weight.grad.T}
    theirs["b2"] = model[2].bias.grad
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, theirs[name].numpy(), rtol=0, atol=1e-14)


def test_backward_is_the_slope_by_finite_differences():
    weights, x, y = a_batch(1)
    gradients = backward(weights, x, *forward(weights, x), y)
    for name, values in weights.items():
        for place in np.ndindex(values.shape):
            kept, h = values[place], 1e-6
            values[place] = kept + h
            above = cross_entropy(forward(weights, x)[1], y)
            values[place] = kept - h
            below = cross_entropy(forward(weights, x)[1], y)
            values[place] = kept
            assert gradients[name][place] == pytest.approx((above - below) / (2 * h), abs=1e-8)


def test_the_twin_draws_nothing_from_the_process_and_shares_no_memory():
    before = torch.get_rng_state()
    weights, _, _ = a_batch(0)
    model = as_module(weights)
    assert torch.equal(torch.get_rng_state(), before)
    with torch.no_grad():
        model[0].bias += 1
    assert not weights["b1"].any()


def test_the_grid_says_what_the_net_says():
    grid, run = decision_grid(points=40), run_numpy()
    assert grid.classes.shape == grid.confidence.shape == (40, 40)
    place = np.array([[grid.x[3], grid.y[30]]])
    assert grid.classes[30, 3] == forward(run.best_weights, place)[1].argmax()
    assert (grid.confidence >= 1 / 3).all()
    assert set(np.unique(grid.classes)) == {0, 1, 2}


def test_fields_are_those_of_the_config():
    assert set(FIELDS) == set(vars(NumpyConfig()))


def test_marked_lines_are_lines_of_the_script():
    lines = [line.strip() for line in numpy_script().splitlines()]
    for pair in LINES:
        assert pair.numpy in lines


@pytest.mark.parametrize("config", [NumpyConfig(), NumpyConfig(lr=0.02, batch_size=50, patience=4, hidden=16)], ids=str)
@pytest.mark.parametrize("write", [numpy_script, pytorch_script])
def test_both_scripts_print_the_same_numbers(config, write, run_script):
    run = run_numpy(config)
    output, _ = run_script(write(config))
    assert output.splitlines() == [
        f"stopped at epoch {run.stopped}, best epoch {run.best}, val loss {run.best_val_loss:.4f}",
        f"val accuracy {run.accuracy:.3f}, last train loss {run.train_losses[-1]:.4f}",
    ]


def test_the_twin_finds_the_same_best_epoch_by_itself():
    run, twin = run_numpy(), pytorch_twin()
    assert (twin.best, twin.accuracy) == (run.best, pytest.approx(run.accuracy))
    assert twin.largest == max(twin.differences)
