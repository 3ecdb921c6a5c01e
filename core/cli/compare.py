"""`python -m core compare A B`: are the tensors of two files the same, to the bit?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.checkpoint import CheckpointError, load, walk
from core.messages import N_


def add(commands: Any) -> None:
    compare = commands.add_parser("compare", help="compare the tensors of two files: exit 0 if all are equal, else 1")
    compare.add_argument("a", metavar="A", help="final_weights.pt, or a checkpoint")
    compare.add_argument("b", metavar="B")
    compare.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    try:
        a, b = (_tensors(Path(name)) for name in (arguments.a, arguments.b))
    except CheckpointError as error:
        print(f"python -m core: {error}", file=sys.stderr)
        return 2
    names = list(a | b)
    both = [name for name in names if name in a and name in b]
    comparable = [name for name in both if a[name].shape == b[name].shape]
    equal = [name for name in comparable if torch.equal(a[name], b[name])]
    difference = _largest_difference([(a[name], b[name]) for name in comparable])
    print(f"tensors: {len(names)} | equal (torch.equal): {len(equal)} | largest difference: {difference:g}")
    for name in names:
        if name not in both:
            print(f"{name}: only in {arguments.a if name in a else arguments.b}")
        elif name not in comparable:
            print(f"{name}: shape {tuple(a[name].shape)} and {tuple(b[name].shape)}")
    return 0 if len(equal) == len(names) else 1


def _tensors(path: Path) -> dict[str, Tensor]:
    tensors = {key: value for key, value in walk(load(path)) if isinstance(value, Tensor)}
    if not tensors:
        raise CheckpointError(N_("{path} holds no tensors to compare."), path=path)
    return tensors


def _largest_difference(pairs: list[tuple[Tensor, Tensor]]) -> float:
    """Between any two elements in the same place, of floating point tensors: the bytes of a state are not amounts."""
    floats = [(a.double() - b.double()).abs().flatten() for a, b in pairs if a.is_floating_point()]
    return torch.cat([torch.zeros(1, dtype=torch.float64), *floats]).max().item()
