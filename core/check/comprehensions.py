"""Comprehensions: loops that make lists, sets and dicts."""

from __future__ import annotations

import ast

from .values import (
    Dict,
    Seq,
    State,
    Tensor,
)


class Comprehensions:
    """Part of the interpreter: comprehensions."""

    def ev_listcomp(self, node):
        items = []
        self.comprehend(node, 0, lambda: items.append(self.collected(self.ev(node.elt))))
        return Seq(items, open=True)

    def collected(self, value):
        """An element of a comprehension is one of many, as if it had been appended."""
        return value.but(acc=value.acc or self.loops[-1]) if isinstance(value, Tensor) and self.loops else value

    ev_generatorexp = ev_listcomp
    ev_setcomp = ev_listcomp

    def ev_dictcomp(self, node):
        items, base = {}, 0
        found = []
        self.comprehend(node, 0, lambda: found.append((self.ev(node.key), self.ev(node.value))))
        for _, value in found:
            if isinstance(value, State):
                return value
            if isinstance(value, Tensor) and value.base:
                base = value.base
        source = node.generators[0].iter
        if (
            found
            and isinstance(source, ast.Call)
            and isinstance(source.func, ast.Attribute)
            and source.func.attr == "items"
        ):
            state = self.ev(source.func.value)
            if isinstance(state, State):
                text = ast.unparse(node.value)
                copied = any(w in text for w in ("clone", "copy", "cpu", "numpy", "tensor("))
                return State(state.of, node.lineno, copied=copied or state.copied)
        return Dict(items, open=True, line=node.lineno, base=base)

    def comprehend(self, node, depth, work):
        """Walk the loops of a comprehension around its element."""
        if depth == len(node.generators):
            work()
            return
        generator = node.generators[depth]
        values = self.ev(generator.iter)
        self.scope.layers.append({})
        try:
            self.loop(
                node,
                generator.iter,
                values,
                generator.target,
                lambda: ([self.ev(test) for test in generator.ifs], self.comprehend(node, depth + 1, work)),
            )
        finally:
            self.scope.layers.pop()
