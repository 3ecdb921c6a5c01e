"""Follow calls into functions and classes of the file."""

from __future__ import annotations

import ast

from .loopmodel import Frame
from .names import GRAD_OFF, HARMLESS_DECORATORS
from .scope import EXIT, Scope
from .values import Class, Const, Dict, Func, Path, Seq, Thing, merge

MAX_DEPTH = 12


class Functions:
    """Part of the interpreter: calls of what the file defines."""

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
            if isinstance(value, Thing) and not value.name and name != "self":
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
