"""What a run leaves of each step and each epoch, and the lines of its log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EpochRecord:
    """One finished epoch. Losses are mean cross-entropies, accuracies from 0 to 1, both weighted by batch size."""

    epoch: int
    """Counted from 1."""
    train_loss: float
    """Measured while the weights moved and dropout was on; `val_loss` was measured after, with neither."""
    train_acc: float
    val_loss: float
    val_acc: float
    lr: float
    """What the epoch's steps used."""
    best: bool
    """Whether its val loss is the lowest so far."""
    best_epoch: int
    """0 as long as no val loss was a number."""
    best_val: float
    bad_epochs: int
    """How many epochs have passed without a lower val loss."""
    order: str
    """A hash of the order in which the epoch took the training rows."""
    stopped: bool
    """Whether early stopping ended the run here."""


@dataclass(frozen=True)
class StepRecord:
    """One optimizer step: `batch` is counted from 1 within the epoch, `loss` is that of the batch before the step."""

    epoch: int
    batch: int
    rows: tuple[int, ...]
    lr: float
    loss: float


def log_line(record: EpochRecord) -> str:
    """The epoch as the command line prints it."""
    mark = " *best" if record.best else ""
    train = f"train {record.train_loss:.4f} {record.train_acc:.3f}"
    return f"ep {record.epoch:3d} | {train} | val {record.val_loss:.4f} {record.val_acc:.3f}{mark}"


def ending_of(last: EpochRecord) -> str:
    """The last line of the log of a run that ended with this epoch."""
    return ending(last.stopped, last.epoch, last.best_epoch, last.bad_epochs)


def ending(stopped: bool, epochs: int, best_epoch: int, bad_epochs: int) -> str:
    """How a run ended, and at which epoch it was best."""
    best = f"best epoch {best_epoch}" if best_epoch else "no epoch gave a finite val loss"
    if stopped:
        return f"early stop: val loss has not fallen for {bad_epochs} epochs; {best}"
    return f"all {epochs} epochs done; {best}"
