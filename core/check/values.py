"""What the checker knows about a value: a thing (model, optimizer, ...), a tensor or number, a container, a
function.
"""

from __future__ import annotations

import ast


class Thing:
    """An object with an identity: model, optimizer, scheduler, loss, loader, ... or one of unknown kind.

    `kind` is None until it is known from a constructor; `cls` is the class name, `params` the models an optimizer
    holds (None when that cannot be told), `data` whatever else its kind needs.
    """

    __slots__ = ("attrs", "cls", "data", "kind", "line", "name")

    def __init__(self, kind=None, cls="", name="", line=0, **data):
        self.kind, self.cls, self.name, self.line, self.data, self.attrs = kind, cls, name, line, data, {}

    def __repr__(self):
        return f"<{self.kind or 'thing'} {self.cls}:{self.name}@{self.line}>"


class Activation:
    """The last operation that shaped a tensor: 'softmax', 'sigmoid', 'log_softmax', 'linear', 'relu', ..."""

    __slots__ = ("dim", "line", "name")

    def __init__(self, name, dim=None, line=0):
        self.name, self.dim, self.line = name, dim, line


_TENSOR_DEFAULTS = {
    "line": 0,
    "graph": False,  # still attached to the graph of some model's parameters
    "models": frozenset(),  # models whose parameters the graph reaches
    "forwards": frozenset(),  # forward events it was computed by, attached or not
    "act": None,  # Activation
    "losses": frozenset(),  # loss events it contains
    "red": None,  # reduction: "mean" | "sum" | "none"
    "shape": None,  # "col" for (N, 1), "flat" for (N,), "row" for one of N
    "dtype": None,  # "int" | "float" | "bool"
    "argmax": None,  # (line, dim)
    "onehot": 0,  # line
    "base": 0,  # line where labels were made to start at one
    "unsure": False,  # one was added to labels, and where those started is not known
    "cut": 0,  # line where it left the graph
    "item": False,  # a Python number or an array, no tensor any more
    "q": None,  # quantity: "mean" | "sum" | "count" | "len_loader" | "len_dataset" | "mean*const" | "steps"
    "of": None,  # what the quantity measures: "loss" | "hits"
    "loader": None,  # where the batch came from
    "div": (),  # divisors of a loss: (text, line)
    "acc": None,  # loop in which it was added up
    "sign": 1,
    "scaled": False,  # multiplied by a GradScaler
    "parts": frozenset(),  # accumulate events inside it
    "factors": frozenset(),  # factors of a count: "epochs", "len_loader", "accumulation"
    "trained": False,  # computed by a model in a graph, in training
    "detached_from": frozenset(),  # models it was detached from
    "loaded": None,  # key read from a checkpoint
    "plus": 0,  # integer added to a loop variable or a loaded epoch
    "loopvar": None,  # the loop whose variable this is
    "numpy": 0,  # line where NumPy made this number
    "batchvar": False,  # a whole batch, not yet unpacked
    "error": False,  # a difference, squared or absolute: a measure that should fall
    "direct": None,  # the forward that returned it as it is
    "plain": False,  # drawn or built directly, reached by no model
}


class Tensor:
    """A tensor, or a number read from one. Every field has a default that means "not known"."""

    __slots__ = tuple(_TENSOR_DEFAULTS)

    def __init__(self, **known):
        for field, default in _TENSOR_DEFAULTS.items():
            setattr(self, field, default)
        for field, value in known.items():
            setattr(self, field, value)

    def but(self, **changes) -> Tensor:
        """A copy with `changes`."""
        copy = Tensor.__new__(Tensor)
        for field in _TENSOR_DEFAULTS:
            setattr(copy, field, getattr(self, field))
        for field, value in changes.items():
            setattr(copy, field, value)
        return copy


