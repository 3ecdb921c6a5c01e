"""The lesson's figures, PyTorch's own answers to any order of calls, and isolation between threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from core.data import four_examples
from core.loop import CALLS
from core.scenes import SCENES
from core.trace import OPTIMIZERS, Player, Snapshot, StepConfig, replay

calls_of_any_order = st.text(alphabet="flzbs", max_size=14)


def digits(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def test_the_lessons_step_to_the_digits_printed() -> None:
    start, forward, loss, zero_grad, backward, step = replay(StepConfig().resolved(), "flzbs")
    assert (digits(start.w), start.grad, start.loss) == (-0.0053, None, None)
    assert (tuple(forward.logits.shape), forward.grad_fn) == ((4, 3), "AddmmBackward0")
    assert digits(loss.loss) == 1.3007
    assert (zero_grad.grad, zero_grad.outcome) == (None, "nothing")
    assert (digits(backward.grad), backward.w) == (0.1648, start.w)
    assert (digits(step.w), digits(step.next_loss)) == (-0.0218, 1.2371)


def test_exercise_3_without_and_with_zero_grad() -> None:
    def after(calls: str, call: str) -> list[tuple[float, float]]:
        snapshots = replay(StepConfig("scalar").resolved(), calls)
        return [(round(s.grad, 3), round(s.w, 3)) for s in snapshots if s.call == call]

    assert after("flbs" * 3, "step") == [(9.0, 0.1), (9.9, -0.89), (1.89, -1.079)]
    assert after("flzbs" * 3, "step") == [(9.0, 0.1), (0.9, 0.01), (0.09, 0.001)]


def test_backward_twice_raises_pytorchs_error_and_changes_nothing() -> None:
    *_, first, second, step = replay(StepConfig().resolved(), "flzbbs")
    assert isinstance(second.error, RuntimeError)
    assert "second time" in str(second.error)
    assert (second.outcome, second.changed, second.grad) == ("error", frozenset(), first.grad)
    assert digits(step.w) == -0.0218


def test_step_without_gradients_is_silent_and_does_nothing() -> None:
    for optimizer in OPTIMIZERS:
        *_, step = replay(StepConfig(optimizer=optimizer).resolved(), "flbzs")
        assert (step.outcome, step.error, step.optimizer_state) == ("nothing", None, {})


def test_calls_before_their_inputs_raise_what_a_script_would() -> None:
    for calls, name in (("b", "loss"), ("l", "logits")):
        error = replay(StepConfig().resolved(), calls)[-1].error
        assert isinstance(error, NameError)
        assert str(error) == f"name '{name}' is not defined"


def test_none_is_kept_apart_from_zeros() -> None:
    grads = [
        replay(StepConfig(set_to_none=to_none).resolved(), "flbz")[-1].grads["weight"] for to_none in (True, False)
    ]
    assert grads[0] is None
    assert torch.equal(grads[1], torch.zeros(3, 2))


def test_accumulation_divided_equals_the_whole_batch_and_undivided_is_twice_that() -> None:
    whole = replay(StepConfig().resolved(), "flzb")[-1].grads["weight"]
    divided = replay(StepConfig("accumulate").resolved(), "zflbflb")[-1].grads["weight"]
    undivided = replay(StepConfig("accumulate-undivided").resolved(), "zflbflb")[-1].grads["weight"]
    torch.testing.assert_close(divided, whole)
    torch.testing.assert_close(undivided, 2 * whole)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_right_order_is_what_a_plain_script_computes(optimizer: str) -> None:
    config = StepConfig(optimizer=optimizer, lr=0.05, weight_decay=0.02).resolved()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = torch.nn.Linear(2, 3)
    opt = config.make_optimizer(model.parameters())
    x, y = four_examples()
    for _ in range(4):
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    last = replay(config, "flzbs" * 4)[-1]
    assert torch.equal(last.parameters["weight"], model.weight)
    assert torch.equal(last.parameters["bias"], model.bias)
    assert last.loss == loss.item()


@given(calls_of_any_order, st.sampled_from(sorted(SCENES)), st.sampled_from(OPTIMIZERS))
@settings(max_examples=60, deadline=None)
def test_any_order_only_changes_what_its_call_may_change(calls: str, scene: str, optimizer: str) -> None:
    may_change = {
        "forward": {"logits"},
        "loss": {"loss"},
        "zero_grad": {"grad"},
        "backward": {"grad"},
        "step": {"w", "state"},
    }
    snapshots = replay(StepConfig(scene, optimizer).resolved(), calls)
    assert [s.call for s in snapshots] == ["start", *(CALLS[code] for code in calls)]
    for snapshot in snapshots[1:]:
        assert snapshot.changed <= may_change[snapshot.call]
        assert snapshot.error is None or not snapshot.changed


@given(calls_of_any_order)
@settings(max_examples=30, deadline=None)
def test_back_is_the_same_calls_with_one_fewer(calls: str) -> None:
    config = StepConfig().resolved()
    for whole, prefix in zip(replay(config, calls), replay(config, calls[:-1]), strict=False):
        same(whole, prefix)


def same(a: Snapshot, b: Snapshot) -> None:
    assert (a.call, a.w, a.grad, a.loss, a.outcome) == (b.call, b.w, b.grad, b.loss, b.outcome)
    assert all(torch.equal(a.parameters[name], b.parameters[name]) for name in a.parameters)


def test_many_threads_replay_at_once_as_if_alone() -> None:
    configs = [StepConfig(seed=seed, optimizer=OPTIMIZERS[seed % 3]).resolved() for seed in range(40)]
    replay.cache_clear()
    outside = torch.get_rng_state()
    alone = [replay.__wrapped__(config, "flzbs" * 3)[-1] for config in configs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda config: replay.__wrapped__(config, "flzbs" * 3)[-1], configs))
    for a, b in zip(alone, together, strict=True):
        same(a, b)
    assert torch.equal(outside, torch.get_rng_state())


def test_the_player_leaves_the_snapshots_alone() -> None:
    player = Player(StepConfig().resolved())
    before = player.snapshot(0, "start", None, None)
    kept = before.parameters["weight"].clone()
    for code in "flzbs":
        player.play(code)
    assert torch.equal(before.parameters["weight"], kept)
