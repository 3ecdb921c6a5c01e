"""Edit a text by lines and expressions, with libcst, so that everything else stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider


class NotFixable(Exception):  # noqa: N818 - no error: this fault is left to its author
    """There is no mechanical remedy in this place."""


@dataclass
class Edits:
    """What to change. Lines are those where a statement starts."""

    remove: set[int] = field(default_factory=set)
    before: dict[int, list[str]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)
    move_before: dict[int, int] = field(default_factory=dict)  # line of a statement -> line of the one to stand before
    move_after: dict[int, int] = field(default_factory=dict)
    loop_start: dict[int, list[str]] = field(default_factory=dict)
    wrap: dict[int, str] = field(default_factory=dict)
    replace: list[tuple[int, str, Callable[[cst.BaseExpression], cst.BaseExpression]]] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)


def apply(source: str, edits: Edits) -> str:
    """The edited text."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(source))
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise NotFixable from error
    collector = _Collect(edits)
    wrapper.visit(collector)
    editor = _Edit(edits, collector.kept)
    try:
        made = wrapper.visit(editor)
    except RecursionError as error:
        raise NotFixable from error
    if editor.refused or editor.left:
        raise NotFixable
    return _with_imports(made, edits.imports).code


def expression(text: str) -> cst.BaseExpression:
    """Parse an expression."""
    return cst.parse_expression(text)


def code(node: cst.CSTNode) -> str:
    """The text of a node."""
    return cst.Module([]).code_for_node(node)


def _with_imports(module: cst.Module, imports: list[str]) -> cst.Module:
    text = module.code
    for line in imports:
        if line in [x.strip() for x in text.split("\n")]:
            continue
        body, at = list(module.body), 0
        for i, stmt in enumerate(body):
            simple = isinstance(stmt, cst.SimpleStatementLine)
            first = stmt.body[0] if simple else None
            if isinstance(first, (cst.Import, cst.ImportFrom)):
                future = (
                    isinstance(first, cst.ImportFrom)
                    and first.module is not None
                    and code(first.module) == "__future__"
                )
                at = i + 1 if future or (at == 0 and i) else at
                if not future:
                    at = i
                    break
            elif simple and isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString) and i == 0:
                at = 1
        made = cst.parse_statement(line)
        if at < len(body) and body[at].leading_lines:
            made = made.with_changes(leading_lines=body[at].leading_lines)
            body[at] = body[at].with_changes(leading_lines=())
        body.insert(at, made)
        module = module.with_changes(body=body)
    return module


class _Collect(cst.CSTVisitor):
    """Take hold of the statements that will move."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, edits: Edits):
        super().__init__()
        self.lines = {*edits.move_before, *edits.move_after}
        self.kept: dict[int, cst.SimpleStatementLine] = {}

    def visit_SimpleStatementLine(self, node):  # noqa: N802 - libcst's own name; so below
        line = self.get_metadata(PositionProvider, node).start.line
        if line in self.lines:
            self.kept[line] = node


class _Edit(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, edits: Edits, kept):
        super().__init__()
        self.edits, self.refused, self.kept = edits, False, kept
        self.moving = {*edits.move_before, *edits.move_after}
        self.left = len(edits.replace) + len(edits.wrap) + len(edits.loop_start) + len(edits.remove)
        self.left += sum(map(len, (edits.before, edits.after, edits.move_before, edits.move_after)))

    def line(self, node) -> int:
        return self.get_metadata(PositionProvider, node).start.line

    def on_leave(self, original, updated):
        updated = super().on_leave(original, updated)
        if not isinstance(original, cst.BaseExpression) or not self.edits.replace:
            return updated
        for entry in list(self.edits.replace):
            line, text, make = entry
            if self.line(original) == line and code(original) == text:
                self.edits.replace.remove(entry)
                self.left -= 1
                updated = make(updated)
        return updated

    def leave_SimpleStatementLine(self, original, updated):  # noqa: N802
        line, edits = self.line(original), self.edits
        if line in self.moving or line in edits.remove:
            if len(original.body) > 1:
                self.refused = True
                return updated
            self.left -= line in edits.remove
            return cst.RemoveFromParent()
        return self._around(line, updated, updated)

    def leave_For(self, original, updated):  # noqa: N802
        line, edits = self.line(original), self.edits
        if line in edits.loop_start and isinstance(updated.body, cst.IndentedBlock):
            self.left -= 1
            made = [cst.parse_statement(s) for s in edits.loop_start[line]]
            updated = updated.with_changes(body=updated.body.with_changes(body=[*made, *updated.body.body]))
        whole = updated
        if line in edits.wrap:
            self.left -= 1
            leading, inner = updated.leading_lines, updated.with_changes(leading_lines=())
            whole = cst.parse_statement(f"{edits.wrap[line]}:\n    pass\n").with_changes(leading_lines=leading)
            whole = whole.with_changes(body=cst.IndentedBlock([inner]))
        return self._around(line, whole, updated)

    def _around(self, line, whole, updated):
        edits, before, after = self.edits, [], []
        if line in edits.before:
            self.left -= 1
            before += [cst.parse_statement(s) for s in edits.before[line]]
        for own, target in edits.move_before.items():
            if target == line:
                self.left -= 1
                before.append(self.kept[own])
        for own, target in edits.move_after.items():
            if target == line:
                self.left -= 1
                after.append(self.kept[own])
        if line in edits.after:
            self.left -= 1
            after += [cst.parse_statement(s) for s in edits.after[line]]
        if not before and not after:
            return whole
        if before and whole.leading_lines and not getattr(before[0], "leading_lines", ()):
            # what stood above the statement stays above what is put before it
            before[0] = before[0].with_changes(leading_lines=whole.leading_lines)
            whole = whole.with_changes(leading_lines=())
        return cst.FlattenSentinel([*before, whole, *after])
