"""Mistakes that raise nothing: the right loop and the wrong one, both trained, and the numbers that tell them apart."""

from __future__ import annotations

import copy
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

from core.batches import ShuffledLoader, draw_base_seed, in_order
from core.config import Choice, Field, Number
from core.data import Dataset, bazarghar
from core.loop import TrainingLoop, evaluate
from core.messages import N_
from core.metrics import naive_mean, weighted_mean
from core.mistake_code import ACCUMULATING
from core.model import make_model
from core.rng import RandomStream
from core.schedules import WARNING_BEGINS
from core.turns import heavy
from core.warned import taking

EPOCHS = 15
MICRO_BATCH, WINDOW = 16, 4


@dataclass(frozen=True)
class Mistake:
    key: str
    title: str
    signs: tuple[str, ...]
    """Fields of `MistakeRun` that give it away."""
    why_not_accuracy: str
    """Why accuracy alone does not show it."""


MISTAKES = {
    mistake.key: mistake
    for mistake in (
        Mistake(
            "softmax",
            N_("Softmax before cross-entropy"),
            ("val_loss", "confidences"),
            N_(
                "Softmax keeps the order of its inputs, so the largest class is the same before and after, and "
                "accuracy asks for no more. How sure the model is has changed: with a floor under its loss it can only "
                "gain by driving the logits apart, wrong answers included."
            ),
        ),
        Mistake(
            "no-zero-grad",
            N_("zero_grad forgotten"),
            ("grad_norms", "val_loss"),
            N_(
                "Adam divides by the size of the gradients, so the steps stay small and the model still learns "
                "something; a mediocre accuracy looks like a hard problem. The gradient norm shows it at once."
            ),
        ),
        Mistake(
            "no-eval",
            N_("model.eval() forgotten in validation"),
            ("val_three_times", "best_epoch"),
            N_(
                "The loop trains as it should, and dropout only blurs the measurement, so every accuracy is plausible. "
                "Measured twice on the same model and data, the val loss differs, and the best epoch is partly luck."
            ),
        ),
        Mistake(
            "naive-mean",
            N_("Naive mean of the batch losses"),
            ("shown_val_losses",),
            N_(
                "The model is the same to the bit, so its accuracy, counted properly, is too. Only the val loss that "
                "is shown, and all that is decided by it, is off by what the small last batch weighs too much."
            ),
        ),
        Mistake(
            "scheduler-first",
            N_("scheduler.step() before optimizer.step()"),
            ("lrs", "warning"),
            N_(
                "The schedule comes one epoch early, which moves accuracy less than another seed would. The rates that "
                "the steps used show it, and PyTorch says so in a warning that scrolls by."
            ),
        ),
        Mistake(
            "best-by-reference",
            N_("Best weights kept by reference"),
            ("kept_val_loss",),
            N_(
                "state_dict() returns the live tensors, so the kept weights are the last epoch's. Their accuracy is as "
                "good as the last line of the log, which looks right; their val loss is not the best one reported."
            ),
        ),
        Mistake(
            "undivided",
            N_("Accumulation: the loss not divided"),
            ("grad_norms",),
            N_(
                "Adam divides the scale of the gradient out again, so training hardly changes; with SGD the same line "
                "multiplies the learning rate by the number of micro-batches. The gradient norm tells."
            ),
        ),
        Mistake(
            "window-dropped",
            N_("Accumulation: the last window dropped"),
            ("grad_norms",),
            N_(
                "Each epoch leaves out a few customers, others each time, since the rows are shuffled. Accuracy does "
                "not feel a few per cent less data; the number of steps does."
            ),
        ),
    )
}

FIELDS: dict[str, Field] = {"mistake": Choice(tuple(MISTAKES)), "seed": Number(0, 2**32 - 1, whole=True)}


@dataclass(frozen=True)
class MistakeRun:
    """One loop trained for `EPOCHS` epochs without early stopping."""

    val_loss: float
    """Cross-entropy of the logits in eval mode at the end, whatever the loop itself measures."""
    val_acc: float
    train_loss: float
    """Of the logits, in eval mode, at the end."""
    shown_val_losses: tuple[float, ...]
    """What the loop itself reports after each epoch."""
    true_val_losses: tuple[float, ...]
    """The cross-entropy of the logits in eval mode after each epoch."""
    val_three_times: tuple[float, float, float]
    """The loop's own val loss measured three times on the finished model."""
    grad_norms: tuple[float, ...]
    """Length of the whole gradient at each optimizer step."""
    lrs: tuple[float, ...]
    """The learning rate of each optimizer step."""
    confidences: tuple[float, ...]
    """For each validation customer, the probability of the class that the model names (softmax of the logits)."""
    best_epoch: int
    """The epoch that the loop takes for the best, counted from 1."""
    kept_val_loss: float
    """The true val loss of the weights that the loop kept as the best."""
    warning: str | None
    """PyTorch's own, about the scheduler."""

    @property
    def confidence(self) -> float:
        """Mean of `confidences`."""
        return statistics.fmean(self.confidences)

    @property
    def median_grad_norm(self) -> float:
        return statistics.median(self.grad_norms)

    @property
    def steps_at_first_rate(self) -> int:
        return self.lrs.count(self.lrs[0])

    @property
    def best_shown(self) -> float:
        """The val loss that the loop reports as its best."""
        return min(self.shown_val_losses)

    def histogram(self, bins: int = 10) -> tuple[int, ...]:
        """How many validation customers have a confidence in each of `bins` equal parts of 0 to 1."""
        counts = [0] * bins
        for confidence in self.confidences:
            counts[min(int(confidence * bins), bins - 1)] += 1
        return tuple(counts)


