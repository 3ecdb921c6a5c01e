"""Walk a file as Python would run it, with values known only roughly, and write down the calls that matter.

Nothing of the file is executed. Functions and methods of the file are followed where they are called; what no code
of the file calls is entered on its own, with arguments known by name only.
"""

from __future__ import annotations

import ast
import itertools
import time

from .expressions import Expressions
from .loopmodel import Event, Frame, Guard, Loop, LoopModel
from .names import GRAD_OFF, HARMLESS_DECORATORS, guess_kind
from .torchcalls import TorchCalls
from .values import Class, Const, Dict, Func, Params, Path, Seq, State, Tensor, Thing, merge, tensors_in

EXIT = object()
MAX_DEPTH = 12
DEFAULTS = {
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
}


class Scope:
    """Variables of one function call. The top layer holds what the branch being walked has set."""

    __slots__ = ("declared", "layers", "parent")

    def __init__(self, parent=None):
        self.layers, self.parent, self.declared = [{}], parent, {}

    def get(self, name):
        """The value of `name` here or in an enclosing scope."""
        scope = self
        while scope is not None:
            if name in scope.declared:
                scope = scope.declared[name]
            for layer in reversed(scope.layers):
                if name in layer:
                    return layer[name]
            scope = scope.parent
        return None

    def set(self, name, value):
        """Bind `name`."""
        self.declared.get(name, self).layers[-1][name] = value


class OutOfTime(Exception):  # noqa: N818 - no error: the walk stops and what was seen counts
    """The budget of the walk is spent."""


