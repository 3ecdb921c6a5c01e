"""Loops: what they run over, what one pass gets, and what is carried from pass to pass."""

from __future__ import annotations

import ast
import itertools

from .loopmodel import Loop
from .scope import EXIT
from .values import (
    Const,
    Dict,
    Func,
    Seq,
    Tensor,
    Thing,
    merge,
    tensors_in,
)


class Looping:
    """Part of the interpreter: loops."""

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

    def loader_of(self, values):
        """The loader that is being looped over, through `enumerate`, `tqdm` and the like."""
        depth = 0
        while isinstance(values, (Thing, Seq)) and depth < 6:
            depth += 1
            if isinstance(values, Seq):
                things = [v for v in values.items if isinstance(v, Thing) and v.kind == "zipped"]
                values = things[0] if things else None
                continue
            inner = values.data.get("wraps")
            if values.kind == "zip" and values.data.get("parts"):
                inner = values.data["parts"][0]
            if inner is None:
                kind = self.kind_of(values)
                return values if kind in ("loader", "dataset", None) else None
            values = inner
        return None

    @staticmethod
    def is_range(node) -> bool:
        """`range(...)`, plain or wrapped in a progress bar."""
        for _ in range(3):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ("range", "trange", "count"):
                    return True
                node = node.args[0] if node.args else None
        return False

    def bind_loop(self, target, iter_node, values, loop):
        """Give the loop's variables what one pass gets."""
        element = self.element(values, iter_node, loop)
        self.bind(target, element, target)

    def element(self, values, iter_node, loop):
        """One element of what is looped over."""
        if isinstance(values, Thing):
            if values.kind == "range":
                start = values.data.get("start")
                return Tensor(item=True, loopvar=loop, loaded=None, line=loop.line, loader=start)
            if values.kind == "enumerate":
                inner = self.element(values.data["wraps"], None, loop)
                counter = Tensor(item=True, loopvar=loop, line=loop.line)
                if values.data.get("start") == 1:
                    counter.plus, counter.base = 1, loop.line
                return Seq([counter, inner])
            if values.kind == "zip" and values.data.get("parts"):
                return Seq([self.element(v, None, loop) for v in values.data["parts"]])
            if values.data.get("wraps") is not None:
                return self.element(values.data["wraps"], None, loop)
            if values.data.get("item") is not None:
                return values.data["item"]
            dataset = values.data.get("dataset")
            collate = values.data.get("kwargs", {}).get("collate_fn") if values.cls == "DataLoader" else None
            if isinstance(collate, Func):
                return self.collated(collate, values)
            if isinstance(dataset, Thing):
                sample = self.sample(dataset, values)
                if sample is not None:
                    return sample
            kind = self.kind_of(values)
            if kind in ("loader", "dataset"):
                return Tensor(loader=values, batchvar=True, line=loop.line, plain=True)
            if kind == "model" or values.data.get("parent") is not None:
                return Thing(name="part", parent=values)
            made = values.attrs.get("[*]")
            if made is None:
                made = values.attrs["[*]"] = Thing(
                    name=_singular(values.name), line=loop.line, parents=(values,), element=True
                )
            if (
                kind is None
                and loop.loader is values
                and self.kind_of(made) is None
                and not values.name.startswith("param")
            ):
                return Tensor(loader=values, batchvar=True, line=loop.line, plain=True)
            return made
        if isinstance(values, Seq) and values.items:
            result = values.items[0]
            for value in values.items[1:]:
                result = merge(result, value)
            return result
        if isinstance(values, Tensor):
            return values.but(line=loop.line, shape="row")
        return Thing(name="")

    def sample(self, dataset, loader):
        """One batch as the dataset's own `__getitem__` or tensors make it."""
        tensors = dataset.data.get("tensors")
        if tensors is not None:
            out = [t.but(loader=loader) if isinstance(t, Tensor) else Tensor(loader=loader) for t in tensors]
            return Seq(out)
        cls = dataset.data.get("local")
        if cls is None:
            return None
        method, where = cls.find("__getitem__")
        if method is None:
            return None
        saved = self.loops
        self.loops = ()
        try:
            value = self.call_function(
                Func(method, where.scope, dataset, where), [Thing(name="index")], {}, method.lineno
            )
        finally:
            self.loops = saved
        if isinstance(value, Seq):
            return Seq([self.batched(v, loader) for v in value.items], value.open)
        if isinstance(value, Dict):
            return Dict({k: self.batched(v, loader) for k, v in value.items.items()}, value.open)
        return None

    def collated(self, collate, loader):
        """One batch as the file's own `collate_fn` makes it."""
        saved, self.loops = self.loops, ()
        try:
            value = self.call_function(collate, [Thing(name="examples")], {}, collate.node.lineno)
        finally:
            self.loops = saved
        if isinstance(value, Seq):
            return Seq([self.placed(v, loader) for v in value.items], value.open)
        if isinstance(value, Dict):
            return Dict({k: self.placed(v, loader) for k, v in value.items.items()}, value.open)
        return Tensor(loader=loader, batchvar=True, line=loader.line, plain=True)

    @staticmethod
    def placed(value, loader):
        """A part of a batch that a `collate_fn` has made."""
        if isinstance(value, Tensor):
            return value.but(loader=loader, graph=False, item=False, q=None)
        return Tensor(loader=loader)

    @staticmethod
    def batched(value, loader):
        """What a collated batch of `value`s is."""
        if isinstance(value, Tensor):
            return value.but(loader=loader, graph=False, item=False, q=None, shape=None)
        return Tensor(loader=loader)

    def unpack(self, value, targets):
        """The parts of a value that is being unpacked into `targets`."""
        n = len(targets)
        star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
        if isinstance(value, Seq):
            items = list(value.items)
            if star is not None and len(items) >= n - 1:
                tail = n - star - 1
                middle = items[star : len(items) - tail]
                return [*items[:star], Seq(middle, value.open), *items[len(items) - tail :]]
            if value.open and len(items) == 1 and n > 1:
                return items * n
            return items + [Thing(name="") for _ in range(n - len(items))]
        if isinstance(value, Tensor):
            return [value.but(batchvar=False) for _ in range(n)]
        if isinstance(value, Thing):
            out = []
            for i, target in enumerate(targets):
                name = (
                    target.id
                    if isinstance(target, ast.Name)
                    else target.attr
                    if isinstance(target, ast.Attribute)
                    else ""
                )
                key = f"({i})"
                if key not in value.attrs or not value.name:
                    child = Thing(name=name, line=value.line, parents=(value, *value.data.get("parents", ()))[:4])
                    if value.data.get("split"):
                        child.data["split_part"] = True
                    if value.kind == "optimizer":
                        child.kind = "optimizer"
                    value.attrs[key] = child
                out.append(value.attrs[key])
            return out
        return [Thing(name="") for _ in range(n)]


def _singular(name: str) -> str:
    return name[:-1] if name.endswith("s") and len(name) > 2 else name
