"""Assign values to names, attributes and items."""

from __future__ import annotations

import ast

from .values import Const, Dict, Params, Seq, State, Tensor, Thing


class Binding:
    """Part of the interpreter: targets of assignments."""

    def bind(self, target, value, node):
        """Assign `value` to a target."""
        kind = type(target)
        if kind is ast.Name:
            if isinstance(value, Thing) and not value.name:
                value.name = target.id
            if isinstance(value, (State, Thing)) and self.loops:
                self._keep(target, value, node)
            self.scope.set(target.id, value)
        elif kind in (ast.Tuple, ast.List):
            for element, part in zip(target.elts, self.unpack(value, target.elts), strict=False):
                self.bind(element.value if isinstance(element, ast.Starred) else element, part, node)
        elif kind is ast.Attribute:
            self.bind_attribute(target, value, node)
        elif kind is ast.Subscript:
            owner, key = self.ev(target.value), self.ev(target.slice)
            if isinstance(value, (State, Thing)) and self.loops:
                self._keep(target, value, node)
            if isinstance(owner, Dict) and isinstance(key, Const) and _hashable(key.value):
                owner.items[key.value] = value
            elif isinstance(owner, Thing) and isinstance(key, Const) and _hashable(key.value):
                if isinstance(value, Thing) and not value.name:
                    value.name = str(key.value)
                if self.kind_of(owner) == "model" and self.kind_of(value) == "model":
                    self.record("setattr", node, owner, value, name=str(key.value))
                owner.attrs[f"[{key.value}]"] = value
        elif kind is ast.Starred:
            self.bind(target.value, value, node)

    def _keep(self, target, value, node):
        if isinstance(value, State) or self.kind_of(value) == "model":
            self.record("keep", node, value=value, target=ast.unparse(target), tree=node)

    def bind_attribute(self, target, value, node):
        """Assign to an attribute, where some attributes mean a call: `p.grad = None`, `model.fc = ...`."""
        owner, name = self.ev(target.value), target.attr
        if isinstance(value, Thing) and not value.name:
            value.name = name
        if name == "grad":
            self.record("zero_grad", node, None, manual=True)
            return
        if name == "requires_grad":
            self.record("freeze", node, owner, value)
        if name == "data" and not isinstance(value, Const):
            self.record("manual_step", node, owner)
        if isinstance(owner, Thing):
            if isinstance(value, (State, Thing)) and self.loops:
                self._keep(target, value, node)
            building = any(getattr(f, "name", "") == "__init__" for f in self.stack)
            if isinstance(value, Thing) and value.kind == "model" and self.kind_of(owner) == "model":
                if not building or owner.data.get("local") is None:
                    self.record("setattr", node, owner, value, name=name)
                value.data.setdefault("parent", owner)
            old = owner.attrs.get(name)
            if isinstance(value, Const) and value.value is None and self.guards and old is not None:
                value = old
            if name == "automatic_optimization":
                self.record("manual_optimization", node, owner)
            owner.attrs[name] = value

    def params_of(self, value) -> Params:
        """The models whose parameters a value holds; unknown when any part of it is."""
        models, todo, known, steps = set(), [value], True, 0
        while todo and steps < 200:
            steps += 1
            v = todo.pop()
            if isinstance(v, Params):
                if v.models is None:
                    known = False
                else:
                    models |= v.models
            elif isinstance(v, Seq):
                todo += v.items
                known = known and not v.open
            elif isinstance(v, Dict):
                todo.append(v.items.get("params"))
                known = known and "params" in v.items
            elif isinstance(v, Tensor) and v.models:
                models |= v.models
            else:
                known = False
        return Params(frozenset(models) if known else None if not models else frozenset(models))


def _hashable(value) -> bool:
    return isinstance(value, (str, int, bool, float))