class Const:
    """A literal."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Seq:
    """A list or tuple; `open` when more items may follow than are known."""

    __slots__ = ("items", "open")

    def __init__(self, items, open=False):
        self.items, self.open = items, open


class Dict:
    """A dict with known keys; `base` is the line where its values were numbered from one."""

    __slots__ = ("base", "items", "line", "open")

    def __init__(self, items, open=False, line=0, base=0):
        self.items, self.open, self.line, self.base = items, open, line, base


class Params:
    """Parameters of one or more models; `models` is None when it cannot be told."""

    __slots__ = ("models",)

    def __init__(self, models):
        self.models = models


class State:
    """`x.state_dict()` of a thing: a reference to its tensors, or a copy."""

    __slots__ = ("copied", "line", "of")

    def __init__(self, of, line, copied=False):
        self.of, self.line, self.copied = of, line, copied


class Func:
    """A function of this file, with the scope it closes over and the object it is bound to."""

    __slots__ = ("bound", "node", "owner", "scope")

    def __init__(self, node, scope, bound=None, owner=None):
        self.node, self.scope, self.bound, self.owner = node, scope, bound, owner


class Class:
    """A class of this file."""

    __slots__ = ("bases", "methods", "name", "node", "scope")

    def __init__(self, node: ast.ClassDef, scope, bases):
        self.node, self.scope, self.name, self.bases = node, scope, node.name, bases
        self.methods = {n.name: n for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def find(self, name: str):
        """The method called `name`, here or in a base of this file, and the class that has it."""
        seen, todo = set(), [self]
        while todo:
            cls = todo.pop(0)
            if id(cls) in seen:
                continue
            seen.add(id(cls))
            if name in cls.methods:
                return cls.methods[name], cls
            todo += [b for b in cls.bases if isinstance(b, Class)]
        return None, None

    def base_names(self) -> set[str]:
        """Last parts of the names of every base, however far up."""
        names, todo, seen = set(), [self], set()
        while todo:
            cls = todo.pop()
            if id(cls) in seen:
                continue
            seen.add(id(cls))
            for base in cls.bases:
                if isinstance(base, Class):
                    names.add(base.name)
                    todo.append(base)
                elif isinstance(base, Path):
                    names.add(base.name.rpartition(".")[2])
                elif isinstance(base, Thing):
                    names.add(base.name)
        return names


class Path:
    """A dotted name that comes from outside the file: `torch.nn.functional.softmax`."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class Method:
    """A method of a value, about to be called."""

    __slots__ = ("name", "owner")

    def __init__(self, owner, name):
        self.owner, self.name = owner, name


def tensors_in(value, limit=20) -> list[Tensor]:
    """Every tensor in a value, through lists and dicts."""
    found, todo, steps = [], [value], 0
    while todo and len(found) < limit and steps < 200:  # a list may hold itself
        v, steps = todo.pop(), steps + 1
        if isinstance(v, Tensor):
            found.append(v)
        elif isinstance(v, Seq):
            todo += v.items[:limit]
        elif isinstance(v, Dict):
            todo += list(v.items.values())[:limit]
    return found


def merge(a, b):
    """What is known after two branches that left `a` and `b`: only what both agree on, where that matters."""
    if a is b or b is None:
        return a
    if a is None:
        return b
    if isinstance(a, Const):
        if isinstance(b, Const):
            return a if a.value == b.value and type(a.value) is type(b.value) else Thing(name="")
        return b.but(plain=False) if isinstance(b, Tensor) else b
    if isinstance(b, Const):
        return merge(b, a)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return merge_tensors(a, b)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        known, other = (a, b) if isinstance(a, Tensor) else (b, a)
        if isinstance(other, Thing) and other.kind is None:
            return known.but(act=None, argmax=None, onehot=0, base=0, cut=0, shape=None, dtype=None)
        return known
    if isinstance(a, Thing) and isinstance(b, Thing) and a.kind is None and b.kind is not None:
        if b.kind == "model" and a.name and b.name and a.name != b.name and not a.data.get("made_by"):
            return Thing("model", name="")  # either of two
        return b
    if isinstance(a, Thing) and isinstance(b, Thing) and a.kind is not None and a.kind == b.kind and a.cls != b.cls:
        return a if a.kind == "optimizer" else Thing(a.kind, "", a.name, a.line, **a.data)
    if isinstance(a, State) and isinstance(b, State):
        return a if a.copied else b
    return a


def merge_tensors(a: Tensor, b: Tensor) -> Tensor:
    """Keep an accusation (an activation, a detach, labels from one) only where both branches have it."""
    same_act = a.act and b.act and a.act.name == b.act.name
    return a.but(
        graph=a.graph or b.graph,
        models=a.models | b.models,
        forwards=a.forwards | b.forwards,
        losses=a.losses | b.losses,
        parts=a.parts | b.parts,
        act=a.act if same_act else None,
        red=a.red if a.red == b.red else None,
        q=a.q if a.q == b.q else None,
        shape=a.shape if a.shape == b.shape else None,
        dtype=a.dtype if a.dtype == b.dtype else None,
        argmax=a.argmax if b.argmax else None,
        onehot=a.onehot if b.onehot else 0,
        base=a.base if b.base else 0,
        unsure=a.unsure or b.unsure,
        cut=a.cut if b.cut and a.cut else 0,
        scaled=a.scaled and b.scaled,
        div=a.div if a.div == b.div else (),
        loaded=a.loaded or b.loaded,
        sign=a.sign if a.sign == b.sign else 0,
        numpy=a.numpy if b.numpy else 0,
        plain=a.plain and b.plain,
        detached_from=a.detached_from & b.detached_from,
    )
