"""`python -m core train`: the run, with its log on the terminal and its weights in files."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.checkpoint import CheckpointError, load, save
from core.config import Number, SettingError, parse_settings
from core.fit import Run, ending_line
from core.fit_config import FIELDS, FitConfig, config_of
from core.records import EpochRecord, log_line
from core.resume import PARTS

FILES = ("best.pt", "last.pt", "final_weights.pt")


def add(commands: Any) -> None:
    train = commands.add_parser("train", help="train on the customers until early stopping, saving each epoch")
    for name, field in FIELDS.items():
        train.add_argument(f"--{name.replace('_', '-')}", dest=name, help=field.help())
    train.add_argument("--out", default=".", metavar="DIR", help=f"where to write {', '.join(FILES)}")
    train.add_argument("--stop-after", metavar="EPOCH[:BATCH]", help="interrupt after an epoch, or in it after a batch")
    train.add_argument("--resume", metavar="FILE", help="go on from a checkpoint")
    train.add_argument("--skip", action="append", metavar="PART", help=f"leave out of --resume: {PARTS.help()}")
    train.add_argument("--json", action="store_true", help="print one object a line for each epoch, numbers unrounded")
    train.set_defaults(run=_train)


def _train(arguments: argparse.Namespace) -> int:
    given = {name: value for name in FIELDS if (value := getattr(arguments, name)) is not None}
    try:
        values, errors = parse_settings(FIELDS, given)
        if errors:
            raise errors[0]
        stop = _read_stop(arguments.stop_after)
        if arguments.skip and not arguments.resume:
            raise SettingError("skip", ",".join(arguments.skip), "only together with --resume FILE")
        run = _start(arguments.resume, values, PARTS.parse("skip", ",".join(arguments.skip or ())))
        if stop is not None and stop < _position(run):
            epoch, batch = _position(run)
            raise SettingError("stop-after", arguments.stop_after, f"from {epoch}:{batch} on, where the file stands")
        out = Path(arguments.out)
        out.mkdir(parents=True, exist_ok=True)
        _run_on(run, stop, out, arguments)
    except (SettingError, CheckpointError) as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename or arguments.out} cannot be written: {error.strerror}.")
    except KeyboardInterrupt:  # last.pt holds the last finished epoch
        print("(interrupted)", file=sys.stderr)
        return 130
    return 0


def _refuse(sentence: str) -> int:
    print(f"python -m core: {sentence}", file=sys.stderr)
    return 2


Position = tuple[int, int]
"""An epoch, counted from 1, and how many of its batches are trained."""


def _read_stop(text: str | None) -> Position | None:
    """`6:3` is epoch 6 after its batch 3; `6` is after all of epoch 6, which is where epoch 7 has trained none."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", text, re.ASCII)
    if found is None:
        raise SettingError("stop-after", text, "EPOCH or EPOCH:BATCH, such as 6 or 6:3")
    epoch = int(Number(1, 100, whole=True).parse("stop-after", found[1]))
    return (epoch + 1, 0) if found[2] is None else (epoch, int(found[2]))


def _position(run: Run) -> Position:
    return run.epochs + 1, run.batch


def _start(resume: str | None, values: dict[str, Any], skip: tuple[str, ...]) -> Run:
    if resume is None:
        return Run(FitConfig(**values))
    checkpoint = load(Path(resume))
    return Run.resume(checkpoint, config=replace(config_of(checkpoint), **values), skip=skip)


def _run_on(run: Run, stop: Position | None, out: Path, arguments: argparse.Namespace) -> None:
    say = _say_on_stderr if arguments.json else print
    if stop is not None and stop[1] > run.batches:
        raise SettingError("stop-after", arguments.stop_after, f"a batch from 0 to {run.batches}")
    if arguments.resume:
        within = f", batch {run.batch} of epoch {run.epochs + 1}" if run.batch else ""
        say(f"resumed from epoch {run.epochs}{within}")
        if run.done:
            say("nothing to train: the run was over when it was saved")
        elif stop == _position(run):
            say("nothing to train: the file stands where --stop-after says")
    saves = _Saves(out)
    while not run.done:
        if stop is not None and _position(run) >= stop:
            break
        if stop is not None and stop[0] == run.epochs + 1:
            while run.batch < stop[1]:
                run.step()
            continue
        record = run.epoch()
        print(_as_json(record) if arguments.json else log_line(record), flush=True)
        if record.best:
            saves(run, "best.pt")
        saves(run, "last.pt")
    if run.done:
        say(ending_line(run))
    else:
        saves(run, "last.pt")
        say("(interrupted)")
    save(run.model.state_dict(), out / "final_weights.pt")


class _Saves:
    """Saves checkpoints; the first is read back at once, before hours go into the training."""

    def __init__(self, out: Path) -> None:
        self.out, self.first = out, True

    def __call__(self, run: Run, name: str) -> None:
        save(run.checkpoint(), self.out / name, verify=self.first)
        self.first = False


def _say_on_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def _as_json(record: EpochRecord) -> str:
    names = ("epoch", "train_loss", "train_acc", "val_loss", "val_acc", "best")
    values = {name: getattr(record, name) for name in names}
    # JSON has no NaN or infinity, which is what a diverged run's losses are.
    return json.dumps({name: value if math.isfinite(value) else None for name, value in values.items()})
