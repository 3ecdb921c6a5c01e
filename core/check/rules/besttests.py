"""`if metric < best: best = metric`: the tests by which a loop keeps its best, read from the tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from core.check.values import Tensor

BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Where a statement holds others."""


@dataclass(frozen=True)
class BestTest:
    """One such test. `up` is True when a larger metric counts as better."""

    node: ast.If
    compare: ast.Compare
    best: str
    metric: ast.expr
    up: bool
    improved: list
    otherwise: list
    scope: ast.AST
    owner: ast.ClassDef | None


def best_tests(model) -> list[BestTest]:
    """Every test of a metric against a best one that is updated in one of its branches."""
    cached = model.best_tests
    if cached is None:
        cached = []
        _walk(model.tree, model.tree, None, cached)
        model.best_tests = cached
    return cached


def _walk(node, scope, owner, found):
    todo = [(node, scope, owner)]
    while todo:
        node, scope, owner = todo.pop()
        for child in (c for name in BLOCKS for c in getattr(node, name, ())):
            inner_scope, inner_owner = scope, owner
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner_scope = child
            elif isinstance(child, ast.ClassDef):
                inner_owner = child
            elif isinstance(child, ast.If):
                test = _best_test(child, inner_scope, inner_owner)
                if test is not None:
                    found.append(test)
            todo.append((child, inner_scope, inner_owner))


def assigned(body) -> dict[str, ast.expr]:
    """Target text -> value, for plain assignments anywhere in these statements (tuples taken apart)."""
    out: dict[str, ast.expr] = {}
    for stmt in body:
        for node in ast.walk(stmt):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, (ast.Tuple, ast.List)):
                        values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else []
                        for i, t in enumerate(target.elts):
                            out[ast.unparse(t)] = values[i] if i < len(values) else node.value
                    else:
                        out[ast.unparse(target)] = node.value
            elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, ast.NamedExpr):
                out[ast.unparse(node.target)] = node.value
    return out


def _compares(test):
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _compares(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from ()
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield test


def _base(node) -> str:
    """`best - delta` -> `best`, `best * (1 - eps)` -> `best`."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""


def _best_test(node, scope, owner):
    for compare in _compares(node.test):
        op = compare.ops[0]
        if not isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)):
            continue
        left, right = compare.left, compare.comparators[0]
        larger = isinstance(op, (ast.Gt, ast.GtE))
        for metric, best, up in ((left, right, larger), (right, left, not larger)):
            text = _base(best)
            if not text or isinstance(metric, ast.Constant):
                continue
            mine = _base(metric) or ast.unparse(metric)
            for branch, other, sense in ((node.body, node.orelse, up), (node.orelse, node.body, not up)):
                value = assigned(branch).get(text)
                if value is not None and (_base(value) == mine or ast.unparse(value) == ast.unparse(metric)):
                    return BestTest(node, compare, text, metric, sense, branch, other, scope, owner)
    return None


def metric_events(model, test: BestTest):
    """(compare event, value of the metric) for each time the test was walked."""
    for event in model.of("compare"):
        if event.data["tree"] is test.compare:
            left = event.value[0] if test.compare.left is test.metric else event.value[1]
            yield event, left if isinstance(left, Tensor) else None