class Interpreter(Expressions, TorchCalls):
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
        for node in ast.walk(tree):
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

    # -- calls of functions of the file ----------------------------------------------------------------------------

    def call_function(self, func, args, kwargs, line, alone=False):
        """Follow a call into a function of the file; its value is what its returns agree on."""
        node = func.node
        if isinstance(node, ast.Lambda):
            return self._call_lambda(func, args, kwargs)
        size = self.runs.get(node, 0)
        if node in self.stack or len(self.stack) > MAX_DEPTH:
            return Thing(name="")
        if size >= 12 and len(node.body) > 3:
            return self.results.get(node) or Thing(name="")
        self.runs[node] = size + 1
        grad, opaque = self.grad, False
        for decorator in node.decorator_list:
            context = self.ev(decorator)
            name = context.name.rpartition(".")[2] if isinstance(context, Path) else getattr(context, "name", "")
            if isinstance(context, Thing) and context.kind == "grad":
                grad = context.data["value"]
            elif name in GRAD_OFF:
                grad = "off"
            elif name == "enable_grad":
                grad = "on"
            elif name not in HARMLESS_DECORATORS and not isinstance(context, Func):
                opaque = True
            if isinstance(context, Func):
                opaque = True
        scope = Scope(func.scope)
        frame = Frame(node.name, node, self.frame if not alone else None, line, opaque, func.bound)
        self.bind_arguments(node, func, scope, args, kwargs)
        saved = self.scope, self.frame, self.grad
        self.scope, self.frame, self.grad = scope, frame, "unknown" if opaque and grad == "on" else grad
        self.stack.append(node)
        try:
            fell = self.block(node.body) is not EXIT
        finally:
            self.stack.pop()
            self.scope, self.frame, after = saved
            self.grad = after
        if opaque:
            self.forget_modes(list(self.modes))
        if fell and frame.returns and any(not (isinstance(r, Const) and r.value is None) for r in frame.returns):
            frame.returns.append(Const(None))
        result = self.join(frame.returns)
        self.results[node] = result
        return result

    def join(self, values):
        """One value for several returns."""
        if not values:
            return Const(None)
        result = values[0]
        for value in values[1:]:
            if isinstance(result, Seq) and isinstance(value, Seq) and len(result.items) == len(value.items):
                result = Seq(
                    [merge(a, b) for a, b in zip(result.items, value.items, strict=True)], result.open or value.open
                )
            else:
                result = merge(result, value)
        return result

    def _call_lambda(self, func, args, kwargs):
        if func.node in self.stack or len(self.stack) > MAX_DEPTH:
            return Thing(name="")
        scope, saved = Scope(func.scope), self.scope
        self.bind_arguments(func.node, func, scope, args, kwargs)
        self.scope = scope
        self.stack.append(func.node)
        try:
            return self.ev(func.node.body)
        finally:
            self.stack.pop()
            self.scope = saved

    def bind_arguments(self, node, func, scope, args, kwargs):
        """Give each parameter its argument, its default, or an unknown thing of its own name."""
        spec = node.args
        names = [a.arg for a in spec.posonlyargs + spec.args]
        static = any(getattr(d, "id", "") == "staticmethod" for d in getattr(node, "decorator_list", ()))
        given = list(args)
        if func.bound is not None and not static:
            given.insert(0, func.bound)
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        defaults.update({a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None})
        for i, name in enumerate([*names, *(a.arg for a in spec.kwonlyargs)]):
            if i < len(given) and i < len(names):
                value = given[i]
            elif name in kwargs:
                value = kwargs[name]
            elif name in defaults and (args or kwargs or not self._unsure(defaults[name])):
                value = self.ev(defaults[name])
            elif args or kwargs or func.bound is None or i > 0:
                value = self.same_parameter(name) or Thing(name=name)
            else:
                value = Thing(name=name)
            if isinstance(value, Thing) and not value.name:
                value.name = name
            scope.set(name, value)
        if spec.vararg:
            scope.set(spec.vararg.arg, Seq(given[len(names) :], open=not args))
        if spec.kwarg:
            extra = {k: v for k, v in kwargs.items() if k not in names}
            scope.set(spec.kwarg.arg, Dict(extra, open=True))

    def same_parameter(self, name):
        """What a caller elsewhere most likely passes: a global of that name, or the one model the file defines."""
        if self.stack or self.frame.parent is not None:
            return None
        value = self.globals.get(name)
        if isinstance(value, Thing) and value.kind in ("model", "optimizer", "loss", "scheduler", "scaler", "loader"):
            return value
        probe = Thing(name=name)
        if self.kind_of(probe) == "model" or self.kind_of(probe, called=True) == "model":
            return self.only_model()
        return None

    def only_model(self):
        """An object of the one Module class of the file that no other class of it uses; None when there are several."""
        if not hasattr(self, "_only"):
            classes = [n for n in self.model.tree.body if isinstance(n, ast.ClassDef)]
            modules = [c for c in classes if any(ast.unparse(b).endswith("Module") for b in c.bases)]
            used = {
                n.id for c in classes for n in ast.walk(c) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
            }
            roots = [c for c in modules if c.name not in used and "Lightning" not in ast.unparse(c.bases[0])]
            self._only = None
            if len(roots) == 1 and not any(
                isinstance(n, ast.Name) and n.id == roots[0].name for n in ast.walk(self.model.tree)
            ):
                cls = Class(roots[0], self.globals, [self.ev(b) for b in roots[0].bases])
                saved, self.stack, self.frame = self.frame, ["only"], self.frame
                self._only = self.instantiate(cls, [], {}, roots[0].lineno)
                self.frame, self.stack = saved, []
        return self._only

    @staticmethod
    def _unsure(default):
        """A default nobody overrides here, but a caller elsewhere may: None, a flag."""
        return isinstance(default, ast.Constant) and (default.value is None or isinstance(default.value, bool))

    def instantiate(self, cls, args, kwargs, line, alone=False):
        """Make an object of a class of the file and walk its `__init__`."""
        bases = cls.base_names()
        kind = None
        if (
            any(b.endswith("LightningModule") for b in bases)
            or any(
                b == "Module" or b in ("Sequential", "PreTrainedModel", "ModuleList") or b.endswith("Module")
                for b in bases
            )
            or any(b.endswith("Loss") for b in bases)
        ):
            kind = "model"
        elif any(b.endswith("Dataset") for b in bases):
            kind = "dataset"
        elif any(b.endswith("Optimizer") for b in bases):
            kind = "optimizer"
        thing = Thing(
            kind=kind,
            cls=cls.name,
            name="",
            line=line,
            local=cls,
            layers=None,
            lightning=any("Lightning" in b for b in bases),
        )
        self.instances.setdefault(cls.node, thing)
        init, owner = cls.find("__init__")
        if init is not None:
            self.call_function(Func(init, owner.scope, thing, owner), args, kwargs, line, alone=alone)
        else:
            fields = [
                s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            thing.attrs.update(zip(fields, args, strict=False))
            thing.attrs.update(kwargs)
        if kind == "optimizer" and args:
            thing.data.setdefault("params", self.params_of(args[0]))
        if kind == "model" and any(b == "Sequential" for b in bases) and thing.data["layers"] is None:
            thing.data["layers"] = None
        return thing

    # -- binding -------------------------------------------------------------------------------------------------

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
