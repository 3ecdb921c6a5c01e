"""Checking a loop that somebody, or something, else wrote: what to look at, the test that proves it, and one test live.

The live one is the first test of any new loop: train on one batch over and over, and see the loss go to almost zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch.nn import functional as F

from core.data import Dataset, bazarghar
from core.loop import evaluate
from core.messages import N_, Message
from core.mistake_code import ACCUMULATING, head, overfit_lines
from core.mistakes import MISTAKES, Trainer
from core.turns import heavy


@dataclass(frozen=True)
class ReviewItem:
    key: str
    text: str
    """What to make sure of."""
    test: str
    """The quick test that proves it."""
    code: str
    """That test in a line or two."""
    page: str
    """Path of the page that shows the fault live."""
    mistake: str = ""
    """Key of the fault in `core.mistakes.MISTAKES`, for the page's own setting."""


CHECKLIST = (
    ReviewItem(
        "logits",
        N_("The model ends in Linear, and the loss gets logits; softmax appears only at inference."),
        N_("Look whether the rows of the output sum to 1. If they do, somebody has taken the softmax already."),
        "print(model(xb).sum(dim=1)[:3])",
        "losses",
        "softmax",
    ),
    ReviewItem(
        "zero-grad",
        N_("Every backward finds its gradients cleared, unless it accumulates on purpose."),
        N_("Print the gradient norm at each step: without zero_grad it grows to tens of times its size."),
        "print(torch.cat([p.grad.flatten() for p in model.parameters()]).norm())",
        "step",
        "no-zero-grad",
    ),
    ReviewItem(
        "eval",
        N_("Validation runs in eval mode, and training mode comes back after it."),
        N_("Measure the val loss twice on the same model: the two numbers must be one. Then look at model.training."),
        "print(validate(), validate(), model.training)",
        "modes",
        "no-eval",
    ),
    ReviewItem(
        "no-grad",
        N_("Validation runs under no_grad."),
        N_("Its output must not require a gradient."),
        "print(logits.requires_grad)  # inside validation: False",
        "modes",
    ),
    ReviewItem(
        "weighted-mean",
        N_("Means over batches are weighted by batch size, and divided by the number of examples."),
        N_("Change the batch size of the validation loader: the val loss must not move."),
        "print([validate(DataLoader(val_set, batch_size=n)) for n in (64, 50, 200)])",
        "metrics",
        "naive-mean",
    ),
    ReviewItem(
        "scheduler",
        N_("scheduler.step() comes after optimizer.step(), once per epoch or batch as its length was counted."),
        N_("Print the learning rate at every step: the first must be the schedule's first. Read every warning."),
        "print(opt.param_groups[0]['lr'])  # right before opt.step()",
        "optimizers",
        "scheduler-first",
    ),
    ReviewItem(
        "best-copy",
        N_("The best weights are a copy, or a file; not what state_dict() returned."),
        N_("Load them at the end and validate: the result must be the best val loss of the log."),
        "model.load_state_dict(best_weights); print(validate(), best)",
        "mistakes",
        "best-by-reference",
    ),
    ReviewItem(
        "accumulation",
        N_("Accumulated losses are divided by their number, and the last, short window makes its step too."),
        N_(
            "Without dropout, the gradient of four micro-batches must equal that of the one big batch; count the steps."
        ),
        "print(torch.allclose(accumulated_grad, big_batch_grad, atol=1e-6))",
        "mistakes",
        "undivided",
    ),
    ReviewItem(
        "checkpoint",
        N_("The checkpoint has model, optimizer, scheduler, epoch, best val loss, patience and every RNG state."),
        N_("Stop, resume, and compare with a run that was left alone: every weight equal to the bit."),
        "print(all(torch.equal(a[k], b[k]) for k in a))",
        "resume",
    ),
    ReviewItem(
        "data-leakage",
        N_("Mean and deviation for standardizing come from the training rows alone."),
        N_("The training part's own mean must be 0; the validation part's is close to it, and not exactly 0."),
        "print(x_train.mean(0), x_val.mean(0))",
        "train",
    ),
    ReviewItem(
        "own-version",
        N_("Nothing is from an older PyTorch: no Variable, no loss.data[0], and warnings are not ignored."),
        N_("Run a few steps with warnings made into errors, in your own version."),
        "python -W error train.py",
        "optimizers",
    ),
    ReviewItem(
        "seeds",
        N_("A claim that one model is better rests on several seeds, and on a simple baseline."),
        N_("Run three seeds of each and see whether the gap is larger than the spread."),
        "for seed in (0, 1, 2): ...",
        "train",
    ),
    ReviewItem(
        "test-set",
        N_("The final number comes from a test set that no decision has looked at."),
        N_("Search the code: the test loader must appear once, after training."),
        "grep -n test_loader train.py",
        "train",
    ),
    ReviewItem(
        "overfit",
        N_("The loop can learn one batch by heart."),
        N_("Train on one batch some hundred times: the loss must go to almost zero. It does not catch everything."),
        "for _ in range(300): train_on(xb, yb)",
        "review",
    ),
)

