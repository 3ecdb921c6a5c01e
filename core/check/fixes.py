"""A corrected text for faults with one mechanical remedy; formatting and comments stay as they are.

Every correction is tried on its own and checked again: it is kept when that fault is gone and no other has come.
"""

from __future__ import annotations

import ast
import difflib
import math
import time
from dataclasses import dataclass

from . import Report, check
from .edits import Edits, NotFixable, apply
from .reading import Text, read
from .recipes import RECIPES


@dataclass(frozen=True)
class Corrected:
    """The new text, its difference to the old one, and the (code, line) of what was corrected."""

    text: str
    diff: str
    fixed: tuple[tuple[str, int], ...]


def fixable(code: str) -> bool:
    """Has this kind of fault a mechanical remedy?"""
    return code in RECIPES


def correct(
    source: str,
    filename: str = "<pasted>",
    codes: set[str] | None = None,
    *,
    report: Report | None = None,
    seconds: float = math.inf,
) -> Corrected:
    """Correct what has one mechanical remedy, fault by fault, for so much processor time.

    `report` is what `check` says of `source`, where it is known already.
    """
    deadline = time.thread_time() + seconds
    text, fixed, given_up = source, [], set()
    report = report or check(text, filename)
    for _ in range(40):
        if time.thread_time() > deadline:
            break
        todo = [
            f
            for f in report.findings
            if fixable(f.code) and (codes is None or f.code in codes) and (f.code, f.message) not in given_up
        ]
        if not todo:
            break
        one = todo[0]
        made = _try(text, one, report, filename)
        if made is None:
            given_up.add((one.code, one.message))
            continue
        text, report = made
        fixed.append((one.code, one.line))
    diff = difflib.unified_diff(source.splitlines(True), text.splitlines(True), filename, filename)
    return Corrected(text, "".join(line if line.endswith("\n") else line + "\n" for line in diff), tuple(fixed))


def _try(text: str, finding, report: Report, filename: str) -> tuple[str, Report] | None:
    """The text with one fault corrected, when a second check agrees."""
    parsed = read(text)
    if not isinstance(parsed, Text) or parsed.shifted:
        return None
    edits = Edits()
    try:
        RECIPES[finding.code](Place(parsed, finding), edits)
        made = apply(parsed.python, edits)
    except NotFixable:
        return None
    if made == text:
        return None
    again = check(made, filename)
    if again.problem is not None or not _better(report, again, finding.code):
        return None
    return made, again


def _better(before: Report, after: Report, code: str) -> bool:
    old, new = _counts(before), _counts(after)
    return new.get(code, 0) < old.get(code, 0) and all(n <= old.get(c, 0) for c, n in new.items())


def _counts(report: Report) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in report.findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
    return counts


class Place:
    """Where a fault stands in the tree: its statement, the block round it, and what is near."""

    def __init__(self, text: Text, finding):
        self.tree, self.finding, self.line, self.source = text.tree, finding, finding.line, text.python
        self.blocks = [b for n in ast.walk(self.tree) for b in _blocks(n)]

    def segment(self, node: ast.AST) -> str:
        """The text of a node, as its author wrote it."""
        return ast.get_source_segment(self.source, node) or ""

    def block_of(self, line: int) -> list[ast.stmt]:
        """The block that has a statement starting at this line."""
        for block in self.blocks:
            if any(s.lineno == line for s in block):
                return block
        raise NotFixable

    def statement(self, line: int | None = None) -> ast.stmt:
        """The simple statement that covers this line."""
        line = self.line if line is None else line
        found = [
            s
            for b in self.blocks
            for s in b
            if s.lineno <= line <= (s.end_lineno or s.lineno) and not hasattr(s, "body")
        ]
        if not found:
            raise NotFixable
        return found[0]

    def neighbours(self, line: int) -> list[ast.stmt]:
        """The statements of the block that holds the statement at this line."""
        return self.block_of(self.statement(line).lineno)

    def calls(self, statement: ast.AST, *names: str) -> list[ast.Call]:
        """Calls of these names in a statement."""
        found = []
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in names:
                    found.append(node)
        return found


def _blocks(node):
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
