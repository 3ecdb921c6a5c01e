"""A call: its receiver, its arguments, and what kind of thing is called."""

from __future__ import annotations

import ast

from .values import (
    Class,
    Dict,
    Func,
    Path,
    Seq,
    State,
    Tensor,
    Thing,
    tensors_in,
)

HARMLESS = frozenset(
    [
        "print",
        "log",
        "info",
        "debug",
        "warning",
        "add_scalar",
        "add_scalars",
        "update",
        "write",
        "append",
        "log_dict",
        "log_metrics",
        "set_postfix",
        "report",
        "watch",
        "save",
        "format",
        "summary",
        "display",
        "dump",
        "isinstance",
        "len",
        "type",
        "id",
        "hasattr",
        "repr",
        "str",
        "float",
        "int",
        "add_graph",
        "set_description",
        "flush",
        "add_image",
        "add_histogram",
        "describe",
        "count_parameters",
        "num_params",
    ]
)


class Calls:
    """Part of the interpreter: calls."""

    def ev_call(self, node):
        """Evaluate a call: receiver, arguments, then what it does."""
        func = node.func
        owner = callee = None
        if isinstance(func, ast.Attribute):
            owner = self.ev(func.value)
        else:
            callee = self.ev(func)
        if isinstance(callee, Path) and callee.name == "builtins.super":
            return Thing(
                "super",
                data_self=self.scope.get("self"),
                frame=self.stack[-1] if self.stack else None,
                line=node.lineno,
            )
        args, kwargs = [], {}
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                value = self.ev(arg.value)
                args += (
                    value.items
                    if isinstance(value, Seq)
                    else self.unpack(value, [None, None])
                    if isinstance(value, Tensor)
                    else []
                )
            else:
                args.append(self.ev(arg))
        for keyword in node.keywords:
            value = self.ev(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Dict):
                kwargs.update({str(k): v for k, v in value.items.items()})
            else:
                kwargs["**"] = value
        if owner is not None:
            return self.call_method(owner, func.attr, args, kwargs, node)
        return self.call_value(callee, args, kwargs, node)

    def call_value(self, callee, args, kwargs, node):
        """Call a value."""
        if isinstance(callee, Func):
            return self.call_function(callee, args, kwargs, node.lineno)
        if isinstance(callee, Class):
            return self.instantiate(callee, args, kwargs, node.lineno)
        if isinstance(callee, Path):
            return self.call_path(callee.name, args, kwargs, node)
        if isinstance(callee, Thing):
            return self.call_thing(callee, args, kwargs, node)
        if isinstance(callee, Tensor):
            return Tensor(line=node.lineno)
        return Thing(name="")

    def call_thing(self, thing, args, kwargs, node):
        """Call an object: a forward, a loss, or something unknown."""
        cls = thing.data.get("local")
        if cls is not None:
            forward, where = cls.find("forward")
            if forward is not None and thing.kind == "model":
                return self.forward(thing, args, kwargs, node, Func(forward, where.scope, thing, where))
            call, where = cls.find("__call__")
            if call is not None:
                return self.call_function(Func(call, where.scope, thing, where), args, kwargs, node.lineno)
        kind = self.kind_of(thing, called=True)
        if kind == "loss":
            return self.loss_call(thing, thing.cls, args, kwargs, node, thing.data.get("kwargs", {}))
        if kind in ("model", "engine"):
            return self.forward(thing, args, kwargs, node)
        tensors = [t for a in (*args, *kwargs.values()) for t in tensors_in(a)]
        graphs = [t for t in tensors if t.graph]
        self.escape(thing.name, args, kwargs, node)
        if graphs:
            return self.mixed(graphs, node)
        return Thing(name="", line=node.lineno, parents=tuple(a for a in args if isinstance(a, Thing))[:4])

    def mixed(self, tensors, node):
        """The result of a function we cannot see, given tensors: attached to their graphs, otherwise unknown."""
        return Tensor(
            line=node.lineno,
            graph=any(t.graph for t in tensors) and self.grad != "off",
            models=frozenset().union(*(t.models for t in tensors)),
            forwards=frozenset().union(*(t.forwards for t in tensors)),
            losses=frozenset().union(*(t.losses for t in tensors)),
            parts=frozenset().union(*(t.parts for t in tensors)),
        )

    def escape(self, name, args, kwargs, node):
        """A function we cannot see took these objects: it may step, zero or switch modes."""
        if "zero_grad" in name:
            self.record("zero_grad", node, None)
        if name in HARMLESS:
            self.record("report", node, value=Seq([*args, *kwargs.values()]), name=name)
            return
        taken = [a for a in (*args, *kwargs.values()) if isinstance(a, Thing)]
        taken += [
            v
            for a in args
            if isinstance(a, (Seq, Dict))
            for v in (a.items if isinstance(a, Seq) else a.items.values())
            if isinstance(v, Thing)
        ]
        mattering = [a for a in taken if self.kind_of(a) in ("model", "optimizer", "scheduler", "engine")]
        if mattering or any(t.graph for a in args for t in tensors_in(a)):
            self.record("escape", node, value=mattering, name=name, args=args)
            self.forget_modes([a for a in mattering if self.kind_of(a) in ("model", "engine")])

    def call_method(self, owner, name, args, kwargs, node):
        """Call `owner.name(...)`."""
        if isinstance(owner, Path):
            return self.call_path(f"{owner.name}.{name}", args, kwargs, node)
        if isinstance(owner, Tensor):
            return self.tensor_method(owner, name, args, kwargs, node)
        if isinstance(owner, Thing):
            return self.thing_method(owner, name, args, kwargs, node)
        if isinstance(owner, Class):
            method, cls = owner.find(name)
            if method is not None:
                bound = args[0] if args and isinstance(args[0], Thing) and self.stack else None
                return self.call_function(
                    Func(method, cls.scope, bound, cls), args[1:] if bound else args, kwargs, node.lineno
                )
            return Thing(name="")
        if isinstance(owner, Seq):
            return self.seq_method(owner, name, args, node)
        if isinstance(owner, Dict):
            return self.dict_method(owner, name, args, kwargs, node)
        if isinstance(owner, State) and name in ("copy", "items", "values", "keys"):
            return owner
        if "backward" in name:
            self.backward(args[0] if args else owner, node, kwargs, name)
        if name == "format":
            return Seq([*args, *kwargs.values()], open=True)
        return Thing(name="", parents=tuple(a for a in args if isinstance(a, Thing))[:4])
