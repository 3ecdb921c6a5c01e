"""A run that is interrupted and resumed, beside the same run left alone: equal to the bit, or where they part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import torch
from torch import Tensor

from core.checkpoint import SKIPPABLE, Checkpoint, load, to_bytes
from core.config import Choice, Field, Number, SettingError
from core.fit import EpochRecord, FitConfig, Run, StepRecord, log_line
from core.messages import N_
from core.turns import TURNS, heavy

ORDERS = ("right", "rng-before-skip", "stopper-before-update")
"""In which order the trainer saves and resumes; the two wrong ones were shipped by real trainers."""


@dataclass(frozen=True)
class Parts:
    """A list of names, separated by commas, in any order and without repeats; "rng" stands for both generators."""

    names: tuple[str, ...] = SKIPPABLE

    def help(self) -> str:
        return ", ".join((*self.names, "rng"))

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        wanted = {part.strip().lower().replace("-", "_") for part in text.split(",")} - {""}
        if "rng" in wanted:
            wanted = wanted - {"rng"} | {"torch_rng", "loader_rng"}
        if wanted - set(self.names):
            raise SettingError(name, text, "{names}", names=self.help())
        return tuple(part for part in self.names if part in wanted)


FIELDS: dict[str, Field | Parts] = {
    "epoch": Number(0, 100, whole=True),
    "batch": Number(0, 400, whole=True),
    "skip": Parts(),
    "order": Choice(ORDERS),
}
"""What the address may say besides the fields of the run; `write_parts` writes `skip`."""


def write_parts(parts: tuple[str, ...]) -> str:
    return ",".join(parts)


@dataclass(frozen=True)
class ResumeConfig:
    """Where a run is interrupted, and what its resume gets wrong."""

    fit: FitConfig = FitConfig()  # noqa: RUF009 - frozen, so it is safe to share
    epoch: int = 6
    """How many epochs are finished when it is interrupted."""
    batch: int = 0
    """How many batches of the next epoch are trained then."""
    skip: tuple[str, ...] = ()
    order: str = "right"


@dataclass(frozen=True)
class Side:
    """One of the two runs: `steps` and `epochs` from the interruption on, `log` as the command line prints it."""

    steps: tuple[StepRecord, ...]
    epochs: tuple[EpochRecord, ...]
    weights: Mapping[str, Tensor]
    """Those that the run ended with."""
    traces: tuple[str, ...]
    """A hash of the weights after each of `steps`."""

    @property
    def log(self) -> tuple[str, ...]:
        return tuple(map(log_line, self.epochs))


REASONS = {
    "order": N_("the batches hold other rows"),
    "lr": N_("the learning rate is another"),
    "loss": N_("the same rows and the same learning rate, but another loss: other dropout masks"),
    "step": N_("the same rows, rate and loss, but the step moves the weights otherwise: the optimizer has forgotten"),
    "length": N_("every step is the same, but one run ends before the other"),
    "log": N_("every step is the same, but the log counts otherwise"),
}


@dataclass(frozen=True)
class Parting:
    """The first step at which the runs differ; a side is None where its run is over. `reason` is a key of REASONS."""

    reason: str
    full: StepRecord | None
    resumed: StepRecord | None


@dataclass(frozen=True)
class Comparison:
    """The run left alone (`full`) and the resumed one, from the interruption on."""

    before: tuple[EpochRecord, ...]
    """The epochs that both have in common."""
    full: Side
    resumed: Side
    equal_tensors: int
    tensors: int
    largest_difference: float
    parting: Parting | None
    """None if every tensor and every log line is the same."""
    size: int
    """Bytes of the checkpoint's file."""

    @property
    def exact(self) -> bool:
        return self.parting is None

    @property
    def rows(self) -> list[tuple[EpochRecord | None, EpochRecord | None]]:
        """The epochs side by side, in the order in which each run made them; None where one has ended."""
        n = max(len(self.full.epochs), len(self.resumed.epochs))
        full, resumed = (list(side.epochs) + [None] * (n - len(side.epochs)) for side in (self.full, self.resumed))
        return list(zip(full, resumed, strict=True))


def interrupt(config: FitConfig, epoch: int, batch: int, stopper_first: bool = False) -> tuple[Run, Checkpoint]:
    """Train up to there, or to the end if it comes first; the run, and the checkpoint that it would leave."""
    run = Run(config)
    run.advance(epoch, batch)
    return run, run.checkpoint(stopper_first=stopper_first)


@heavy(16)
def compare(config: ResumeConfig) -> Comparison:
    """Interrupt, save, load, resume and train to the end; and the same without the interruption."""
    run, checkpoint = interrupt(config.fit, config.epoch, config.batch, config.order == "stopper-before-update")
    file = to_bytes(checkpoint)
    before = tuple(run.history)
    full = _to_the_end(run)
    resumed = _to_the_end(Run.resume(load(file), skip=config.skip, rng_first=config.order == "rng-before-skip"))
    equal = [torch.equal(full.weights[name], resumed.weights[name]) for name in full.weights]
    difference = max((a - resumed.weights[name]).abs().max().item() for name, a in _floats(full.weights))
    return Comparison(
        before, full, resumed, sum(equal), len(equal), difference, _parting(full, resumed, all(equal)), len(file)
    )


def _floats(weights: Mapping[str, Tensor]) -> list[tuple[str, Tensor]]:
    return [(name, value) for name, value in weights.items() if value.is_floating_point()]


def _to_the_end(run: Run) -> Side:
    start = len(run.history)
    steps, traces = [], []
    while not run.done:
        while (step := run.step()) is not None:
            steps.append(step)
            traces.append(_hash(run.model.state_dict()))
        run.epoch()
        TURNS.give_way()
    weights = {name: value.clone() for name, value in run.model.state_dict().items()}
    return Side(tuple(steps), tuple(run.history[start:]), weights, tuple(traces))


def _hash(weights: Mapping[str, Any]) -> str:
    return sha256(b"".join(value.numpy().tobytes() for value in weights.values())).hexdigest()


def _parting(full: Side, resumed: Side, equal: bool) -> Parting | None:
    for index, (a, b) in enumerate(zip(full.steps, resumed.steps, strict=False)):
        for reason, same in (
            ("order", a.rows == b.rows),
            ("lr", a.lr == b.lr),
            ("loss", a.loss == b.loss or a.loss != a.loss != b.loss),
            ("step", full.traces[index] == resumed.traces[index]),
        ):
            if not same:
                return Parting(reason, a, b)
    n = min(len(full.steps), len(resumed.steps))
    if len(full.steps) != len(resumed.steps):
        return Parting("length", *(side.steps[n] if len(side.steps) > n else None for side in (full, resumed)))
    if full.log != resumed.log or full.epochs != resumed.epochs or not equal:
        first = next((i for i, (a, b) in enumerate(zip(full.epochs, resumed.epochs, strict=True)) if a != b), -1)
        return Parting("log", _last_step(full, first), _last_step(resumed, first))
    return None


def _last_step(side: Side, index: int) -> StepRecord | None:
    """The last step of the epoch at `index`; None if its steps were made before the interruption."""
    epoch = side.epochs[index].epoch
    return next((step for step in reversed(side.steps) if step.epoch == epoch), None)
