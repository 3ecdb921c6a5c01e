"""Learning-rate schedules: the rate that each step really used, and what calling the scheduler first does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

from core.config import Choice, Field, Flag, Number
from core.data import four_examples
from core.loop import TrainingLoop
from core.messages import N_
from core.rng import seeded
from core.warned import taking

WARNING_BEGINS = "Detected call of `lr_scheduler.step()` before `optimizer.step()`."

NAMES = {
    "steplr": N_("StepLR: multiplied by gamma every step_size calls"),
    "cosine": N_("CosineAnnealingLR: half a cosine down to zero"),
    "onecycle": N_("OneCycleLR: up to lr, then down far below the start"),
    "plateau": N_("ReduceLROnPlateau: multiplied by gamma when the val loss has stalled"),
    "warmup-cosine": N_("Warm-up, then cosine"),
}

FIELDS: dict[str, Field] = {
    "schedule": Choice(tuple(NAMES)),
    "lr": Number(0.0001, 10),
    "epochs": Number(2, 60, whole=True),
    "batches": Number(1, 20, whole=True),
    "per": Choice(("epoch", "batch")),
    "planned": Choice(("epoch", "batch")),
    "step_size": Number(1, 60, whole=True),
    "gamma": Number(0.01, 0.99),
    "warmup": Number(1, 30, whole=True),
    "patience": Number(0, 20, whole=True),
    "scheduler_first": Flag(),
}


@dataclass(frozen=True)
class ScheduleConfig:
    """A schedule and how the loop calls it. `step_size`, `warmup` and `patience` count scheduler calls."""

    schedule: str = "steplr"
    lr: float = 0.1
    """OneCycleLR takes it for its `max_lr`."""
    epochs: int = 12
    batches: int = 7
    """Batches, and so optimizer steps, in an epoch."""
    per: str = "epoch"
    """Where the loop calls `scheduler.step()`: once an "epoch", or after every "batch"."""
    planned: str | None = None
    """What the schedule's length was counted in; None for the same as `per`. The two differing is a mistake to see."""
    step_size: int = 4
    gamma: float = 0.5
    warmup: int = 3
    patience: int = 2
    scheduler_first: bool = False

    @property
    def length(self) -> int:
        """How many calls of the scheduler the schedule was planned for."""
        return self.epochs * (self.batches if (self.planned or self.per) == "batch" else 1)


@dataclass(frozen=True)
class ScheduleRun:
    """What a run of `epochs` x `batches` optimizer steps saw."""

    used: tuple[float, ...]
    """The learning rate that each optimizer step used; shorter than planned where an error ended the run."""
    warning: str | None
    """PyTorch's own, about the order."""
    error: str | None
    """Type and text of what the scheduler raised, if it did."""


@dataclass(frozen=True)
class OrderReport:
    """The right order and the wrong one, side by side."""

    right: ScheduleRun
    wrong: ScheduleRun
    skipped: float | None
    """The schedule's first value, if the wrong order took one step fewer at it; None where it skipped nothing."""


def _steplr(optimizer: torch.optim.Optimizer, config: ScheduleConfig) -> lr_scheduler.LRScheduler:
    return lr_scheduler.StepLR(optimizer, config.step_size, config.gamma)


def _cosine(optimizer: torch.optim.Optimizer, config: ScheduleConfig) -> lr_scheduler.LRScheduler:
    return lr_scheduler.CosineAnnealingLR(optimizer, T_max=config.length)


def _onecycle(optimizer: torch.optim.Optimizer, config: ScheduleConfig) -> lr_scheduler.LRScheduler:
    # The call after the last step asks for one value more than there are steps.
    return lr_scheduler.OneCycleLR(optimizer, max_lr=config.lr, total_steps=config.length + 1, cycle_momentum=False)


def _plateau(optimizer: torch.optim.Optimizer, config: ScheduleConfig) -> lr_scheduler.LRScheduler:
    return lr_scheduler.ReduceLROnPlateau(optimizer, factor=config.gamma, patience=config.patience)


def _warmup_cosine(optimizer: torch.optim.Optimizer, config: ScheduleConfig) -> lr_scheduler.LRScheduler:
    warmup = min(config.warmup, config.length - 1)
    return lr_scheduler.SequentialLR(
        optimizer,
        [
            lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=warmup),
            lr_scheduler.CosineAnnealingLR(optimizer, T_max=config.length - warmup),
        ],
        milestones=[warmup],
    )


_SCHEDULERS: dict[str, Callable[[torch.optim.Optimizer, ScheduleConfig], lr_scheduler.LRScheduler]] = {
    "steplr": _steplr,
    "cosine": _cosine,
    "onecycle": _onecycle,
    "plateau": _plateau,
    "warmup-cosine": _warmup_cosine,
}


