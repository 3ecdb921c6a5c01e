"""Fresh questions in three kinds from a seed, so that a whole class can get the same ten; each answer is computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from torch import nn

from core.loop import TrainingLoop
from core.messages import N_, Message
from core.metrics import naive_mean, weighted_mean
from core.practice import ChoiceQuestion, NumberQuestion, Option, PrintQuestion, Trap
from core.rng import numpy_generator, seeded
from core.scenes import SCENES
from core.schedules import ScheduleConfig, run_schedule
from core.trace import StepConfig, replay

FreshQuestion = NumberQuestion | ChoiceQuestion | PrintQuestion


@lru_cache(maxsize=64)
def fresh_questions(seed: int, count: int = 10) -> tuple[FreshQuestion, ...]:
    """The first `count` questions of this seed: the three kinds in turn, and the four programs in turn."""
    rng = numpy_generator(seed)
    questions: list[FreshQuestion] = []
    for number in range(count):
        key = f"fresh-{seed}-{number}"
        kind, turn = number % 3, number // 3
        make = (_weighted_mean, _what_changes, PROGRAMS[(seed + turn) % len(PROGRAMS)])[kind]
        questions.append(make(key, rng))
    return tuple(questions)


def _weighted_mean(key: str, rng: np.random.Generator) -> NumberQuestion:
    size = int(rng.choice([16, 32, 64]))
    whole = int(rng.integers(1, 4))
    last = int(rng.integers(1, size // 2))
    sizes = (size,) * whole + (last,)
    means = tuple(round(float(m), 2) for m in rng.uniform(0.3, 0.9, whole))
    means += (round(means[-1] + float(rng.choice([-1, 1])) * float(rng.uniform(0.3, 0.6)), 2),)
    means = tuple(max(m, 0.05) for m in means)
    naive, weighted = naive_mean(means, sizes), weighted_mean(means, sizes)
    values = {
        "sizes": ", ".join(map(str, sizes)),
        "means": ", ".join(f"{m:.2f}" for m in means),
        "examples": str(sum(sizes)),
        "sum": " + ".join(f"{n} × {m:.2f}" for n, m in zip(sizes, means, strict=True)),
        "weighted": f"{weighted:.4f}",
        "last": str(last),
        "size": str(size),
    }
    return NumberQuestion(
        key=key,
        prompt=Message(
            N_("Batches of {sizes} validation examples have mean losses {means}. What is the loss of the whole set?"),
            values,
        ),
        answer=weighted,
        tolerance=min(0.005, abs(naive - weighted) / 3),
        explanation=Message(N_("({sum}) ÷ {examples} = {weighted}."), values),
        hint=Message(N_("Weigh each mean by its batch: {sum}, then divide by the number of examples."), values),
        traps=(
            Trap(
                naive,
                Message(
                    N_("That is the naive mean: the last {last} examples would weigh as much as {size} others."), values
                ),
            ),
            Trap(means[-1], Message(N_("That is the last batch alone."))),
        ),
    )


_OPTIONS = {
    "logits": (
        N_("It makes new logits, and a new graph; parameters and gradients stay"),
        N_("Only forward makes logits."),
    ),
    "loss": (
        N_("It makes a new loss; parameters and gradients stay"),
        N_("Only the loss call sets the loss; the variable keeps its value through all that follows."),
    ),
    "grad": (
        N_("It changes .grad, and no parameter"),
        N_(".grad is written by backward, which adds, and cleared by zero_grad, which needs something to clear."),
    ),
    "w": (
        N_("It changes the parameters"),
        N_("Only step moves parameters, and only those whose .grad is not None and whose update is not zero."),
    ),
    "nothing": (
        N_("It changes nothing, and there is no error"),
        N_("Something does happen: look at what the call reads, and whether that is there."),
    ),
    "error": (
        N_("It raises an error"),
        N_(
            "No error here. Names that are not there raise one, and so does a second backward through a freed graph; "
            "a .grad of None does not."
        ),
    ),
}
_RIGHT = {
    "logits": N_("Right: forward computes logits and writes the graph, and that is all."),
    "loss": N_("Right: the loss is one scalar more, and one node more on the graph."),
    "grad": N_("Right: the gradients change; a parameter never does before step."),
    "w": N_("Right: step reads .grad and moves the parameters."),
    "nothing": N_("Right: there was nothing for the call to work on, and PyTorch does not mind."),
    "error": N_("Right: PyTorch says {error}."),
}


def _what_changes(key: str, rng: np.random.Generator) -> ChoiceQuestion:
    config = StepConfig(optimizer=str(rng.choice(["sgd", "sgd-momentum", "adamw"])))
    wanted = str(rng.choice(list(_OPTIONS)))
    while True:
        calls = _almost_right(rng)
        happened, error = _last_call(config, calls)
        if happened == wanted:
            break
    lines = SCENES[config.scene].lines
    code = "\n".join(lines[code] for code in calls)
    options = []
    for name, (text, wrong) in _OPTIONS.items():
        right = name == happened
        why = Message(_RIGHT[name], {"error": error}) if right else Message(wrong)
        options.append(Option(Message(text), why, right))
    return ChoiceQuestion(
        key=key,
        prompt=Message(
            N_(
                "A new nn.Linear(2, 3) with {optimizer} as its optimizer. These calls are made, and an error among the "
                "first ones is passed over. What does the last one, {last}, do?"
            ),
            {
                "optimizer": {"sgd": "SGD", "sgd-momentum": "SGD(momentum=0.9)", "adamw": "AdamW"}[config.optimizer],
                "last": lines[calls[-1]],
            },
        ),
        options=tuple(options),
        code=code,
    )


def _almost_right(rng: np.random.Generator) -> str:
    """Two batches in the right order, cut short, with one or two calls left out, doubled or exchanged."""
    calls = list("flzbsflzbs")[: int(rng.integers(3, 9))]
    for _ in range(int(rng.integers(1, 3))):
        place = int(rng.integers(0, len(calls) - 1))
        edit = int(rng.integers(0, 3))
        if edit == 0 and len(calls) > 2:
            del calls[place]
        elif edit == 1:
            calls.insert(place, calls[place])
        else:
            calls[place], calls[place + 1] = calls[place + 1], calls[place]
    return "".join(calls)


def _last_call(config: StepConfig, calls: str) -> tuple[str, str]:
    """Which option the last call makes true, and the error's text if it is that one."""
    last = replay(config, calls)[-1]
    if last.error is not None:
        return "error", f"{type(last.error).__name__}: {str(last.error).split('. ')[0].split(' (')[0]}"
    if last.outcome == "nothing":
        return "nothing", ""
    if last.call in ("forward", "loss"):
        return {"forward": "logits", "loss": "loss"}[last.call], ""
    return ("w" if "w" in last.changed else "grad"), ""


