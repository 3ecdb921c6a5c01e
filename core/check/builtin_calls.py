"""Python's own functions and those of NumPy."""

from __future__ import annotations

from . import names
from .values import (
    Class,
    Const,
    Dict,
    Func,
    Params,
    Seq,
    Tensor,
    Thing,
    tensors_in,
)

NUMPY_NUMBERS = frozenset(
    [
        "mean",
        "sum",
        "average",
        "max",
        "min",
        "float64",
        "float32",
        "float16",
        "int64",
        "int32",
        "median",
        "std",
        "nanmean",
        "round",
    ]
)


class BuiltinCalls:
    """Part of the interpreter: builtins and NumPy."""

    def builtin(self, last, args, kwargs, node):
        """A builtin function."""
        first, line = args[0] if args else None, node.lineno
        if last == "print":
            self.record("report", node, value=Seq([*args, *kwargs.values()]), name="print")
            return Const(None)
        if last == "len" and args:
            if isinstance(first, Tensor):
                return Tensor(item=True, q="count", loader=first.loader, line=line)
            if isinstance(first, Thing):
                owner = first.data.get("loader")
                if first.kind in ("dataset", "sampler") and owner is not None:
                    return Tensor(item=True, q="len_dataset", loader=owner, line=line)
                kind = self.kind_of(first)
                if kind == "loader" or self._looped(first):
                    return Tensor(item=True, q="len_loader", loader=first, line=line)
                if kind == "dataset" or names.words(first.name)[-1:] in (["dataset"], ["set"], ["data"], ["ds"]):
                    return Tensor(item=True, q="len_dataset", loader=first, line=line)
            if isinstance(first, Seq) and any(t.acc or t.q for t in tensors_in(first)):
                return Tensor(item=True, q="steps", line=line)
            return Tensor(item=True, line=line)
        if last == "range":
            start = args[0] if len(args) > 1 else None
            self.record("range", node, value=start, args=args)
            return Thing("range", start=start, stop=args[-1] if args else None)
        if last == "zip":
            if any(isinstance(a, Params) for a in args):
                self.record("zip", node, value=args)  # parameters of one model follow those of another
            return Thing("zip", parts=args)
        if last == "dict":
            given = first if isinstance(first, Dict) else None
            named = {k: v for k, v in kwargs.items() if k != "**"}
            items = {**given.items, **named} if given is not None else named
            open_ = "**" in kwargs or (given.open if given is not None else bool(args))
            return Dict(items, open_, line)
        if last == "enumerate" and args:
            start = args[1] if len(args) > 1 else kwargs.get("start")
            return Thing("enumerate", wraps=first, start=start.value if isinstance(start, Const) else None)
        if last in ("list", "tuple", "sorted", "reversed", "iter", "set", "tqdm", "trange") and args:
            if isinstance(first, (Thing,)) and last in ("list", "tuple", "iter", "sorted", "reversed", "tqdm"):
                return Thing(
                    first.kind if first.kind in ("loader", "range", "zip", "enumerate") else None,
                    wraps=first,
                    **{k: v for k, v in first.data.items() if k in ("parts", "start", "item", "dataset")},
                    name=first.name,
                )
            return first
        if last == "next" and args:
            wraps = first.data.get("wraps", first) if isinstance(first, Thing) else first
            return Tensor(loader=wraps if isinstance(wraps, Thing) else None, batchvar=True, line=line, plain=True)
        if last in ("float", "int", "round") and args:
            if isinstance(first, Tensor):
                return first.but(graph=False, cut=line if first.graph else first.cut, item=True, line=line, numpy=0)
            if isinstance(first, Const) and isinstance(first.value, str) and "inf" in first.value:
                return Const(float("-inf") if "-" in first.value else float("inf"))
            return first
        if last in ("sum", "max", "min") and args:
            found = tensors_in(first)
            if last == "sum" and found:
                out = found[0].but(line=line, act=None, shape=None)
                out.acc = self.loops[-1] if self.loops else out.acc or self._made_in(node)
                return out
            if last != "sum" and len(args) > 1:
                self.record("compare", node, value=(args[0], args[1]), tree=node, how=last)
            return found[0] if found else Thing(name="")
        if last == "filter" and len(args) > 1:
            return args[1]
        if last == "getattr" and len(args) > 1:
            if isinstance(args[1], Const) and isinstance(args[1].value, str):
                return self.attribute(first, args[1].value, node)
            return Thing(name="")
        if last == "setattr" and len(args) > 2 and isinstance(first, Thing):
            if self.kind_of(first) == "model" and self.kind_of(args[2]) == "model":
                self.record("setattr", node, first, args[2], name="")
            return Const(None)
        if last in ("map",) and len(args) > 1 and isinstance(first, (Func, Class)):
            return Seq([self.call_value(first, [self.element(args[1], None, self._pseudo(node))], {}, node)], open=True)
        if last == "isinstance":
            return Thing(name="")
        if last == "vars":
            return Thing("options", "", "", line)
        return Thing(name="", parents=tuple(a for a in args if isinstance(a, Thing))[:4])

    def _looped(self, thing):
        return any(loop.loader is thing for loop in self.model.loops[-40:])

    def _made_in(self, node):
        return next((loop for loop in reversed(self.model.loops) if loop.line <= node.lineno), None)

    def _pseudo(self, node):
        return type("Pass", (), {"line": node.lineno, "loader": None})()

    def numpy(self, last, args, node):
        """A NumPy function: its numbers are NumPy scalars."""
        found = [t for a in args for t in tensors_in(a)]
        if last in NUMPY_NUMBERS:
            out = found[0].but(graph=False, item=True) if found else Tensor(item=True)
            out.numpy, out.line = node.lineno, node.lineno
            if found and last in ("mean", "average"):
                self.record("mean_of", node, value=args[0] if args else None)
            return out
        if last in ("rand", "randn", "random", "zeros", "ones", "linspace") and args and not found:
            sizes = args[0].items if isinstance(args[0], Seq) else args[:1] if last == "linspace" else args
            if all(isinstance(s, (Const, Thing)) for s in sizes):
                one = isinstance(sizes[-1], Const) and sizes[-1].value == 1 if sizes else False
                shape = "flat" if len(sizes) == 1 else "col" if len(sizes) == 2 and one else None
                return Tensor(line=node.lineno, dtype="float", shape=shape, plain=True)
        if last in ("argmax",) and found:
            return self.tensor_method(found[0], "argmax", args[1:], {}, node)
        parents = tuple(a for a in args if isinstance(a, Thing))[:4]
        if found:
            return found[0].but(graph=False, item=True)
        return Thing(name="", line=node.lineno, parents=parents)
