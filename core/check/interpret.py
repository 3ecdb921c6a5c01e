"""Walk a file as Python would run it, with values known only roughly, and write down the calls that matter.

Nothing of the file is executed. Functions and methods of the file are followed where they are called; what no code
of the file calls is entered on its own, with arguments known by name only.
"""

from __future__ import annotations

import ast
import itertools
import time

from .binding import Binding
from .expressions import Expressions
from .functions import Functions
from .loopmodel import Event, Frame, Guard, Loop, LoopModel
from .names import guess_kind
from .pace import nodes
from .scope import EXIT, Scope
from .torchcalls import TorchCalls
from .values import Class, Const, Func, Path, Seq, Thing, merge, tensors_in


class OutOfTime(Exception):  # noqa: N818 - no error: the walk stops and what was seen counts
    """The budget of the walk is spent."""


class Interpreter(Expressions, TorchCalls, Functions, Binding):
    """One walk over one file."""

    def __init__(self, tree: ast.Module, source: str, deadline: float):
        self.model = LoopModel(tree, source)
        self.deadline = deadline
        self.globals = Scope()
        self.scope, self.frame = self.globals, Frame("<module>", tree, None, 0)
        self.loops, self.guards, self.stack = (), (), []
        self.grad, self.modes, self.clock = "on", {}, itertools.count(1)
        self.inside, self.entry_number, self.ops = 0, 0, 0
        self.runs, self.results, self.kinds = {}, {}, {}
        self.instances = {}
        self._survey(tree)

    # -- the whole file ------------------------------------------------------------------------------------------

    def _survey(self, tree):
        """One pass for what the file does with each name, whatever it stands for."""
        uses, calls, words, self.functions = self.model.uses, self.model.calls, self.model.words, []
        size, loads = 0, self.model.loads
        for node in nodes(tree):
            size += 1
            kind = type(node)
            if kind is ast.Call:
                func = node.func
                if type(func) is ast.Attribute:
                    owner = func.value
                    if type(owner) is ast.Subscript:
                        owner = owner.value
                    name = owner.id if type(owner) is ast.Name else owner.attr if type(owner) is ast.Attribute else ""
                    uses.setdefault(name, set()).add(func.attr)
                    calls.add(func.attr)
                elif type(func) is ast.Name:
                    calls.add(func.id)
            elif kind is ast.Attribute:
                words.add(node.attr)
                if type(node.ctx) is ast.Load:
                    loads.add(node.attr)
            elif kind is ast.Name:
                words.add(node.id)
                if type(node.ctx) is ast.Load:
                    loads.add(node.id)
            elif kind is ast.arg:
                words.add(node.arg)
            elif kind is ast.keyword:
                self.model.keywords.add(node.arg)
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self.functions.append(node)
            elif kind is ast.ClassDef:
                self.model.classes.append(node)
        self.max_ops = 60_000 + 6 * size

    def run(self) -> LoopModel:
        """Walk the module, then every function and class that the module did not reach."""
        try:
            self._enter(lambda: self.block(self.model.tree.body))
            top = self.model.tree.body
            flat = [n for s in top for n in (s.body + s.orelse if isinstance(s, ast.If) else [s])]
            functions = [n for n in flat if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
            classes = [n for n in flat if isinstance(n, ast.ClassDef)]
            roots = [f for f in functions if f.name not in self.model.calls and f.name not in self.model.words]
            for node in [*roots, *functions]:
                if node not in self.runs:
                    self._enter(lambda n=node: self._alone(Func(n, self.globals)))
            for node in classes:
                self._enter_class(node)
            for node in self.functions:  # nested functions nothing has reached
                if node not in self.runs and node not in functions and getattr(node, "enclosing", None) is not None:
                    self._enter(lambda n=node: self._alone(n.enclosing))
        except OutOfTime:
            self.model.truncated = True
        return self.model

    def _enter(self, work):
        """Do `work` as an entry of its own."""
        self.entry_number += 1
        self.loops, self.guards, self.stack, self.grad, self.modes, self.inside = (), (), [], "on", {}, 0
        self.scope, self.frame = self.globals, Frame("<module>", self.model.tree, None, 0)
        del self.globals.layers[1:]
        try:
            work()
        except RecursionError:
            self.model.truncated = True

    def _alone(self, func, instance=None):
        self.call_function(func, [], {}, func.node.lineno, alone=True)

    def _enter_class(self, node):
        cls = self.globals.get(node.name)
        if not isinstance(cls, Class) or cls.node is not node:
            cls = Class(node, self.globals, [self.ev(b) for b in node.bases])
        todo = [m for m in cls.methods.values() if m not in self.runs]
        if not todo:
            return
        made = self.instances.get(node)
        if made is None:
            self._enter(lambda: self.instantiate(cls, [], {}, node.lineno, alone=True))
            made = self.instances.get(node)
            todo = [m for m in todo if m not in self.runs]
        own = self.model.uses.get("self", ())
        todo.sort(key=lambda m, own=own: m.name in own)
        for method in todo:
            if method not in self.runs:
                self._enter(lambda m=method: self._alone(Func(m, cls.scope, made, cls)))

    def tick(self):
        """Count one operation against the budget."""
        self.ops += 1
        if self.ops > self.max_ops or (not self.ops & 1023 and time.thread_time() > self.deadline):
            raise OutOfTime

    # -- events --------------------------------------------------------------------------------------------------

    def record(self, kind, node, obj=None, value=None, **data) -> Event:
        """Write down one call that matters."""
        line = node if isinstance(node, int) else node.lineno
        event = Event(kind, line, obj, value, **data)
        event.loops, event.guards, event.grad, event.frame = self.loops, self.guards, self.grad, self.frame
        event.index, event.entry, event.inner = len(self.model.events), self.entry_number, self.inside > 0
        self.model.events.append(event)
        return event

    def kind_of(self, thing, called=False) -> str | None:
        """The kind of a thing: known from its constructor, or guessed from its name and use."""
        if not isinstance(thing, Thing):
            return None
        if thing.kind or not thing.name or thing.cls:
            return thing.kind
        key = (thing.name, called)
        if key not in self.kinds:
            self.kinds[key] = guess_kind(thing.name, self.model.uses.get(thing.name, set()), called)
        return self.kinds[key]

    def set_mode(self, thing, mode, event):
        """Note that `thing` went into train or eval mode."""
        self.modes[thing] = (next(self.clock), mode, event)

    def mode_of(self, thing):
        """(mode, event that set it) of a model: the latest setting of itself or of what contains it."""
        best, depth = (0, None, None), 0
        while thing is not None and depth < 20:
            best = max(best, self.modes.get(thing, best), key=lambda m: m[0])
            thing, depth = thing.data.get("parent"), depth + 1
        return best[1], best[2]

    def forget_modes(self, things):
        """A call we cannot see took these models: it may have changed their mode."""
        for thing in things:
            self.modes[thing] = (next(self.clock), "unknown", None)

    # -- statements ----------------------------------------------------------------------------------------------

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

    def do_for(self, node):
        values = self.ev(node.iter)
        if isinstance(values, Seq) and not values.open and 0 < len(values.items) <= 4:
            known = all(isinstance(v, (Const, Thing, Seq)) for v in values.items)
            if known and any(
                (isinstance(v, Const) and isinstance(v.value, (str, bool))) or isinstance(v, Thing)
                for v in values.items
            ):
                for value in values.items:  # a handful of named phases or objects, one after the other
                    self.bind(node.target, value, node)
                    if self.block(node.body) is EXIT:
                        pass
                return None
        return self.loop(node, node.iter, values, node.target, lambda: self.block(node.body), node.orelse)

    do_asyncfor = do_for

    def do_while(self, node):
        test = self.ev(node.test)
        if isinstance(test, Const) and test.value is False:
            return None
        return self.loop(node, None, None, None, lambda: self.block(node.body), node.orelse)

    def loop(self, node, iter_node, values, target, work, orelse=()):
        """Walk the body of a loop once, knowing that it repeats."""
        loader = self.loader_of(values)
        here = Loop(
            node,
            getattr(node, "lineno", getattr(iter_node, "lineno", 0)),
            loader,
            self.is_range(iter_node),
            self.frame,
            target,
            self.loops,
            self.guards,
            len(self.model.events),
        )
        self.model.loops.append(here)
        self.loops = (*self.loops, here)
        before = (
            dict(itertools.chain.from_iterable(layer.items() for layer in self.scope.layers))
            if len(self.loops) < 4
            else {}
        )
        if target is not None:
            self.bind_loop(target, iter_node, values, here)
        modes, grad = dict(self.modes), self.grad
        try:
            work()
        finally:
            self.loops = self.loops[:-1]
        self.grad = grad
        for thing, state in self.modes.items():  # the body may run no time at all, but then nothing trains either
            if thing in modes and modes[thing][1] != state[1] and state[1] == "unknown":
                self.modes[thing] = state
        self.carried(here, before)
        if orelse:
            self.block(orelse)

    def carried(self, here, before):
        """Names whose value at the end of the body hangs on a graph and was there when the body began."""
        for name, old in before.items():
            new = self.scope.get(name)
            if new is not old and any(t.graph and t.forwards for t in tensors_in(new)):
                here.carried.append((name, old, new))
