"""Ready-made orders of calls: what is right, what is equally right, and what goes wrong without a word."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.messages import N_
from core.scenes import SCENES
from core.trace import Snapshot, StepConfig, replay


@dataclass(frozen=True)
class Story:
    key: str
    title: str
    calls: str
    config: StepConfig = field(default_factory=StepConfig)


STORIES = {
    story.key: story
    for story in (
        Story("right-order", N_("The right order"), "flzbs"),
        Story("zero-grad-first", N_("zero_grad first: equally right"), "zflbszflbs"),
        Story("no-zero-grad", N_("zero_grad forgotten"), "flbsflbsflbs"),
        Story("zero-grad-before-step", N_("zero_grad between backward and step"), "flbzsflbzs"),
        Story("step-before-backward", N_("step before backward"), "flzsbflzsb"),
        Story("backward-twice", N_("backward twice"), "flzbbs"),
        Story("exercise-3", N_("Exercise 3: one weight, no zero_grad"), "flbsflbsflbs", StepConfig("scalar")),
        Story("exercise-3-right", N_("Exercise 3 with zero_grad"), "flzbsflzbsflzbs", StepConfig("scalar")),
        Story("accumulation", N_("Gradient accumulation, loss divided"), "zflbflbs", StepConfig("accumulate")),
        Story(
            "accumulation-undivided",
            N_("Gradient accumulation, loss not divided"),
            "zflbflbs",
            StepConfig("accumulate-undivided"),
        ),
    )
}

_RIGHT_SCENE = {"accumulate-undivided": "accumulate"}


def right_order(config: StepConfig, calls: str) -> Snapshot | None:
    """Where the right order stands after as many optimizer steps as `calls` made; None before the first step."""
    steps = calls.count("s")
    if not steps:
        return None
    config = config.resolved()
    scene = _RIGHT_SCENE.get(config.scene, config.scene)
    right = StepConfig(**{**vars(config), "scene": scene})
    return replay(right, SCENES[scene].order * steps)[-1]
