"""The script to take home prints the numbers on the screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.script import script
from core.stories import STORIES
from core.trace import Snapshot, StepConfig, replay


def row(snapshot: Snapshot, watched: str) -> str:
    grad = "None" if snapshot.grad is None else f"{snapshot.grad:.4f}"
    loss = "-" if snapshot.loss is None else f"{snapshot.loss:.4f}"
    return f"{snapshot.call:<10} {watched} = {snapshot.w:.4f}   grad = {grad}   loss = {loss}"


def expected(config: StepConfig, calls: str) -> list[str]:
    watched = "w" if config.scene == "scalar" else "w[0,0]"
    lines = []
    for snapshot in replay(config.resolved(), calls):
        if snapshot.error is not None:
            lines += f"{type(snapshot.error).__name__}: {snapshot.error}".splitlines()
        lines.append(row(snapshot, watched))
    return lines


CASES = {key: (story.config, story.calls) for key, story in STORIES.items()} | {
    "adamw": (StepConfig(optimizer="adamw", lr=0.02, weight_decay=0.1, seed=7), "flzbs" * 3),
    "zeros": (StepConfig(set_to_none=False, momentum=0.5), "bflzbszs"),
    "names": (StepConfig("accumulate"), "lbfs"),
}


@pytest.mark.parametrize(("config", "calls"), CASES.values(), ids=CASES)
def test_every_story_and_some_odd_ones(run_script, config: StepConfig, calls: str) -> None:
    printed, warned = run_script(script(config, calls))
    assert printed.splitlines() == expected(config, calls)
    assert warned == ""


def test_it_runs_in_a_python_that_cannot_see_this_project(tmp_path: Path) -> None:
    file = tmp_path / "take_home.py"
    file.write_text(script(StepConfig(), "flzbs"), "utf-8")
    printed = subprocess.run([sys.executable, "-I", file], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == expected(StepConfig(), "flzbs")
