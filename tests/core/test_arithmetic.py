"""What the page works out from the terms it shows equals what PyTorch computed."""

from __future__ import annotations

import itertools

import pytest

from core.arithmetic import derive
from core.stories import STORIES
from core.trace import OPTIMIZERS, Snapshot, StepConfig, replay


def computed(now: Snapshot) -> float:
    return {
        "forward": lambda: now.logits.reshape(-1)[0].item(),
        "loss": lambda: now.loss,
        "backward": lambda: now.grad,
        "step": lambda: now.w,
    }[now.call]()


@pytest.mark.parametrize("weight_decay", [0.0, 0.05])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.key)
def test_every_derivation_ends_in_pytorchs_number(story, optimizer: str, weight_decay: float) -> None:
    config = StepConfig(story.config.scene, optimizer, weight_decay=weight_decay).resolved()
    snapshots = replay(config, story.calls)
    derived = 0
    for before, now in itertools.pairwise(snapshots):
        found = derive(config, before, now)
        if found is None:
            assert now.call == "zero_grad" or now.outcome in ("error", "nothing")
            continue
        derived += 1
        assert found.result == pytest.approx(computed(now), rel=2e-6, abs=2e-7)
        assert found.lines[-1][-1] == found.result
    assert derived >= len(story.calls) // 2


def test_the_loss_shows_a_term_for_each_example_and_the_gradient_a_product() -> None:
    config = StepConfig().resolved()
    snapshots = replay(config, "flzb")
    loss = derive(config, snapshots[1], snapshots[2])
    assert [line[0] for line in loss.lines[:4]] == ["−log "] * 4
    terms = [line[-1] for line in loss.lines[:4]]
    assert sum(terms) / 4 == loss.result
    gradient = derive(config, snapshots[3], snapshots[4])
    assert round(gradient.result, 4) == 0.1648


def test_a_gradient_that_was_there_is_a_term_of_the_new_one() -> None:
    config = StepConfig("scalar").resolved()
    snapshots = replay(config, "flbsflb")
    *_, last = derive(config, snapshots[-2], snapshots[-1]).lines
    assert last[:4] == (".grad: ", 9.0, " + ", pytest.approx(0.9))
