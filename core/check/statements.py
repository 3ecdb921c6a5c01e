"""Walk statements: assignments, branches, functions and classes."""

from __future__ import annotations

import ast

from .loopmodel import Guard
from .scope import EXIT
from .values import (
    Class,
    Const,
    Func,
    Path,
    Thing,
    merge,
)


class Statements:
    """Part of the interpreter: one method a kind of statement."""

    def block(self, body):
        """Walk statements; EXIT when none of what follows can run."""
        guards = self.guards
        try:
            for stmt in body:
                out = self.statement(stmt)
                if out is EXIT:
                    return EXIT
                if type(out) is Guard:
                    self.guards = (*self.guards, out)
        finally:
            self.guards = guards
        return None

    def statement(self, node):
        """Walk one statement."""
        self.tick()
        method = getattr(self, "do_" + type(node).__name__.lower(), None)
        return method(node) if method else None

    def do_expr(self, node):
        if isinstance(node.value, ast.Call):
            self.discard = node.value
        self.ev(node.value)

    def do_return(self, node):
        self.frame.returns.append(self.ev(node.value) if node.value is not None else Const(None))
        if node.value is not None:
            self.record("return", node, value=self.frame.returns[-1])
        return EXIT

    def do_raise(self, node):
        return EXIT

    def do_break(self, node):
        return EXIT

    do_continue = do_break

    def do_assert(self, node):
        self.ev(node.test)

    def do_delete(self, node):
        pass

    def do_global(self, node):
        for name in node.names:
            self.scope.declared[name] = self.globals

    def do_nonlocal(self, node):
        for name in node.names:
            scope = self.scope.parent
            while scope is not None and not any(name in layer for layer in scope.layers):
                scope = scope.parent
            self.scope.declared[name] = scope or self.globals

    def do_import(self, node):
        for alias in node.names:
            self.scope.set(
                alias.asname or alias.name.split(".")[0], Path(alias.name if alias.asname else alias.name.split(".")[0])
            )

    def do_importfrom(self, node):
        for alias in node.names:
            self.scope.set(alias.asname or alias.name, Path(f"{node.module or ''}.{alias.name}"))

    def do_functiondef(self, node):
        func = Func(node, self.scope)
        if self.scope is not self.globals:
            node.enclosing = func
        self.scope.set(node.name, func)

    do_asyncfunctiondef = do_functiondef

    def do_classdef(self, node):
        self.scope.set(node.name, Class(node, self.scope, [self.ev(b) for b in node.bases]))

    def do_assign(self, node):
        made, target = node.value, node.targets[0]
        if type(made) is ast.BinOp and type(made.op) is ast.Add and type(target) in (ast.Name, ast.Attribute):
            for old, added in ((made.left, made.right), (made.right, made.left)):
                if type(old) is type(target) and ast.unparse(old) == ast.unparse(target):  # `x = x + v` is `x += v`
                    self.do_augassign(ast.copy_location(ast.AugAssign(target, made.op, added), node))
                    return
        value = self.ev(node.value)
        for target in node.targets:
            self.bind(target, value, node)

    def do_annassign(self, node):
        if node.value is not None:
            self.bind(node.target, self.ev(node.value), node)

    def do_if(self, node):
        return self.branch(node.test, node.body, node.orelse, node)

    def branch(self, test, body, orelse, node):
        """Walk the arm that runs, or both when that cannot be told."""
        known = self.truth(self.ev(test), test)
        if known is not None:
            return self.block(body if known else orelse)
        gid, guards, scope = next(self.clock), self.guards, self.scope
        modes, grad = dict(self.modes), self.grad
        ends, changes, left = [], [], []
        for arm, part in enumerate((body, orelse)):
            scope.layers.append({})
            self.guards = (*guards, Guard(gid, arm, test, node.lineno))
            self.modes, self.grad = dict(modes), grad
            try:
                ends.append(self.block(part) is EXIT)
            finally:
                changes.append(scope.layers.pop())
                self.guards = guards
            left.append((self.modes, self.grad))
        if all(ends):
            return EXIT
        only = None if not any(ends) else 1 if ends[0] else 0
        if only is not None:
            self.modes, self.grad = left[only]
            scope.layers[-1].update(changes[only])
            return Guard(gid, only, test, node.lineno)
        (m0, g0), (m1, g1) = left
        self.grad = g0 if g0 == g1 else "unknown"
        merged = dict(m0)
        for thing in {**m0, **m1}:
            a, b = m0.get(thing), m1.get(thing)
            if a != b:
                same = a and b and a[1] == b[1]
                merged[thing] = a if same else (next(self.clock), "unknown", None)
        self.modes = merged
        for name in {**changes[0], **changes[1]}:
            a = changes[0].get(name) or scope.get(name)
            b = changes[1].get(name) or scope.get(name)
            scope.layers[-1][name] = merge(a, b)
        return None

    def do_match(self, node):
        self.ev(node.subject)
        for case in node.cases:
            self.branch(node.subject, case.body, [], node)

    def do_try(self, node):
        out = self.block(node.body)
        for handler in node.handlers:
            saved, self.guards = self.guards, (*self.guards, Guard(next(self.clock), 0, None, handler.lineno))
            self.block(handler.body)
            self.guards = saved
        if out is not EXIT:
            out = self.block(node.orelse)
        final = self.block(node.finalbody)
        return EXIT if EXIT in (out, final) else None

    do_trystar = do_try

    def do_with(self, node):
        grad = self.grad
        for item in node.items:
            context = self.ev(item.context_expr)
            if isinstance(context, Thing) and context.kind == "grad":
                self.grad = context.data["value"]
            if item.optional_vars is not None:
                self.bind(item.optional_vars, context, node)
        out = self.block(node.body)
        self.grad = grad
        return out

    do_asyncwith = do_with
