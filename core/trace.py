"""Replay a string of calls and keep what there was to see after each: the stepper's whole state, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from core.config import Choice, Codes, Field, Flag, Number
from core.kept import Kept, keeping
from core.loop import CALLS, TrainingLoop
from core.rng import seeded
from core.scenes import SCENES, Scene

MOST_CALLS = 120
OPTIMIZERS = ("sgd", "sgd-momentum", "adamw")
_ALIASES = {"momentum": "sgd-momentum", "sgd_momentum": "sgd-momentum", "adam-w": "adamw"}

FIELDS: dict[str, Field] = {
    "calls": Codes("".join(CALLS), MOST_CALLS),
    "scene": Choice(tuple(SCENES)),
    "optimizer": Choice(OPTIMIZERS, _ALIASES),
    "lr": Number(0, 100),
    "momentum": Number(0, 1),
    "weight_decay": Number(0, 1),
    "set_to_none": Flag(),
    "seed": Number(0, 2**32 - 1, whole=True),
}
"""What the address and the command line may say: `calls`, and every field of `StepConfig`."""


@dataclass(frozen=True)
class StepConfig:
    """All that a replay depends on, apart from the calls.

    Left at None, `optimizer` is the scene's own, `momentum` is 0.9 for "sgd-momentum" and 0 for "sgd" (which becomes
    "sgd-momentum" when it is given one), and `weight_decay` is PyTorch's default for the optimizer; `resolved()` fills
    them in.
    """

    scene: str = "linear"
    optimizer: str | None = None
    lr: float = 0.1
    momentum: float | None = None
    weight_decay: float | None = None
    set_to_none: bool = True
    seed: int = 0

    def resolved(self) -> StepConfig:
        """The same config with every None replaced by the value that it stands for."""
        optimizer = self.optimizer or SCENES[self.scene].optimizer
        momentum, weight_decay = self.momentum, self.weight_decay
        if optimizer == "sgd-momentum" and momentum is None:
            momentum = 0.9
        if optimizer == "sgd" and momentum:
            optimizer = "sgd-momentum"
        if weight_decay is None:
            weight_decay = 0.01 if optimizer == "adamw" else 0.0
        return StepConfig(
            self.scene,
            optimizer,
            float(self.lr),
            float(momentum or 0),
            float(weight_decay),
            self.set_to_none,
            self.seed,
        )

    def make_optimizer(self, parameters: Any) -> torch.optim.Optimizer:
        config = self.resolved()
        if config.optimizer == "adamw":
            return torch.optim.AdamW(parameters, lr=config.lr, weight_decay=config.weight_decay)
        return torch.optim.SGD(parameters, lr=config.lr, momentum=config.momentum, weight_decay=config.weight_decay)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything there is to see after one call (or, at position 0, before the first).

    One is equal to itself alone. Tensors are copies; none of them requires grad. Shapes below are those of the linear
    scenes.
    """

    position: int
    call: str
    """"start", or the name of the call."""
    batch: int
    """Which micro-batch the last forward took, counted from 0; -1 before the first."""
    parameters: Mapping[str, Tensor]
    """weight (3, 2) and bias (3,); w () in the scalar scene."""
    grads: Mapping[str, Tensor | None]
    """Of the same shapes; None is PyTorch's None, not zeros."""
    optimizer_state: Mapping[str, Mapping[str, Tensor]]
    """Parameter name -> the optimizer's tensors for it (`momentum_buffer`; `exp_avg`, `exp_avg_sq`, `step`)."""
    logits: Tensor | None
    """What the variable `logits` holds, (N, 3)."""
    grad_fn: str | None
    """Name of the node that made `logits`."""
    loss: float | None
    """What the variable `loss` holds; it stays until the next loss call."""
    loss_logits: Tensor | None
    """The logits that `loss` was computed from: newer ones may have come since."""
    loss_batch: int
    """The micro-batch of `loss_logits`."""
    next_loss: float | None = None
    """After a step: the loss of the same batch at the new weights, measured under no_grad."""
    error: Exception | None = None
    """What the call raised, if it did."""
    changed: frozenset[str] = field(default_factory=frozenset)
    """Which of "w", "grad", "state", "logits", "loss" this call changed in value, in any of their elements."""

    @property
    def outcome(self) -> str:
        """ "start", "error", "fine", or "nothing": no error, and nothing changed either."""
        if self.call == "start":
            return "start"
        if self.error is not None:
            return "error"
        # A second forward or loss computes the same values, but writes a new graph.
        return "fine" if self.changed or self.call in ("forward", "loss") else "nothing"

    @cached_property
    def w(self) -> float:
        """The watched weight: w[0,0], or w in the scalar scene."""
        return _first(next(iter(self.parameters.values())))

    @cached_property
    def grad(self) -> float | None:
        """The gradient of the watched weight."""
        grad = next(iter(self.grads.values()))
        return None if grad is None else _first(grad)


