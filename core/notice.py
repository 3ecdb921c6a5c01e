"""What there is to notice in a run: where val loss turns, where accuracy and loss disagree, why epoch 1 starts high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.batches import in_order
from core.data import Dataset
from core.fit import Run
from core.fit_config import FitConfig
from core.loop import evaluate
from core.records import EpochRecord


@dataclass(frozen=True)
class Turn:
    """From its lowest val loss on, a run learns its training rows by heart: train loss falls, val loss does not."""

    best: EpochRecord
    last: EpochRecord

    @property
    def overfits(self) -> bool:
        return self.last.val_loss > self.best.val_loss and self.last.train_loss < self.best.train_loss


@dataclass(frozen=True)
class FirstEpoch:
    """Epoch 1's train loss measured on the way, and again at its end, as val loss is: in eval mode, weights still."""

    on_the_way: float
    at_its_end: float
    val_loss: float


def turn(records: Sequence[EpochRecord]) -> Turn | None:
    """None as long as no val loss was a number."""
    best = _best(records)
    return None if best is None else Turn(best, records[-1])


def disagreement(records: Sequence[EpochRecord]) -> tuple[EpochRecord, EpochRecord] | None:
    """The epoch of the lowest val loss and one of higher accuracy in spite of a higher loss; None if there is none."""
    best = _best(records)
    if best is None:
        return None
    sharpest = max(records, key=lambda record: record.val_acc)
    return (best, sharpest) if sharpest.val_acc > best.val_acc else None


def first_epoch(config: FitConfig, data: Dataset | None = None) -> FirstEpoch:
    """Train one epoch, about 6 ms, and measure the training rows once more."""
    run = Run(config, data)
    record = run.epoch()
    batches = in_order(run.data.x, run.data.y, config.batch_size)
    again, _ = evaluate(run.model, batches, run.loop.loss_fn)
    return FirstEpoch(record.train_loss, again, record.val_loss)


def _best(records: Sequence[EpochRecord]) -> EpochRecord | None:
    return next((record for record in reversed(records) if record.best), None)