ALMOST_ZERO = 0.05
"""Below this mean loss of the last ten steps, the batch counts as learned by heart."""

_CAUGHT = N_("Caught: after {steps} passes over one batch the loss is still {loss}.")
_RIGHT = N_("A right loop: after {steps} passes the batch is learned by heart, with a loss of {loss}.")
_NOT_CAUGHT = {
    "no-eval": N_("Not caught (loss {loss}): the fault is in validation, and this test only trains."),
    "naive-mean": N_("Not caught (loss {loss}): the fault is in validation; and with one batch, both means are one."),
    "scheduler-first": N_("Not caught (loss {loss}): the rates come too early, and still suffice. The warning tells."),
    "best-by-reference": N_("Not caught (loss {loss}): the fault is in what is kept, not in what is learned."),
    "undivided": N_("Not caught (loss {loss}): Adam divides the gradient's scale out again."),
    "window-dropped": N_("Not caught (loss {loss}): one batch of 64 makes a whole window, and no short one is left."),
}
_LEARNED_ALL_THE_SAME = N_("Not caught here: the loss goes down to {loss} in spite of it.")


@dataclass(frozen=True)
class Overfit:
    """One loop trained on one batch over and over."""

    key: str
    """Key of the mistake, or "" for the right loop."""
    losses: tuple[float, ...]
    """The loss that the loop itself sees, one for each pass over the batch, dropout on."""
    true_loss: float
    """Cross-entropy of the logits on the batch at the end, in eval mode."""
    final: float
    """Mean of the last ten of `losses`."""

    @property
    def learned(self) -> bool:
        return self.final < ALMOST_ZERO

    @property
    def caught(self) -> bool:
        """Whether the test finds the mistake."""
        return bool(self.key) and not self.learned

    @property
    def verdict(self) -> Message:
        values = {"loss": f"{self.final:.4f}", "steps": str(len(self.losses))}
        if not self.key:
            return Message(_RIGHT if self.learned else _CAUGHT, values)
        return Message(_CAUGHT if self.caught else _NOT_CAUGHT.get(self.key, _LEARNED_ALL_THE_SAME), values)


@heavy(64)
def overfit_one_batch(key: str = "", steps: int = 300, seed: int = 0) -> Overfit:
    """Train the right loop, or the one with mistake `key`, on the first 64 customers, `steps` times."""
    batch = _one_batch()
    # The schedule of that mistake is stretched, or its rate would be gone long before the batch is learned.
    trainer = Trainer(key or next(iter(MISTAKES)), bool(key), seed, batch, rate_halves_every=max(steps // 3, 1))
    losses = []
    for _ in range(steps):
        seen = len(trainer.losses)
        trainer.train_epoch()
        losses.append(sum(trainer.losses[seen:]) / (len(trainer.losses) - seen))
    true_loss, _ = evaluate(trainer.logits_model, [(batch.x, batch.y)], F.cross_entropy)
    return Overfit(key, tuple(losses), true_loss, sum(losses[-10:]) / len(losses[-10:]))


def _one_batch() -> Dataset:
    whole = bazarghar()
    return replace(whole, x=whole.x[:64], y=whole.y[:64])


def same_gradient(window: int = 4) -> float:
    """How far the accumulated gradient of `window` micro-batches is from the big batch's: the checklist's own test."""
    batch = _one_batch()
    trainer = Trainer("undivided", False, 0, batch)
    loop, model = trainer.loop, trainer.logits_model.eval()
    gradients = []
    for parts in (1, window):
        loop.loss_fn = lambda logits, yb, parts=parts: F.cross_entropy(logits, yb) / parts
        loop.zero_grad()
        for xb, yb in zip(batch.x.chunk(parts), batch.y.chunk(parts), strict=True):
            loop.forward(xb)
            loop.loss(yb)
            loop.backward()
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    return (gradients[0] - gradients[1]).abs().max().item()


def script(key: str = "", steps: int = 300, seed: int = 0) -> str:
    """The same test as a file; it prints the mean loss of the last ten passes."""
    accumulating = key in ACCUMULATING
    fault = key or next(iter(MISTAKES))
    last = 10 * (4 if accumulating else 1)
    return f"""\
{head(seed, batch_size=64)}
one_batch = TensorDataset(x[train][:64], y[train][:64])
train_loader = DataLoader(one_batch, batch_size={16 if accumulating else 64}, shuffle=True, generator=shuffle)
{overfit_lines(fault, bool(key), steps)}

print(f"mean loss of the last ten passes: {{sum(losses[-{last}:]) / {last}:.4f}}")
"""