def _first(tensor: Tensor) -> float:
    return tensor.reshape(-1)[0].item()


class Player:
    """A training loop of a scene, driven by codes; it remembers the position among the micro-batches."""

    def __init__(self, config: StepConfig) -> None:
        self.scene: Scene = SCENES[config.scene]
        with seeded(config.seed):
            model = self.scene.build()
        self.loop = TrainingLoop(
            model, self.scene.loss_fn, config.make_optimizer(model.parameters()), set_to_none=config.set_to_none
        )
        self.batches = self.scene.batches()
        self.forwards = 0
        self.loss_logits: Tensor | None = None
        self.loss_batch = -1

    @property
    def batch(self) -> int:
        return (self.forwards - 1) % len(self.batches) if self.forwards else -1

    def play(self, code: str) -> None:
        """Make the call; what PyTorch raises passes through."""
        if code == "f":
            self.forwards += 1
            self.loop.forward(self.batches[self.batch][0])
        elif code == "l":
            self.loop.loss(self.batches[self.batch][1])
            self.loss_logits, self.loss_batch = self.loop.logits.detach().clone(), self.batch
        else:
            getattr(self.loop, CALLS[code])()

    def snapshot(self, position: int, call: str, before: Snapshot | None, error: Exception | None) -> Snapshot:
        loop = self.loop
        named = dict(loop.model.named_parameters())
        state = loop.optimizer.state
        facts = {
            "parameters": {name: p.detach().clone() for name, p in named.items()},
            "grads": {name: None if p.grad is None else p.grad.clone() for name, p in named.items()},
            "optimizer_state": {
                name: {key: value.clone() for key, value in state[p].items() if isinstance(value, Tensor)}
                for name, p in named.items()
                if p in state
            },
            "logits": None if loop.logits is None else loop.logits.detach().clone(),
            "loss": None if loop.loss_tensor is None else loop.loss_tensor.item(),
        }
        return Snapshot(
            position=position,
            call=call,
            batch=self.batch,
            grad_fn=None if loop.logits is None else loop.logits.grad_fn.name(),
            loss_logits=self.loss_logits,
            loss_batch=self.loss_batch,
            next_loss=self._next_loss() if call == "step" and error is None else None,
            error=error,
            changed=frozenset() if before is None else _changed(before, facts),
            **facts,
        )

    def _next_loss(self) -> float | None:
        if self.loss_batch < 0:
            return None
        xb, yb = self.batches[self.loss_batch]
        with torch.no_grad():
            return self.loop.loss_fn(self.loop.model(xb), yb).item()


_NAMES = {"parameters": "w", "grads": "grad", "optimizer_state": "state", "logits": "logits", "loss": "loss"}


def _changed(before: Snapshot, facts: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(_NAMES[key] for key, value in facts.items() if not _same(getattr(before, key), value))


def _same(a: Any, b: Any) -> bool:
    """Equal to the bit; NaN equals itself, so that a diverged run is not taken to change for ever."""
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return torch.equal(a, b) or (a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True))
    return a is b or a == b or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)


# A snapshot takes about 7 kB, so all that are kept take 75 MB at most, and far less while visitors step on from what is
# kept, since then they share their snapshots.
@keeping(Kept(1024, weigh=len, most=10_000))
def replay(config: StepConfig, calls: str) -> tuple[Snapshot, ...]:
    """Make the calls one after another on a new loop: a snapshot of the start, and one after each call.

    A call that raises leaves the state as PyTorch left it, and the next call goes on from there. The result depends on
    the arguments alone, whatever else the process is doing, which is what makes the cache exact.
    """
    player = Player(config)
    # One call more than is kept: the calls are made again, but there is only one new snapshot to take.
    snapshots = list((calls and replay.peek(config, calls[:-1])) or [player.snapshot(0, "start", None, None)])
    for position, code in enumerate(calls, start=1):
        error = None
        try:
            player.play(code)
        except Exception as raised:  # whatever PyTorch raises is the lesson
            error = raised.with_traceback(None)
        if position == len(snapshots):
            snapshots.append(player.snapshot(position, CALLS[code], snapshots[-1], error))
    return tuple(snapshots)
