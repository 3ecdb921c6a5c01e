"""A run that is interrupted and resumed, beside the same run left alone: equal to the bit, or where they part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import torch
from torch import Tensor

from core.checkpoint import SKIPPABLE, Checkpoint, CheckpointError, load, same_leaf, to_bytes
from core.config import Choice, Field, Names, Number
from core.fit import Run
from core.fit_config import FitConfig
from core.messages import N_
from core.records import EpochRecord, StepRecord, log_line
from core.turns import TURNS, heavy

ORDERS = ("right", "rng-before-skip", "stopper-before-update")
"""In which order the trainer saves and resumes; the two wrong ones were shipped by real trainers."""


PARTS = Names(SKIPPABLE, {"rng": ("torch_rng", "loader_rng")})
"""The parts of a checkpoint that a resume can leave out; "rng" stands for both generators."""

FIELDS: dict[str, Field] = {
    "epoch": Number(0, 100, whole=True),
    "batch": Number(0, 400, whole=True),
    "skip": PARTS,
    "order": Choice(ORDERS),
}
"""What the address may say besides the fields of the run."""


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
    "weights": N_("the weights in the file are not those that this run has at that place"),
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
    file: bytes
    """The checkpoint as it was saved."""

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


@dataclass(frozen=True)
class _Alone:
    """The run left alone: its epochs until the interruption, the file and weights of that moment, and what follows."""

    before: tuple[EpochRecord, ...]
    file: bytes
    weights: Mapping[str, Tensor]
    after: Side


@heavy(16)
def _left_alone(config: FitConfig, epoch: int, batch: int, stopper_first: bool = False) -> _Alone:
    """Kept, since a page compares it with one resume after another."""
    run, checkpoint = interrupt(config, epoch, batch, stopper_first)
    before = tuple(run.history)
    return _Alone(before, to_bytes(checkpoint), checkpoint["model"], _to_the_end(run))


@heavy(16)
def compare(config: ResumeConfig) -> Comparison:
    """Interrupt, save, load, resume and train to the end; and the same without the interruption."""
    alone = _left_alone(config.fit, config.epoch, config.batch, config.order == "stopper-before-update")
    resumed = Run.resume(load(alone.file), skip=config.skip, rng_first=config.order == "rng-before-skip")
    return _beside(alone, resumed, alone.file)


@heavy(64)
def extent(config: FitConfig) -> tuple[int, int]:
    """How many epochs the run has when it is left alone, and how many batches an epoch has."""
    run = Run(config)
    while not run.done:
        run.epoch()
    return run.epochs, run.batches


MOST_EPOCHS_ON = 20
"""So many epochs, at most, does a run go on from a file that came from anywhere."""


@heavy(4)
def compare_file(file: bytes, skip: tuple[str, ...] = (), order: str = "right") -> Comparison:
    """Resume from a file, beside the run of its settings; raises CheckpointError if no run can go on from it."""
    checkpoint = load(file)
    try:
        at = Run.resume(checkpoint)
        config = replace(at.config, max_epochs=min(at.config.max_epochs, max(at.epochs, 1) + MOST_EPOCHS_ON))
        resumed = Run.resume(checkpoint, config=config, skip=skip, rng_first=order == "rng-before-skip")
        return _beside(_left_alone(config, at.epochs, at.batch), resumed, file)
    except CheckpointError:
        raise
    except Exception as error:  # right in kind and shape, but a step of 0 or the like, on which PyTorch stumbles
        raise CheckpointError(N_("No run can go on with the numbers in this file.")) from error


def _beside(alone: _Alone, run: Run, file: bytes) -> Comparison:
    """Train `run`, which was resumed from `file`, to the end, and compare it with the one left alone."""
    same_start = _all_equal(alone.weights, run.model.state_dict())
    full, resumed = alone.after, _to_the_end(run)
    equal = [same_leaf(full.weights[name], resumed.weights[name]) for name in full.weights]
    if same_start:
        parting = _parting(full, resumed, all(equal))
    else:
        parting = Parting("weights", *(side.steps[0] if side.steps else None for side in (full, resumed)))
    difference = _largest_difference(full.weights, resumed.weights)
    return Comparison(alone.before, full, resumed, sum(equal), len(equal), difference, parting, file)


def _all_equal(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> bool:
    return all(same_leaf(a[name], b[name]) for name in a)


def _largest_difference(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> float:
    """Over all numbers; those that are NaN, or infinite alike, on both sides do not differ."""
    largest = 0.0
    for name, left in a.items():
        right = b[name]
        differs = (left != right) & ~(left.isnan() & right.isnan())
        if differs.any():
            largest = max(largest, (left - right)[differs].abs().nan_to_num(torch.inf).max().item())
    return largest


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
            ("loss", repr(a.loss) == repr(b.loss)),
            ("step", full.traces[index] == resumed.traces[index]),
        ):
            if not same:
                return Parting(reason, a, b)
    n = min(len(full.steps), len(resumed.steps))
    if len(full.steps) != len(resumed.steps):
        return Parting("length", *(side.steps[n] if len(side.steps) > n else None for side in (full, resumed)))
    # By their texts, in which NaN equals NaN and every digit is there.
    a, b = ([repr(epoch) for epoch in side.epochs] for side in (full, resumed))
    if a != b or not equal:
        first = next((i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), -1)
        return Parting("log", _last_step(full, first), _last_step(resumed, first))
    return None


def _last_step(side: Side, index: int) -> StepRecord | None:
    """The last step of the epoch at `index`; None if its steps were made before the interruption."""
    epoch = side.epochs[index].epoch
    return next((step for step in reversed(side.steps) if step.epoch == epoch), None)
