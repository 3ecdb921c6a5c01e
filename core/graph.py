"""The autograd graph as PyTorch holds it now: its nodes from the loss back to the leaves, and what each has saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from core.trace import Player, StepConfig


@dataclass(frozen=True)
class Node:
    """One `grad_fn`. `inputs` are positions in the list of nodes, the order of `next_functions`."""

    name: str
    saved: tuple[str, ...]
    """What it keeps for backward, as "name: shape" or "name = value"."""
    freed: bool
    """True once backward has released what it saved."""
    leaf: str | None
    """For AccumulateGrad: the parameter whose `.grad` it adds to."""
    inputs: tuple[int, ...]


def graph(config: StepConfig, calls: str) -> list[Node]:
    """The nodes reachable from `loss`, or from `logits` while there is no loss of them yet; empty before forward."""
    player = Player(config)
    newest = None
    for code in calls:
        try:
            player.play(code)
        except Exception:  # noqa: S112 - the trace shows it; here only what is left standing matters
            continue
        if code == "f":
            newest = player.loop.logits
        elif code == "l":
            newest = player.loop.loss_tensor
    if newest is None:
        return []
    leaves = {id(parameter): name for name, parameter in player.loop.model.named_parameters()}
    functions = [newest.grad_fn]
    for function in functions:  # grows while it is walked: breadth first
        functions += [f for f, _ in function.next_functions if f is not None and f not in functions]
    return [_node(function, functions, leaves) for function in functions]


def _node(function: Any, functions: list[Any], leaves: dict[int, str]) -> Node:
    saved, freed = [], False
    for attribute in dir(function):
        if not attribute.startswith("_saved_"):
            continue
        try:
            value = getattr(function, attribute)
        except RuntimeError:  # "... after they have already been freed"
            freed = True
            continue
        name = attribute.removeprefix("_saved_")
        if isinstance(value, Tensor):
            saved.append(f"{name}: {tuple(value.shape)}")
    variable = getattr(function, "variable", None)
    return Node(
        name=function.name(),
        saved=tuple(saved),
        freed=freed,
        leaf=None if variable is None else leaves.get(id(variable)),
        inputs=tuple(functions.index(f) for f, _ in function.next_functions if f is not None),
    )
