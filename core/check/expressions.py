"""Evaluate names, attributes, subscripts and literals to the values of `values.py`."""

from __future__ import annotations

import ast

from .values import (
    Class,
    Const,
    Dict,
    Func,
    Path,
    Seq,
    Tensor,
    Thing,
    merge,
)

DEFAULTS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "numpy": "numpy",
    "copy": "copy",
    "DataLoader": "torch.utils.data.DataLoader",
}

BUILTINS = frozenset(
    [
        "len",
        "range",
        "enumerate",
        "zip",
        "print",
        "float",
        "int",
        "max",
        "min",
        "sum",
        "abs",
        "sorted",
        "list",
        "tuple",
        "dict",
        "set",
        "str",
        "isinstance",
        "getattr",
        "setattr",
        "hasattr",
        "iter",
        "next",
        "map",
        "filter",
        "reversed",
        "round",
        "bool",
        "open",
        "super",
        "vars",
        "type",
        "any",
        "all",
        "repr",
        "format",
        "input",
        "id",
        "tqdm",
        "trange",
    ]
)


class Expressions:
    """Part of the interpreter: one method a kind of expression node."""

    def ev(self, node):
        """The value of an expression."""
        method = getattr(self, "ev_" + type(node).__name__.lower(), None)
        if method is None:
            return Thing(name="")
        self.tick()
        return method(node)

    def ev_constant(self, node):
        return Const(node.value)

    def ev_name(self, node):
        value = self.scope.get(node.id)
        if value is None:
            if node.id in BUILTINS:
                return Path("builtins." + node.id)
            value = Path(DEFAULTS[node.id]) if node.id in DEFAULTS else Thing(name=node.id, line=node.lineno)
            self.globals.layers[0].setdefault(node.id, value)
        return value

    def ev_attribute(self, node):
        return self.attribute(self.ev(node.value), node.attr, node)

    def attribute(self, owner, name, node):
        """`owner.name`, when it is not being called."""
        if isinstance(owner, Path):
            full = f"{owner.name}.{name}"
            if full in ("numpy.inf", "math.inf", "torch.inf"):
                return Const(float("inf"))
            return Path(full)
        if isinstance(owner, Tensor):
            return self.tensor_attribute(owner, name, node)
        if isinstance(owner, Thing):
            if name in owner.attrs:
                return owner.attrs[name]
            return self.thing_attribute(owner, name, node)
        if isinstance(owner, Dict) and name in owner.items:
            return owner.items[name]
        if isinstance(owner, Class):
            method, cls = owner.find(name)
            if method is not None:
                return Func(method, cls.scope, None, cls)
        return Thing(name=name, line=node.lineno)

    def thing_attribute(self, owner, name, node):
        """An attribute nothing has set yet: a method of the file, or an unknown thing remembered from now on."""
        cls = owner.data.get("local")
        if cls is not None:
            method, where = cls.find(name)
            if method is not None:
                func = Func(method, where.scope, owner, where)
                if any(getattr(d, "id", "") in ("property", "cached_property") for d in method.decorator_list):
                    return self.call_function(func, [], {}, node.lineno)
                return func
        if name == "training":
            mode, _ = self.mode_of(owner)
            if mode in ("train", "eval"):
                return Const(mode == "train")
            return Thing(name=name)
        kind = self.kind_of(owner)
        if name in ("module", "_orig_mod") and kind == "model":
            return owner
        if name == "dataset" and kind in ("loader", None) and owner.data.get("dataset") is not None:
            return owner.data["dataset"]
        child = Thing(name=name, line=node.lineno)
        if kind == "model":
            child.data["parent"] = owner
        if owner.data.get("base") and name == "values":
            child.data["base"] = owner.data["base"]
        if name in ("dataset", "sampler"):
            child.data["loader"] = owner
            child.kind = name
        if name in ("inf", "Inf", "infty"):
            return Const(float("inf"))
        owner.attrs[name] = child
        return child

    def ev_subscript(self, node):
        owner = self.ev(node.value)
        key = self.ev(node.slice)
        return self.item(owner, key, node)

    def item(self, owner, key, node):
        """`owner[key]`."""
        if isinstance(owner, Seq):
            if isinstance(key, Const) and isinstance(key.value, int) and not isinstance(key.value, bool):
                if -len(owner.items) <= key.value < len(owner.items) and not (owner.open and key.value < 0):
                    return owner.items[key.value]
            elif isinstance(node.slice, ast.Slice):
                return self.slice_of(owner, node.slice)
            return Thing(name="") if not owner.items else owner.items[0] if len(owner.items) == 1 else Thing(name="")
        if isinstance(owner, Dict):
            if isinstance(key, Const) and key.value in owner.items:
                return owner.items[key.value]
            if owner.base:
                return Tensor(base=owner.base, dtype="int", line=node.lineno)
            if isinstance(key, Const) and isinstance(key.value, str):
                made = owner.items[key.value] = Thing(name=key.value, line=node.lineno)
                return made
            return Thing(name="")
        if isinstance(owner, Tensor):
            return self.tensor_item(owner, key, node)
        if isinstance(owner, Thing):
            return self.thing_item(owner, key, node)
        return Thing(name="")

    def thing_item(self, owner, key, node):
        """`thing[key]`: a slice of a Sequential, a key of a checkpoint, a column, an element."""
        layers = owner.data.get("layers")
        if layers is not None:
            if isinstance(key, Const) and isinstance(key.value, int) and -len(layers) <= key.value < len(layers):
                return layers[key.value]
            if isinstance(node.slice, ast.Slice):
                part = self.slice_of(Seq(layers), node.slice)
                return Thing("model", "Sequential", owner.name, node.lineno, layers=part.items, parent=owner)
        if owner.kind == "checkpoint" and isinstance(key, Const):
            label = str(key.value)
            return Tensor(item=True, loaded=label, line=node.lineno, loader=owner)
        if isinstance(key, Const) and isinstance(key.value, (str, int)):
            label = f"[{key.value}]"
            if label not in owner.attrs:
                child = Thing(name=key.value if isinstance(key.value, str) else owner.name, line=node.lineno)
                if self.kind_of(owner) == "model":
                    child.data["parent"] = owner
                child.data["column"] = isinstance(key.value, str)
                child.data["parents"] = (owner,)
                owner.attrs[label] = child
            return owner.attrs[label]
        if isinstance(node.slice, (ast.Slice, ast.Tuple)):
            whole_rows = isinstance(node.slice, ast.Tuple) and ast.unparse(node.slice).startswith((":,", "(slice(None"))
            if not self.loops and not whole_rows:
                self.record("split", node, value=[owner])
            return Thing(name="", line=node.lineno, parents=(owner,), sliced=None if whole_rows else owner)
        return owner.attrs.setdefault("[*]", Thing(name=owner.name, line=node.lineno, parents=(owner,), sliced=owner))

    def slice_of(self, seq, node):
        """A list slice with constant bounds, or an open list."""
        bounds = []
        for part in (node.lower, node.upper, node.step):
            value = self.ev(part) if part is not None else Const(None)
            if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, int)):
                return Seq([], open=True)
            bounds.append(value.value)
        if bounds[2] == 0:
            return Seq([], open=True)
        return Seq(seq.items[slice(*bounds)], seq.open)

    def ev_slice(self, node):
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.ev(part)
        return Thing(name="")

    def ev_tuple(self, node):
        items, open_ = [], False
        for element in node.elts:
            if isinstance(element, ast.Starred):
                value = self.ev(element.value)
                if isinstance(value, Seq):
                    items += value.items
                    open_ = open_ or value.open
                else:
                    open_ = True
            else:
                items.append(self.ev(element))
        return Seq(items, open_)

    ev_list = ev_tuple
    ev_set = ev_tuple

    def ev_starred(self, node):
        return self.ev(node.value)

    def ev_dict(self, node):
        items, open_ = {}, False
        for key, value in zip(node.keys, node.values, strict=True):
            made = self.ev(value)
            if key is None:
                if isinstance(made, Dict):
                    items.update(made.items)
                else:
                    open_ = True
                continue
            k = self.ev(key)
            if isinstance(k, Const) and isinstance(k.value, (str, int, float, bool)):
                items[k.value] = made
            else:
                open_ = True
        return Dict(items, open_, node.lineno)

    def ev_namedexpr(self, node):
        value = self.ev(node.value)
        self.bind(node.target, value, node)
        return value

    def ev_lambda(self, node):
        return Func(node, self.scope)

    def ev_ifexp(self, node):
        known = self.truth(self.ev(node.test), node.test)
        if known is not None:
            return self.ev(node.body if known else node.orelse)
        return merge(self.ev(node.body), self.ev(node.orelse))

    def ev_joinedstr(self, node):
        return Seq([self.ev(part.value) for part in node.values if isinstance(part, ast.FormattedValue)], open=True)

    def ev_await(self, node):
        return self.ev(node.value)

    def ev_yield(self, node):
        self.frame.returns.append(Thing("loader", item=self.ev(node.value) if node.value else None))
        return Thing(name="")

    def ev_yieldfrom(self, node):
        self.frame.returns.append(self.ev(node.value))
        return Thing(name="")
