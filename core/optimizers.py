"""What an optimizer keeps beside the weights after each step, the arithmetic of the next, and a rate for each layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.arithmetic import Derivation, derive
from core.config import Choice, Field, Number
from core.data import four_examples
from core.loop import TrainingLoop
from core.rng import seeded
from core.scenes import SCENES
from core.script import script as calls_script
from core.trace import Player, StepConfig, replay


@dataclass(frozen=True)
class OptimizerView:
    """The optimizer after `steps` steps of the right order, as its `state_dict` holds it."""

    steps: int
    parameters: Mapping[str, Tensor]
    state: Mapping[str, Mapping[str, Tensor]]
    """Parameter name -> `momentum_buffer`, or `exp_avg`, `exp_avg_sq` and `step`; empty before the first step."""
    param_groups: tuple[Mapping[str, Any], ...]
    """The settings of each group, as PyTorch names them, without the parameters."""
    w: float
    """The watched weight, w[0,0] or w."""
    loss: float | None
    """The loss of the batch that the last step saw, before that step; None before the first."""
    next_step: Derivation | None
    """The watched weight's way to its next value; None where the step changes nothing (lr 0)."""
    next_w: float
    """What PyTorch makes of it."""

    @property
    def state_numbers(self) -> int:
        """How many numbers the state holds: twice the parameters for Adam, and one count for each tensor."""
        return sum(tensor.numel() for tensors in self.state.values() for tensor in tensors.values())


@lru_cache(maxsize=256)
def view_optimizer(config: StepConfig, steps: int) -> OptimizerView:
    """Take `steps` optimizer steps in the right order of the scene, and derive the one after."""
    order = SCENES[config.resolved().scene].order
    snapshots = replay(config, order * (steps + 1))
    now, before, after = snapshots[len(order) * steps], snapshots[-2], snapshots[-1]
    groups = Player(config).loop.optimizer.param_groups
    return OptimizerView(
        steps=steps,
        parameters=now.parameters,
        state=now.optimizer_state,
        param_groups=tuple({key: value for key, value in group.items() if key != "params"} for group in groups),
        w=now.w,
        loss=now.loss,
        next_step=derive(config, before, after),
        next_w=after.w,
    )


def state_script(config: StepConfig, steps: int) -> str:
    """A file that takes the steps, then prints every tensor in the optimizer's state."""
    config = config.resolved()
    scene = SCENES[config.scene]
    named = "model.named_parameters()" if scene.is_classifier else '[("w", w)]'
    return f"""\
{calls_script(config, scene.order * steps)}
for name, p in {named}:
    for key, value in opt.state[p].items():
        if value is not None:
            print(f"{{name}} {{key}}:", *(f"{{number:.6f}}" for number in value.flatten().tolist()))
"""


@dataclass(frozen=True)
class LayerStep:
    """What one step did to one layer. Lengths are Euclidean, over its weight and bias together."""

    lr: float
    gradient: float
    moved: float
    """Length of the change of the parameters. Under plain SGD it is lr times `gradient`."""


@dataclass(frozen=True)
class TwoLayerStep:
    step: int
    """Counted from 1."""
    loss: float
    """Of the four examples, before the step."""
    layers: tuple[LayerStep, LayerStep]


OPTIMIZERS = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
TWO_RATES_FIELDS: dict[str, Field] = {
    "first_lr": Number(0, 1),
    "second_lr": Number(0, 1),
    "steps": Number(1, 100, whole=True),
    "optimizer": Choice(tuple(OPTIMIZERS)),
    "seed": Number(0, 2**32 - 1, whole=True),
}
"""The arguments of `two_rates`."""


@lru_cache(maxsize=256)
def two_rates(
    first_lr: float, second_lr: float, steps: int = 20, optimizer: str = "sgd", seed: int = 0
) -> tuple[TwoLayerStep, ...]:
    """Train Linear(2, 8), Tanh, Linear(8, 3) on the four examples, each Linear in a param_group of its own."""
    with seeded(seed):
        model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
    layers = (model[0], model[2])
    groups = [{"params": layers[0].parameters(), "lr": first_lr}, {"params": layers[1].parameters(), "lr": second_lr}]
    loop = TrainingLoop(model, F.cross_entropy, OPTIMIZERS[optimizer](groups))
    x, y = four_examples()
    rows = []
    for step in range(1, steps + 1):
        before = [_flat(layer.parameters()) for layer in layers]
        loop.batch(x, y)
        rows.append(
            TwoLayerStep(
                step=step,
                loss=loop.loss_tensor.item(),
                layers=tuple(
                    LayerStep(
                        lr=group["lr"],
                        gradient=_flat(p.grad for p in layer.parameters()).norm().item(),
                        moved=(_flat(layer.parameters()) - old).norm().item(),
                    )
                    for layer, old, group in zip(layers, before, loop.optimizer.param_groups, strict=True)
                ),
            )
        )
    return tuple(rows)


def _flat(tensors: Any) -> Tensor:
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def two_rates_script(first_lr: float, second_lr: float, steps: int = 20, optimizer: str = "sgd", seed: int = 0) -> str:
    """A file that prints the loss, and each layer's gradient and move at every step, as `two_rates` measures them."""
    return f"""\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed({seed})
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.{OPTIMIZERS[optimizer].__name__}([
    {{"params": model[0].parameters(), "lr": {first_lr}}},
    {{"params": model[2].parameters(), "lr": {second_lr}}},
])
x = torch.tensor([[0.5, -1.0], [1.5, 0.2], [-0.3, 0.8], [1.0, 1.0]])
y = torch.tensor([0, 2, 1, 2])

def flat(layer):
    return torch.cat([p.detach().flatten() for p in layer.parameters()])

for step in range(1, {steps} + 1):
    before = [flat(model[0]), flat(model[2])]
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    layers = (model[0], model[2])
    moved = [(flat(layer) - old).norm().item() for layer, old in zip(layers, before)]
    grad = [torch.cat([p.grad.flatten() for p in layer.parameters()]).norm().item() for layer in layers]
    print(f"step {{step}}  loss = {{loss.item():.4f}}  |grad| = {{grad[0]:.4f}} and {{grad[1]:.4f}}"
          f"  moved = {{moved[0]:.4f}} and {{moved[1]:.4f}}")
"""