_ASK = Message(N_("What does this print?"))


class _Scaled(nn.Module):
    """One weight w, whose output is c w."""

    def __init__(self, c: float, w: float) -> None:
        super().__init__()
        self.c, self.w = c, nn.Parameter(torch.tensor(w))

    def forward(self, _xb: torch.Tensor) -> torch.Tensor:
        return self.c * self.w


def _gradients(c: int, w: float, lr: float, *, zero_grad: bool) -> str:
    model = _Scaled(c, w)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    loop = TrainingLoop(model, lambda output, _yb: output**2 / 2, optimizer)
    nothing, lines = torch.empty(0), []
    for step in range(3):
        loop.forward(nothing)
        loop.loss(nothing)
        if zero_grad:
            loop.zero_grad()
        loop.backward()
        grad = round(model.w.grad.item(), 3)
        loop.step()
        lines.append(f"{step} {grad} {round(model.w.item(), 3)}")
    return "\n".join(lines)


def _print_gradients(key: str, rng: np.random.Generator) -> PrintQuestion:
    c, w = int(rng.integers(1, 4)), float(rng.choice([1.0, 2.0, -1.0]))
    lr, zero_grad = float(rng.choice([0.1, 0.2])), bool(rng.integers(0, 2))
    clear = "\n    opt.zero_grad()" if zero_grad else ""
    return PrintQuestion(
        key=key,
        prompt=_ASK,
        code=f"""\
import torch

w = torch.tensor({w}, requires_grad=True)
opt = torch.optim.SGD([w], lr={lr})
for step in range(3):
    loss = ({c} * w) ** 2 / 2{clear}
    loss.backward()
    grad = round(w.grad.item(), 3)
    opt.step()
    print(step, grad, round(w.item(), 3))""",
        answer=_gradients(c, w, lr, zero_grad=zero_grad),
        explanation=Message(
            N_("Right: the derivative is {slope}w, cleared before each backward.")
            if zero_grad
            else N_("Right: the derivative is {slope}w, and each one is added to those before."),
            {"slope": str(c * c)},
        ),
        traps=(
            Trap(
                _gradients(c, w, lr, zero_grad=not zero_grad),
                Message(
                    N_("So it would without zero_grad; but the old gradient is cleared here.")
                    if zero_grad
                    else N_("So it would with zero_grad; nothing clears the old gradient here.")
                ),
            ),
        ),
    )


