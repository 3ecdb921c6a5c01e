"""Whether a test holds, when that can be told."""

from __future__ import annotations

import ast

from .values import (
    Class,
    Const,
    Dict,
    Func,
    Path,
    Seq,
    State,
    Tensor,
    Thing,
)


class Truth:
    """Part of the interpreter: comparisons and boolean operators."""

    def truth(self, value, node) -> bool | None:
        """Whether a test holds, when that can be told."""
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, Thing) and (value.kind or value.data.get("local")) and value.kind != "loader":
            return True
        if isinstance(value, (Func, Class)):
            return True
        return None

    def ev_boolop(self, node):
        values = []
        for part in node.values:
            value = self.ev(part)
            known = self.truth(value, part)
            if known is (isinstance(node.op, ast.Or)):
                return value if not values else (Const(known) if not isinstance(value, Thing) else value)
            values.append(value)
        if all(isinstance(v, Const) for v in values):
            return values[-1]
        if isinstance(node.op, ast.Or):
            known = [v for v in values if not isinstance(v, Const)]
            return (
                known[0]
                if len(known) == 1 and isinstance(known[0], (Thing, Tensor)) and known[0] is values[-1]
                else Thing(name="")
            )
        return Thing(name="")

    def ev_compare(self, node):
        left = self.ev(node.left)
        rights = [self.ev(c) for c in node.comparators]
        if len(rights) != 1:
            return Thing(name="")
        right, op = rights[0], node.ops[0]
        if isinstance(left, Path) and left.name == "builtins.__name__":
            return Const(True)
        if isinstance(node.left, ast.Name) and node.left.id == "__name__":
            return Const(True)
        if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, Const) and right.value is None:
            none = self.is_none(left)
            return Thing(name="") if none is None else Const(none is isinstance(op, ast.Is))
        if isinstance(left, Const) and isinstance(right, Const):
            return self.compare_constants(op, left.value, right.value)
        if isinstance(op, (ast.Eq, ast.NotEq)):
            return self.equality(left, right, node)
        if isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)):
            self.record("compare", node, value=(left, right), tree=node)
        tensors = [t for t in (left, right) if isinstance(t, Tensor) and not t.item]
        return Tensor(line=node.lineno, dtype="bool", forwards=tensors[0].forwards) if tensors else Thing(name="")

    @staticmethod
    def is_none(value):
        """True, False, or None when it cannot be told."""
        if isinstance(value, Const):
            return value.value is None
        if isinstance(value, (Tensor, Seq, Dict, Func, Class, State)):
            return False
        if isinstance(value, Thing) and (value.kind or value.data.get("local")):
            return False
        return None

    @staticmethod
    def compare_constants(op, a, b):
        """Fold a comparison of two literals."""
        try:
            if isinstance(op, (ast.Eq, ast.Is)):
                return Const(a == b)
            if isinstance(op, (ast.NotEq, ast.IsNot)):
                return Const(a != b)
            if isinstance(op, ast.In):
                return Const(a in b)
            if isinstance(op, ast.NotIn):
                return Const(a not in b)
            if isinstance(op, ast.Lt):
                return Const(a < b)
            if isinstance(op, ast.Gt):
                return Const(a > b)
            return Const(a <= b if isinstance(op, ast.LtE) else a >= b)
        except (TypeError, ValueError):
            return Thing(name="")

    def equality(self, left, right, node):
        """`a == b`: of tensors, a tensor of hits."""
        pair = [t for t in (left, right) if isinstance(t, Tensor) and not t.item]
        if pair:
            self.record("equal", node, value=(left, right))
            forwards = frozenset().union(*(t.forwards for t in pair))
            models = frozenset().union(*(t.models for t in pair))
            return Tensor(line=node.lineno, dtype="bool", forwards=forwards, models=models, of="hits")
        return Thing(name="")

    def ev_unaryop(self, node):
        value = self.ev(node.operand)
        if isinstance(node.op, ast.Not):
            known = self.truth(value, node.operand)
            return Thing(name="") if known is None else Const(not known)
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value if isinstance(node.op, ast.USub) else value.value)
        if isinstance(value, Tensor) and isinstance(node.op, ast.USub):
            return value.but(sign=-value.sign, act=None)
        return value