@lru_cache(maxsize=256)
def run_schedule(config: ScheduleConfig, val_losses: tuple[float, ...] = ()) -> ScheduleRun:
    """Train Linear(2, 3) on the four examples with the schedule, and note the rate at every optimizer step.

    ReduceLROnPlateau is shown `val_losses`, one for each call, the last one repeated; without any, the training loss.
    """
    with seeded(0):
        model = nn.Linear(2, 3)
    loop = TrainingLoop(model, F.cross_entropy, torch.optim.SGD(model.parameters(), lr=config.lr))
    used: list[float] = []
    x, y = four_examples()

    def train() -> None:
        used.append(loop.optimizer.param_groups[0]["lr"])
        loop.batch(x, y)

    with taking(WARNING_BEGINS) as taken:
        scheduler = _SCHEDULERS[config.schedule](loop.optimizer, config)
        calls = 0

        def schedule() -> None:
            nonlocal calls
            if config.schedule == "plateau":
                measured = F.cross_entropy(model(x), y).item()
                scheduler.step(val_losses[min(calls, len(val_losses) - 1)] if val_losses else measured)
            else:
                scheduler.step()
            calls += 1

        error = None
        try:
            for _ in range(config.epochs):
                _epoch(config, train, schedule)
        except ValueError as raised:  # OneCycleLR refuses a call beyond its total_steps
            error = f"{type(raised).__name__}: {raised}"
    return ScheduleRun(tuple(used), taken[0] if taken else None, error)


def _epoch(config: ScheduleConfig, train: Callable[[], None], schedule: Callable[[], None]) -> None:
    """One epoch, the scheduler called where the config puts it."""
    batches_a_call, calls = (1, config.batches) if config.per == "batch" else (config.batches, 1)
    for _ in range(calls):
        if config.scheduler_first:
            schedule()
        for _ in range(batches_a_call):
            train()
        if not config.scheduler_first:
            schedule()


def compare_orders(config: ScheduleConfig, val_losses: tuple[float, ...] = ()) -> OrderReport:
    """Run the schedule in both orders, and see whether the wrong one lost the first value."""
    right = run_schedule(replace(config, scheduler_first=False), val_losses)
    wrong = run_schedule(replace(config, scheduler_first=True), val_losses)
    first = right.used[0]
    lost = leading(wrong.used, first) < leading(right.used, first)
    return OrderReport(right, wrong, first if lost else None)


def leading(values: tuple[float, ...], first: float) -> int:
    """How many of `values`, from the start, are `first`."""
    return next((i for i, value in enumerate(values) if value != first), len(values))


def script(config: ScheduleConfig, val_losses: tuple[float, ...] = ()) -> str:
    """A file that prints the rate used by every optimizer step, and the warning if PyTorch gives it."""
    plateau = config.schedule == "plateau"
    make = {
        "steplr": f"StepLR(opt, {config.step_size}, {config.gamma})",
        "cosine": f"CosineAnnealingLR(opt, T_max={config.length})",
        "onecycle": f"OneCycleLR(opt, max_lr={config.lr}, total_steps={config.length + 1}, cycle_momentum=False)",
        "plateau": f"ReduceLROnPlateau(opt, factor={config.gamma}, patience={config.patience})",
    }
    if config.schedule == "warmup-cosine":
        warmup = min(config.warmup, config.length - 1)
        made = (
            "lr_scheduler.SequentialLR(opt, [\n"
            f"    lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters={warmup}),\n"
            f"    lr_scheduler.CosineAnnealingLR(opt, T_max={config.length - warmup}),\n], milestones=[{warmup}])"
        )
    else:
        made = f"lr_scheduler.{make[config.schedule]}"
    call = "scheduler.step()"
    if plateau:
        call = f"scheduler.step({'next(measured)' if val_losses else 'F.cross_entropy(model(x), y).item()'})"
    train = [
        "print(f\"{opt.param_groups[0]['lr']:.6f}\")",
        "loss = F.cross_entropy(model(x), y)",
        "opt.zero_grad()",
        "loss.backward()",
        "opt.step()",
    ]
    inner = f"    for batch in range({config.batches}):"
    if config.per == "batch":
        body = [call, *train] if config.scheduler_first else [*train, call]
        lines = [inner, *(f"        {line}" for line in body)]
    else:
        lines = [inner, *(f"        {line}" for line in train)]
        lines = [f"    {call}", *lines] if config.scheduler_first else [*lines, f"    {call}"]
    loop = "\n".join([f"for epoch in range({config.epochs}):", *lines])
    imports, measured = "", ""
    if plateau and val_losses:
        imports = "from itertools import chain, repeat\n\n"
        measured = f"val_losses = {list(val_losses)}\nmeasured = chain(val_losses, repeat(val_losses[-1]))\n"
    return f"""\
{imports}import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

torch.manual_seed(0)
model = nn.Linear(2, 3)
x = torch.tensor([[0.5, -1.0], [1.5, 0.2], [-0.3, 0.8], [1.0, 1.0]])
y = torch.tensor([0, 2, 1, 2])
opt = torch.optim.SGD(model.parameters(), lr={config.lr})
scheduler = {made}
{measured}{loop}
"""


def compare_script(configs: Mapping[str, ScheduleConfig], val_losses: tuple[float, ...] = ()) -> str:
    """A file that runs the schedules one after the other, each under its name."""
    return "\n".join(f'print("{name}")\n{script(config, val_losses)}' for name, config in configs.items())
