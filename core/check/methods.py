"""Methods of lists, dicts and objects."""

from __future__ import annotations

import ast

from .calls import HARMLESS
from .values import (
    Class,
    Const,
    Dict,
    Func,
    Path,
    Seq,
    Tensor,
    Thing,
    tensors_in,
)

FORWARD_METHODS = frozenset(
    [
        "forward",
        "loss",
        "compute_loss",
        "get_loss",
        "calc_loss",
        "training_step",
        "log_prob",
        "encode",
        "decode",
        "forward_features",
    ]
)

SAME = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "apply",
        "share_memory",
        "to_empty",
        "type",
    ]
)


class Methods:
    """Part of the interpreter: calls of `x.name(...)`."""

    def seq_method(self, owner, name, args, node):
        """Methods of a list."""
        if name in ("append", "insert") and args:
            value = args[-1]
            for t in tensors_in(value)[:1]:
                event = self.record("accumulate", node, value=t, target=ast.unparse(node.func.value), how="append")
                if isinstance(value, Tensor):
                    value = t.but(parts=t.parts | {event})
            owner.items = [*owner.items, value][-50:]
            owner.open = owner.open or bool(self.loops)
        elif name == "extend" and args and isinstance(args[0], Seq):
            owner.items, owner.open = [*owner.items, *args[0].items][-50:], True
        elif name == "pop" and owner.items:
            return owner.items[-1]
        elif name in ("zero_grad", "step", "train", "eval"):
            for item in owner.items:
                self.call_method(item, name, args, {}, node)
        return Const(None)

    def dict_method(self, owner, name, args, kwargs, node):
        """Methods of a dict."""
        if name in ("values", "items"):
            values = list(owner.items.values())
            return Seq([Seq([Const(k), v]) for k, v in owner.items.items()] if name == "items" else values, owner.open)
        if (
            name in ("get", "pop", "setdefault")
            and args
            and isinstance(args[0], Const)
            and args[0].value in owner.items
        ):
            return owner.items[args[0].value]
        if name == "update":
            owner.items.update({str(k): v for k, v in kwargs.items()})
            if args and isinstance(args[0], Dict):
                owner.items.update(args[0].items)
            else:
                owner.open = owner.open or bool(args)
        if name == "copy":
            return owner
        return Thing(name="")

    def thing_method(self, thing, name, args, kwargs, node):
        """Call a method of an object."""
        if thing.kind == "super":
            return self.super_method(thing, name, args, kwargs, node)
        cls = thing.data.get("local")
        if cls is not None:
            method, where = cls.find(name)
            if method is not None:
                if name == "forward" and thing.kind == "model":
                    return self.forward(thing, args, kwargs, node, Func(method, where.scope, thing, where))
                if name in ("step", "zero_grad") and thing.kind == "optimizer":
                    pass
                else:
                    return self.call_function(Func(method, where.scope, thing, where), args, kwargs, node.lineno)
        held = thing.attrs.get(name)
        if isinstance(held, (Func, Class, Path)) or (isinstance(held, Thing) and (held.kind or held.data.get("local"))):
            return self.call_value(held, args, kwargs, node)
        handler = getattr(self, "on_" + name, None)
        if handler is not None:
            return handler(thing, args, kwargs, node)
        kind = self.kind_of(thing)
        if "backward" in name and "hook" not in name:
            self.backward(Seq(list(args)) if args else thing, node, kwargs, name)
            return Const(None)
        if name.endswith("_step") and (kind == "optimizer" or "first_step" in self.model.uses.get(thing.name, ())):
            self.on_step(thing, [], {}, node)
            zero = kwargs.get("zero_grad")
            if isinstance(zero, Const) and zero.value:
                self.record("zero_grad", node, thing)
            return Const(None)
        if name in SAME:
            if name in ("to", "cuda"):
                self.record("to_device", node, thing)
            return thing
        if kind == "model" and name in FORWARD_METHODS:
            return self.forward(thing, args, kwargs, node)
        if "hook" in name:
            self.record("hook", node, thing)
        if name.startswith("clip_grad") and kind == "optimizer":
            return Thing(name="")  # it knows whether its gradients are scaled
        if name.startswith("clip_grad"):
            self.record("clip", node, thing, accelerate=True)
            return Thing(name="")
        if name not in HARMLESS and self.kind_of(thing, called=True) == "loss" and thing.name == "loss":
            return Thing(name="")
        child = thing.attrs.get(name)
        if child is None:
            child = Thing(name=name, line=node.lineno)
            if kind == "model":
                child.data["parent"] = thing
        called = self.kind_of(child, called=True)
        if called in ("model", "loss") and not name.startswith(
            ("get", "build", "make", "load", "create", "log", "save", "init", "set")
        ):
            thing.attrs.setdefault(name, child)
            return self.call_thing(child, args, kwargs, node)
        self.escape(name, args, kwargs, node)
        if (
            name not in HARMLESS
            and kind == "optimizer"
            and name not in ("train", "eval", "state_dict", "load_state_dict")
        ):
            self.record("escape", node, value=[thing], name=name)
        tensors = [t for a in (*args, *kwargs.values()) for t in tensors_in(a) if t.graph]
        if tensors and name not in HARMLESS:
            return self.mixed(tensors, node)
        made = Thing(name="", line=node.lineno, parents=(thing, *(a for a in args if isinstance(a, Thing)))[:4])
        if thing.data.get("base") and name in ("to_numpy", "astype", "tolist"):
            made.data["base"] = thing.data["base"]
        return made

    def super_method(self, thing, name, args, kwargs, node):
        """`super().name(...)`, when the base is in the file."""
        me, here = thing.data["data_self"], thing.data["frame"]
        cls = me.data.get("local") if isinstance(me, Thing) else None
        if cls is not None:
            todo = [cls, *(b for b in cls.bases if isinstance(b, Class))]
            owner = next((c for c in todo if here in c.methods.values()), cls)
            for base in owner.bases:
                if isinstance(base, Class):
                    method, where = base.find(name)
                    if method is not None:
                        if name == "forward":
                            return self.call_function(Func(method, where.scope, me, where), args, kwargs, node.lineno)
                        return self.call_function(Func(method, where.scope, me, where), args, kwargs, node.lineno)
            if "Sequential" in cls.base_names():
                if name == "__init__":
                    me.data["layers"] = [a for a in args if isinstance(a, Thing)]
                if name == "forward":
                    return self.through_layers(me, None, node)
            if name in ("train", "eval") and isinstance(me, Thing):
                return getattr(self, "on_" + name)(me, args, kwargs, node)
        return Thing(name="")
