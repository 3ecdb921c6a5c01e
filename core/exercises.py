"""The lesson's four exercises: numbers, a loop to criticize, an output to foresee, a function to write."""

from __future__ import annotations

from itertools import pairwise

from core.messages import N_, Message
from core.metrics import naive_mean, weighted_mean
from core.practice import MarkQuestion, NumberQuestion, PrintQuestion, Statement, Trap, WriteQuestion
from core.rng import RandomStream
from core.trace import StepConfig, replay

_SIZES = (64, 64, 64, 8)
_LOSSES = (0.5634, 0.8096, 0.4105, 0.3248)
_LAYERS = (5, 128, 128, 3)


def exercise_numbers() -> tuple[NumberQuestion, ...]:
    """Exercise 1 in its three parts, the first of which asks for two numbers."""
    parameters = sum((a + 1) * b for a, b in pairwise(_LAYERS))
    model_bytes, rng_bytes = 4 * parameters, 2 * RandomStream(0).state.numel()
    values = {
        "sizes": ", ".join(map(str, _SIZES)),
        "losses": ", ".join(map(str, _LOSSES)),
        "naive": f"{naive_mean(_LOSSES, _SIZES):.4f}",
        "weighted": f"{weighted_mean(_LOSSES, _SIZES):.4f}",
        "parameters": str(parameters),
        "model_kib": f"{model_bytes / 1024:.0f}",
        "all_kib": f"{3 * model_bytes / 1024:.0f}",
        "rng_each": str(rng_bytes // 2),
        "rng_bytes": str(rng_bytes),
        "rng_kib": f"{rng_bytes / 1024:.1f}",
    }
    naive, weighted = naive_mean(_LOSSES, _SIZES), weighted_mean(_LOSSES, _SIZES)

    def say(text: str) -> Message:
        return Message(text, values)

    return (
        NumberQuestion(
            "exercise-1-naive",
            say(N_("Four batches of {sizes} examples have mean losses {losses}. What is the naive mean?")),
            naive,
            0.0006,
            say(N_("The four means added up and divided by 4: {naive}.")),
            say(N_("The naive mean does not ask how large the batches are: add the four up, divide by four.")),
            (
                Trap(
                    weighted,
                    say(N_("That is the weighted mean, the right one to report; this asks for the naive one.")),
                ),
            ),
        ),
        NumberQuestion(
            "exercise-1-weighted",
            say(N_("And the weighted mean of the same four batches ({sizes}; {losses})?")),
            weighted,
            0.0006,
            say(N_("Each mean times its batch size, added up, divided by 200: {weighted}, the whole set's own loss.")),
            say(N_("Multiply each mean by its batch size, add up, and divide by the number of examples.")),
            (Trap(naive, say(N_("That is the naive mean: the last 8 examples weigh as much in it as 64 others."))),),
        ),
        NumberQuestion(
            "exercise-1-kib",
            say(
                N_(
                    "A model has {parameters} float32 parameters; the optimizer is AdamW. About how many KiB do the "
                    "tensors of model and optimizer take in a checkpoint?"
                )
            ),
            3 * model_bytes / 1024,
            2.0,
            say(N_("{model_kib} KiB of weights, and as much again for exp_avg and for exp_avg_sq: {all_kib} KiB.")),
            say(N_("A float32 has 4 bytes; AdamW keeps two more numbers for each parameter; a KiB is 1024 bytes.")),
            (
                Trap(
                    model_bytes / 1024, say(N_("That is the model alone; AdamW keeps two tensors for each of its own."))
                ),
                Trap(2 * model_bytes / 1024, say(N_("One tensor too few: AdamW keeps exp_avg and exp_avg_sq."))),
                Trap(
                    3 * parameters / 1024,
                    say(N_("Those are the numbers, in units of 1024; each float32 takes 4 bytes.")),
                ),
            ),
            unit="KiB",
        ),
        NumberQuestion(
            "exercise-1-rng",
            say(N_("Two RNG states of {rng_each} bytes each: how many KiB?")),
            rng_bytes / 1024,
            0.15,
            say(N_("{rng_bytes} bytes ÷ 1024 = {rng_kib} KiB.")),
            say(N_("Two states, and 1024 bytes to the KiB.")),
            (
                Trap(rng_bytes / 2048, say(N_("That is one state; there are two, torch's own and the DataLoader's."))),
                Trap(float(rng_bytes), say(N_("That is in bytes; divide by 1024."))),
            ),
            unit="KiB",
        ),
    )


EXERCISE_REVIEW = MarkQuestion(
    key="exercise-2",
    prompt=Message(N_("An assistant wrote this loop. Tick everything that is wrong with it.")),
    code="""\
model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 3), nn.Softmax(dim=1))
loss_fn = nn.CrossEntropyLoss()
for epoch in range(epochs):
    for xb, yb in train_loader:
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        scheduler.step()
    batch_losses = [loss_fn(model(xb), yb).item() for xb, yb in val_loader]
    val_loss = sum(batch_losses) / len(batch_losses)
    torch.save(model.state_dict(), "ckpt.pt")""",
    statements=(
        Statement(
            Message(N_("The model ends in Softmax")),
            True,
            Message(N_("A fault: CrossEntropyLoss takes logits. End in Linear, take softmax only at inference.")),
        ),
        Statement(
            Message(N_("zero_grad is missing")),
            True,
            Message(N_("A fault: every backward adds to what is there. Clear before backward.")),
        ),
        Statement(
            Message(N_("scheduler.step() comes after opt.step()")),
            False,
            Message(
                N_(
                    "That order is right. Whether once a batch is depends on the scheduler: look it up, and count "
                    "its length in the same unit."
                )
            ),
        ),
        Statement(
            Message(N_("Validation runs in training mode")),
            True,
            Message(N_("A fault: dropout stays on, so the val loss is another each time. eval(), and train() after.")),
        ),
        Statement(
            Message(N_("Validation builds a graph")),
            True,
            Message(N_("A fault: without no_grad each forward keeps its activations for a backward that never comes.")),
        ),
        Statement(
            Message(N_("val_loss is a naive mean")),
            True,
            Message(N_("A fault as soon as the last batch is smaller. Weight by len(yb), divide by the examples.")),
        ),
        Statement(
            Message(N_("The checkpoint has only the model's weights")),
            True,
            Message(
                N_(
                    "A fault for resuming: optimizer, scheduler, epoch, best val loss, patience and RNG states are "
                    "missing, and one file name cannot be both the best and the last."
                )
            ),
        ),
        Statement(
            Message(N_("The loss is computed before backward")),
            False,
            Message(N_("That is as it must be: backward starts from the loss.")),
        ),
    ),
)


def exercise_print() -> PrintQuestion:
    """Exercise 3, its answer read off a replay of the scalar scene."""

    def printed(calls: str) -> str:
        steps = replay(StepConfig("scalar"), calls)
        pairs = [(before.grad, s.w) for before, s in pairwise(steps) if s.call == "step"]
        return "\n".join(f"{i} {round(grad, 3)} | {round(w, 3)}" for i, (grad, w) in enumerate(pairs))

    return PrintQuestion(
        key="exercise-3",
        prompt=Message(
            N_("What does this print? The derivative of (3w)²/2 is 9w; SGD takes lr times the gradient off w.")
        ),
        code="""\
import torch

w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (3 * w) ** 2 / 2
    loss.backward()
    print(step, round(w.grad.item(), 3), end=" | ")
    opt.step()
    print(round(w.item(), 3))""",
        answer=printed("flbs" * 3),
        explanation=Message(
            N_("Right: each new gradient, 9w, is added to the old ones, and w is driven away from its minimum at 0.")
        ),
        traps=(
            Trap(
                printed("flzbs" * 3),
                Message(N_("So it would print with zero_grad in it. Look again: nothing clears the old gradient.")),
            ),
        ),
    )


EXERCISE_WRITE = WriteQuestion(
    key="exercise-4",
    prompt=Message(
        N_(
            "Write evaluate(model, loader, loss_fn): under eval mode and no_grad, loss and accuracy weighted by batch "
            "size, and the model left in the mode in which it came."
        )
    ),
    answer="""\
@torch.no_grad()
def evaluate(model, loader, loss_fn):
    came_in_training = model.training
    model.eval()
    loss_sum, right, seen = 0.0, 0, 0
    for xb, yb in loader:
        logits = model(xb)
        loss_sum += loss_fn(logits, yb).item() * len(yb)
        right += (logits.argmax(dim=1) == yb).sum().item()
        seen += len(yb)
    model.train(came_in_training)
    return loss_sum / seen, right / seen""",
    look_for=(
        Message(N_("no_grad covers every forward")),
        Message(N_("model.eval() comes before the first batch")),
        Message(N_("The loss is multiplied by len(yb)")),
        Message(N_("Both sums are divided by the number of examples, not of batches")),
        Message(N_("The mode that was there before comes back, rather than a bare model.train()")),
    ),
)