def _modes(mode: str | None, no_grad: bool) -> str:
    with seeded(0):
        model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.2))
        if mode is not None:
            getattr(model, mode)()
        with torch.set_grad_enabled(not no_grad):
            out = model(torch.ones(1, 2))
    return f"{model[1].training} {out.requires_grad}"


def _print_modes(key: str, rng: np.random.Generator) -> PrintQuestion:
    mode, no_grad = [None, "train", "eval"][int(rng.integers(0, 3))], bool(rng.integers(0, 2))
    call = "" if mode is None else f"model.{mode}()\n"
    forward = "with torch.no_grad():\n    out = model(x)" if no_grad else "out = model(x)"
    return PrintQuestion(
        key=key,
        prompt=_ASK,
        code=f"""\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.2))
x = torch.ones(1, 2)
{call}{forward}
print(model[1].training, out.requires_grad)""",
        answer=_modes(mode, no_grad),
        explanation=Message(
            N_("Right: train() and eval() set `training` in every submodule; no_grad stops the graph.")
        ),
        traps=(
            Trap(
                _modes("train" if mode == "eval" else "eval", no_grad),
                Message(
                    N_("Look at `training` again: a new model is in training mode, and no_grad does not change it.")
                ),
            ),
            Trap(
                _modes(mode, not no_grad),
                Message(N_("Look at requires_grad again: no_grad decides it, and eval() has no part in it.")),
            ),
        ),
    )


def _rates(lr: float, step_size: int, gamma: float) -> str:
    run = run_schedule(ScheduleConfig("steplr", lr, epochs=5, batches=1, step_size=step_size, gamma=gamma))
    return " ".join(f"{rate:.4f}" for rate in run.used)


def _print_rates(key: str, rng: np.random.Generator) -> PrintQuestion:
    lr, step_size, gamma = float(rng.choice([0.1, 0.2, 0.4])), int(rng.integers(1, 4)), float(rng.choice([0.1, 0.5]))
    early = _rates(lr, step_size, gamma).split()[1:]
    return PrintQuestion(
        key=key,
        prompt=_ASK,
        code=f"""\
import torch
from torch.optim.lr_scheduler import StepLR

w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr={lr})
scheduler = StepLR(opt, step_size={step_size}, gamma={gamma})
for epoch in range(5):
    print(f"{{opt.param_groups[0]['lr']:.4f}}", end=" ")
    opt.step()
    scheduler.step()""",
        answer=_rates(lr, step_size, gamma),
        explanation=Message(
            N_("Right: multiplied by {gamma} after every {n} calls of scheduler.step()."),
            {"gamma": str(gamma), "n": str(step_size)},
        ),
        tolerance=0.00006,
        traps=(
            Trap(
                " ".join([*early, f"{float(early[-1]) * gamma:.4f}" if 5 % step_size == 0 else early[-1]]),
                Message(N_("One epoch too early: the rate is printed before the scheduler is called.")),
            ),
        ),
    )


def _means(sizes: tuple[int, ...], losses: tuple[float, ...]) -> str:
    return f"{naive_mean(losses, sizes):.3f} {weighted_mean(losses, sizes):.3f}"


def _print_means(key: str, rng: np.random.Generator) -> PrintQuestion:
    size = int(rng.choice([10, 20, 40]))
    sizes = (size, size, int(rng.integers(1, size // 2 + 1)))
    losses = (0.4, 0.6, round(float(rng.choice([0.1, 0.2, 1.0, 1.2])), 1))
    naive, weighted = _means(sizes, losses).split()
    return PrintQuestion(
        key=key,
        prompt=_ASK,
        code=f"""\
sizes = {list(sizes)}
losses = {list(losses)}
total, n = 0.0, 0
for loss, size in zip(losses, sizes):
    total += loss * size
    n += size
print(f"{{sum(losses) / len(losses):.3f}} {{total / n:.3f}}")""",
        answer=f"{naive} {weighted}",
        explanation=Message(N_("Right: first the naive mean, then the weighted one, which counts examples.")),
        traps=(Trap(f"{weighted} {naive}", Message(N_("The two are exchanged: the naive mean is printed first."))),),
    )


PROGRAMS: tuple[Callable[[str, np.random.Generator], PrintQuestion], ...] = (
    _print_gradients,
    _print_modes,
    _print_rates,
    _print_means,
)
