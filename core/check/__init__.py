"""The static checker of training loops: `check(text)` reads a loop and says what is wrong. It never runs what
it reads.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from . import rules  # noqa: F401 - fills the register
from .interpret import Interpreter
from .order import LoopOrder, orders
from .pace import without_collector
from .reading import Problem, Text, read
from .rule import RULES, Finding, findings

SECONDS = 1.2
"""Processor time that reading and walking one file may take; what was seen by then is what counts."""

LEAST = 0.3
"""Processor time left to walking, and to the rules, however long the reading took."""

_NOQA = re.compile(r"#\s*noqa(?::\s*([A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)


@dataclass(frozen=True)
class Report:
    """What a check says of one text.

    findings        in order of lines
    loops           the calls recovered, a `LoopOrder` per training loop
    stepper_calls   the order as letters of `f l z b s`, when it is one the stepper can take; else ""
    loop_found      is there a training loop in the text at all
    problem         one sentence when the text could not be read, else None
    problem_line    its line, or 0
    truncated       the time did not suffice for all of the text, or it nests too deeply to be followed everywhere
    notes           what was seen through: "magics", "prompts", "quotes", "indented", "python2", "tabs", "numbered"
    """

    filename: str
    findings: tuple[Finding, ...] = ()
    loops: tuple[LoopOrder, ...] = ()
    stepper_calls: str = ""
    loop_found: bool = False
    problem: Problem | None = None
    problem_line: int = 0
    notes: tuple[str, ...] = ()
    truncated: bool = False


def check(source: str, filename: str = "<pasted>") -> Report:
    """Read `source` and report. Any text gets an answer; nothing of it is run."""
    with without_collector():
        return _check(source, filename)


def _check(source: str, filename: str) -> Report:
    started = time.thread_time()
    text = read(source)
    if isinstance(text, Problem):
        return Report(filename, problem=text, problem_line=text.line)
    interpreter = Interpreter(text.tree, text.python, started + SECONDS)
    interpreter.deadline = max(interpreter.deadline, time.thread_time() + LEAST)
    model = interpreter.run()
    silenced = _noqa(source)
    until = max(started + 1.5 * SECONDS, time.thread_time() + LEAST)
    found = [f for f in findings(model, RULES, until) if not _silent(silenced, f)]
    found.sort(key=lambda f: (f.line, f.code))
    loops = tuple(sorted(orders(model), key=lambda one: one.line))
    letters = next((o.letters for o in loops if o.letters), "")
    return Report(filename, tuple(found), loops, letters, bool(loops), notes=text.notes, truncated=model.truncated)


def _noqa(source: str) -> dict[int, set[str]]:
    """Line -> codes silenced there; the empty set silences all."""
    marks = {}
    if "noqa" not in source.lower():
        return marks
    for number, line in enumerate(source.splitlines(), 1):
        if match := _NOQA.search(line):
            marks[number] = {c.upper() for c in re.split(r"[,\s]+", match.group(1) or "") if c}
    return marks


def _silent(marks, finding) -> bool:
    codes = marks.get(finding.line)
    return codes is not None and (not codes or finding.code in codes)


__all__ = ["RULES", "Finding", "LoopOrder", "Problem", "Report", "Text", "check", "read"]
