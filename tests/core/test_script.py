"""The script to take home prints the numbers on the screen, run by a Python that cannot see this project."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.script import script
from core.stories import STORIES
from core.trace import Snapshot, StepConfig, replay


def run(folder: Path, name: str, text: str) -> list[str]:
    file = folder / f"{name}.py"
    file.write_text(text, "utf-8")
    return subprocess.run([sys.executable, "-I", file], capture_output=True, text=True, check=True).stdout.splitlines()


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


def test_every_story_and_some_odd_ones(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        printed = pool.map(lambda case: run(tmp_path, case[0], script(*case[1])), CASES.items())
        for (name, (config, calls)), lines in zip(CASES.items(), printed, strict=True):
            assert lines == expected(config, calls), name


def test_it_imports_nothing_of_this_project() -> None:
    for config, calls in CASES.values():
        assert "core" not in script(config, calls)
