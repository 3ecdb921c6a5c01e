"""Time: bounded for any text, and near proportion to length."""

from __future__ import annotations

import time
from pathlib import Path

from core.check import check

from .fuzz import run

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*/*.py"))


def long_file(lines: int) -> str:
    """Many training scripts in one file, each in a function of its own."""
    out: list[str] = []
    number = 0
    while len(out) < lines:
        body = FIXTURES[number % len(FIXTURES)].read_text().rstrip().split("\n")
        out += [f"def part_{number}(loader, model, optimizer):", *("    " + x if x else x for x in body), ""]
        number += 1
    return "\n".join(out) + "\n"


def seconds(source: str) -> float:
    started = time.perf_counter()
    assert check(source).problem is None
    return time.perf_counter() - started


def test_time_grows_in_proportion(capsys):
    times = {n: min(seconds(long_file(n)) for _ in range(2)) for n in (1_000, 5_000, 20_000)}
    with capsys.disabled():
        print("\n  lines: seconds", {n: round(t, 3) for n, t in times.items()})
    assert times[1_000] < 2  # bounds for a machine that is busy with other things; the figures are printed
    assert times[20_000] < 5


def test_mutated_texts_get_an_answer():
    assert run(300) < 2
