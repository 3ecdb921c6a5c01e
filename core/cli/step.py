"""`python -m core step`: make calls one by one and print the state after each."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from core.config import Flag, SettingError, parse_settings
from core.scenes import SCENES
from core.trace import FIELDS, Snapshot, StepConfig, replay


def add(commands: Any) -> None:
    step = commands.add_parser("step", help="make calls one by one and print the state after each")
    for name, field in FIELDS.items():
        if not isinstance(field, Flag):
            step.add_argument(f"--{name.replace('_', '-')}", dest=name, help=field.help())
    step.add_argument(
        "--keep-zeros", dest="set_to_none", action="store_const", const="0", help="zero_grad writes zeros"
    )
    step.add_argument("--json", action="store_true", help="print a list of objects, numbers unrounded")
    step.set_defaults(run=_step)


def _step(arguments: argparse.Namespace) -> int:
    given = {name: value for name in FIELDS if (value := getattr(arguments, name)) is not None}
    values, errors = parse_settings(FIELDS, given)
    if errors:
        return _refuse(errors[0])
    calls = values.pop("calls", "flzbs")
    config = StepConfig(**values)
    snapshots = replay(config.resolved(), calls)
    if arguments.json:
        print(json.dumps([_as_object(snapshot) for snapshot in snapshots], indent=1))
    else:
        print(_table(config, snapshots))
    return 0


def _refuse(error: SettingError) -> int:
    print(f"python -m core: {error}", file=sys.stderr)
    return 2


def _as_object(snapshot: Snapshot) -> dict[str, object]:
    return {
        "call": snapshot.call,
        "w": snapshot.w,
        "grad": snapshot.grad,
        "loss": snapshot.loss,
        "changed": sorted(snapshot.changed),
        "outcome": snapshot.outcome,
        "error": _error(snapshot),
        "next_loss": snapshot.next_loss,
    }


def _error(snapshot: Snapshot) -> str | None:
    return None if snapshot.error is None else f"{type(snapshot.error).__name__}: {snapshot.error}"


def _table(config: StepConfig, snapshots: tuple[Snapshot, ...]) -> str:
    watched = SCENES[config.scene].watched
    rows = [f"{'after':<10}{watched:>10}{'grad':>10}{'loss':>10}  "]
    for s in snapshots:
        grad = "None" if s.grad is None else f"{s.grad:.4f}"
        loss = "-" if s.loss is None else f"{s.loss:.4f}"
        rows.append(f"{s.call:<10}{s.w:>10.4f}{grad:>10}{loss:>10}  {_note(s)}")
    return "\n".join(row.rstrip() for row in rows)


def _note(snapshot: Snapshot) -> str:
    if snapshot.error is not None:
        return _error(snapshot).split(". ")[0]
    if snapshot.outcome == "nothing":
        return "changed nothing"
    if snapshot.call == "forward":
        return f"logits {tuple(snapshot.logits.shape)}, {snapshot.grad_fn}"
    if snapshot.next_loss is not None:
        return f"next loss {snapshot.next_loss:.4f}"
    return ""
