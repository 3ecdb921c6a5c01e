"""Each story shows what its title says, beside the right order."""

from __future__ import annotations

from core.stories import STORIES, right_order
from core.trace import StepConfig, replay


def difference(key: str) -> float:
    story = STORIES[key]
    config = story.config.resolved()
    return replay(config, story.calls)[-1].w - right_order(config, story.calls).w


def test_orders_that_are_right_end_where_the_right_order_ends() -> None:
    for key in ("right-order", "zero-grad-first", "exercise-3-right", "accumulation"):
        assert difference(key) == 0


def test_orders_that_are_wrong_do_not() -> None:
    for key in (
        "no-zero-grad",
        "zero-grad-before-step",
        "step-before-backward",
        "exercise-3",
        "accumulation-undivided",
    ):
        assert abs(difference(key)) > 1e-3, key


def test_a_second_backward_raises_and_does_no_harm() -> None:
    story = STORIES["backward-twice"]
    assert [s.outcome for s in replay(story.config.resolved(), story.calls)].count("error") == 1
    assert difference("backward-twice") == 0


def test_zero_grad_between_backward_and_step_never_learns() -> None:
    story = STORIES["zero-grad-before-step"]
    snapshots = replay(story.config.resolved(), story.calls)
    assert snapshots[-1].w == snapshots[0].w


def test_there_is_nothing_to_compare_before_a_step() -> None:
    assert right_order(StepConfig(), "flzb") is None