class Trainer:
    """The loop of `core.mistake_code` for one mistake, made or not made, over a `TrainingLoop`."""

    def __init__(self, key: str, wrong: bool, seed: int, data: Dataset, rate_halves_every: int = 4) -> None:
        self.fault = key if wrong else ""
        self.data = data
        self.accumulating = key in ACCUMULATING
        self.stream = RandomStream(seed)
        with self.stream.active():
            self.logits_model = make_model(data.x.shape[1], len(data.classes))
        model = self.logits_model
        if self.fault == "softmax":
            model = nn.Sequential(model, nn.Softmax(dim=1))
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        self.loop = TrainingLoop(model, F.cross_entropy, optimizer)
        self.scheduler = lr_scheduler.StepLR(optimizer, rate_halves_every, 0.5) if key == "scheduler-first" else None
        self.loader = ShuffledLoader(len(data.x), MICRO_BATCH if self.accumulating else 64, seed)
        self.val_batches = in_order(data.x_val, data.y_val, 64)
        self.grad_norms: list[float] = []
        self.lrs: list[float] = []
        self.losses: list[float] = []
        self.warning: str | None = None

    def train_epoch(self) -> None:
        """One pass over the training rows, and the scheduler where this loop has it."""
        if self.fault == "scheduler-first":
            self._step_scheduler()
        with self.stream.active():
            self.loop.model.train()
            batches = [(self.data.x[rows], self.data.y[rows]) for rows in self.loader.draw()]
            for micro_batches in self._windows(batches):
                self._train(micro_batches)
        if self.fault != "scheduler-first":
            self._step_scheduler()

    def _windows(self, batches: list[tuple[Tensor, Tensor]]) -> Iterator[list[tuple[Tensor, Tensor]]]:
        if not self.accumulating:
            yield from ([batch] for batch in batches)
            return
        for begin in range(0, len(batches), WINDOW):
            yield batches[begin : begin + WINDOW]

    def _train(self, micro_batches: list[tuple[Tensor, Tensor]]) -> None:
        """One optimizer step, unless the mistake is to leave it out after the gradients of a short window."""
        loop = self.loop
        divisor = 1 if self.fault == "undivided" else len(micro_batches)
        loop.loss_fn = lambda logits, yb: F.cross_entropy(logits, yb) / divisor
        if self.accumulating:
            loop.zero_grad()
        for xb, yb in micro_batches:
            loop.forward(xb)
            loop.loss(yb)
            self.losses.append(loop.loss_tensor.item() * divisor)
            if not self.accumulating and self.fault != "no-zero-grad":
                loop.zero_grad()
            loop.backward()
        if self.fault == "window-dropped" and len(micro_batches) < WINDOW:
            return
        self.grad_norms.append(torch.cat([p.grad.flatten() for p in loop.model.parameters()]).norm().item())
        self.lrs.append(loop.optimizer.param_groups[0]["lr"])
        loop.step()

    def _step_scheduler(self) -> None:
        if self.scheduler is None:
            return
        with taking(WARNING_BEGINS) as taken:
            self.scheduler.step()
        self.warning = self.warning or (taken[0] if taken else None)

    def validate(self) -> float:
        """The val loss as this loop measures it, right or wrong."""
        model = self.loop.model
        with self.stream.active(), torch.no_grad():
            draw_base_seed()
            if self.fault not in ("no-eval", "naive-mean"):
                return evaluate(model, self.val_batches, F.cross_entropy)[0]
            model.train(self.fault == "no-eval")
            means = [F.cross_entropy(model(xb), yb).item() for xb, yb in self.val_batches]
            sizes = [len(yb) for _, yb in self.val_batches]
            return (naive_mean if self.fault == "naive-mean" else weighted_mean)(means, sizes)

    def true_val(self) -> tuple[float, float]:
        """Loss and accuracy of the logits, in eval mode; draws nothing."""
        return evaluate(self.logits_model, [(self.data.x_val, self.data.y_val)], F.cross_entropy)


@heavy(64)
def run_mistake(key: str, wrong: bool, seed: int = 0, epochs: int = EPOCHS) -> MistakeRun:
    """Train the loop of mistake `key` on the customers, with the mistake or without."""
    trainer = Trainer(key, wrong, seed, bazarghar())
    shown, true = [], []
    best, best_epoch, best_weights = float("inf"), 0, None
    for epoch in range(1, epochs + 1):
        trainer.train_epoch()
        shown.append(trainer.validate())
        true.append(trainer.true_val()[0])
        if shown[-1] < best:
            weights = trainer.loop.model.state_dict()
            best, best_epoch = shown[-1], epoch
            best_weights = weights if trainer.fault == "best-by-reference" else copy.deepcopy(weights)
    three = tuple(trainer.validate() for _ in range(3))
    val_loss, val_acc = trainer.true_val()
    train_loss, _ = evaluate(trainer.logits_model, [(trainer.data.x, trainer.data.y)], F.cross_entropy)
    with torch.no_grad():
        trainer.logits_model.eval()
        confidences = torch.softmax(trainer.logits_model(trainer.data.x_val), dim=1).amax(dim=1)
    trainer.loop.model.load_state_dict(best_weights)
    return MistakeRun(
        val_loss=val_loss,
        val_acc=val_acc,
        train_loss=train_loss,
        shown_val_losses=tuple(shown),
        true_val_losses=tuple(true),
        val_three_times=three,
        grad_norms=tuple(trainer.grad_norms),
        lrs=tuple(trainer.lrs),
        confidences=tuple(confidences.tolist()),
        best_epoch=best_epoch,
        kept_val_loss=trainer.true_val()[0],
        warning=trainer.warning,
    )
