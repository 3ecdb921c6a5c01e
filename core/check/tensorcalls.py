"""What becomes of a tensor: its methods, its parts, and what a loop over a loader hands out."""

from __future__ import annotations

import ast

from .pathcalls import PathCalls
from .values import Activation, Const, Dict, Func, Seq, Tensor, Thing, merge

KEEP = frozenset(
    [
        "contiguous",
        "clone",
        "to",
        "cuda",
        "cpu",
        "type_as",
        "expand",
        "expand_as",
        "narrow",
        "permute",
        "transpose",
        "t",
        "T",
        "requires_grad_",
        "pin_memory",
        "double",
        "half",
        "bfloat16",
        "clamp",
        "clip",
        "type",
        "masked_select",
        "index_select",
        "gather",
        "repeat",
        "chunk",
        "split",
        "unbind",
        "abs_",
        "detach_",
        "round",
    ]
)


class TensorCalls(PathCalls):
    """Part of the interpreter: tensors and loaders."""

    def activation(self, name, given, dim, line, node):
        """The result of an activation on a tensor (or on something unknown)."""
        base = given if isinstance(given, Tensor) else Tensor()
        act = Activation(name, dim, line)
        if name in ("softmax", "log_softmax") and dim == 0 and base.shape not in ("flat", "row"):
            self.record("softmax_dim0", node, value=base, act=act)
        keep = {
            "act": act,
            "line": node.lineno,
            "graph": base.graph and self.grad != "off",
            "plain": False,
            "error": False,
        }
        return base.but(**keep)

    @staticmethod
    def dim_of(args, kwargs, place=0):
        """The `dim` argument as an int, when it is a literal."""
        value = kwargs.get("dim") or kwargs.get("axis") or (args[place] if len(args) > place else None)
        return (
            value.value
            if isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool)
            else None
        )

    def tensor_method(self, t, name, args, kwargs, node):
        """`t.name(...)`."""
        line, live = node.lineno, t.graph and self.grad != "off"
        dim = self.dim_of(args, kwargs)
        if name == "backward":
            self.backward(t, node, kwargs, "backward")
            return Const(None)
        if name in ("softmax", "sigmoid", "log_softmax", "tanh", "relu"):
            return self.activation(name, t, dim, line, node)
        if name == "log" and t.act is not None and t.act.name in ("softmax", "log_softmax"):
            return self.activation("log_softmax", t, t.act.dim, line, node)
        if name == "exp" and t.act is not None and t.act.name == "log_softmax":
            return self.activation("softmax", t, t.act.dim, line, node)
        if name in ("detach", "item", "numpy", "tolist", "detach_"):
            item = name in ("item", "numpy", "tolist") or t.item
            cut = line if t.graph or t.cut else 0
            return t.but(
                graph=False,
                cut=cut,
                item=item,
                line=line,
                detached_from=t.detached_from | t.models if t.graph else t.detached_from,
            )
        if name in ("view", "reshape", "flatten", "squeeze", "unsqueeze", "ravel"):
            return t.but(line=line, graph=live, shape=self.shape_after(t, name, args, dim))
        if name in ("long", "int"):
            return t.but(line=line, dtype="int", graph=False, act=None)
        if name in ("float", "double", "half"):
            return t.but(line=line, dtype="float", graph=live)
        if name in ("argmax", "argmin"):
            return t.but(line=line, argmax=(line, dim), graph=False, dtype="int", act=None, shape=None)
        if name in ("max", "topk", "min", "sort"):
            if not args and not kwargs:
                return t.but(line=line, act=None, q=None, item=t.item)
            d = self.dim_of(args, kwargs, 1) if name == "topk" else dim
            values, indices = (
                t.but(line=line, graph=live),
                t.but(line=line, argmax=(line, d), graph=False, dtype="int", act=None),
            )
            return Seq([values, indices])
        if name in ("mean", "sum"):
            return self.reduce(t, name, args, kwargs, node, dim)
        if name in ("size", "numel", "shape", "nelement"):
            return Tensor(item=True, q="count", loader=t.loader, line=line)
        if name in ("eq", "__eq__"):
            return self.equality(t, args[0] if args else None, node)
        if name in ("add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_") and args:
            op = {"a": ast.Add, "s": ast.Sub, "m": ast.Mult, "d": ast.Div}[name[0]]()
            if name.endswith("_") and name[0] in "as" and t.losses == frozenset() and "grad" in ast.unparse(node):
                self.record("manual_step", node)
            fake = ast.BinOp(node.func.value, op, node.args[0] if node.args else node.func.value)
            return self.arithmetic(t, op, args[0], ast.copy_location(fake, node))
        if name in ("register_hook",):
            self.record("hook", node, None)
            return Thing(name="")
        if name in ("zero_", "fill_"):
            if isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "grad":
                self.record("zero_grad", node, None, manual=True)
            return t
        if name == "requires_grad_":
            self.record("requires_grad", node, value=t)
            return t
        if name in KEEP:
            return t.but(line=line, graph=live)
        if name in ("items", "values"):
            return Seq([Seq([Thing(name="key"), t])], open=True) if name == "items" else Seq([t], open=True)
        if name in ("get", "pop") and args:
            return t.but(line=line)
        return t.but(
            line=line,
            graph=live,
            act=Activation("other", None, line) if name in ("pow", "abs", "sqrt") else None,
            argmax=None,
            red=t.red,
            shape=None,
            error=t.error and name in ("pow", "abs", "square", "norm", "sqrt"),
            plain=False,
            base=0,
        )

    def reduce(self, t, name, args, kwargs, node, dim):
        """`t.mean()` or `t.sum()`."""
        whole = (not args and "dim" not in kwargs) or (t.red == "none" and name == "mean")
        out = t.but(
            line=node.lineno, act=None, graph=t.graph and self.grad != "off", shape=None, argmax=None, dtype="float"
        )
        out.direct = None
        if whole:
            out.red, out.q = name, name
            if t.error and not t.of:
                out.of = "loss"
        elif dim in (1, -1):
            out.shape = "flat"
        return out

    @staticmethod
    def shape_after(t, name, args, dim):
        """'col' for (N, 1), 'flat' for (N,), None when it cannot be told."""
        sizes = args[0].items if len(args) == 1 and isinstance(args[0], Seq) else args
        numbers = [a.value if isinstance(a, Const) else None for a in sizes]
        if name in ("view", "reshape"):
            if numbers == [-1]:
                return "flat"
            return "col" if len(numbers) == 2 and numbers[1] == 1 else None
        if name == "unsqueeze":
            return "col" if dim in (1, -1) and t.shape in ("flat", None) and t.shape != "col" else None
        if name == "squeeze":
            return "flat" if dim in (1, -1, None) and t.shape in ("col", "flat") else None
        return "flat" if name in ("flatten", "ravel") and not args else None

    def tensor_attribute(self, t, name, node):
        """`t.name`."""
        line = node.lineno
        if name in ("data",):
            return t.but(
                graph=False,
                cut=line if t.graph or t.cut else 0,
                line=line,
                detached_from=t.detached_from | t.models if t.graph else t.detached_from,
            )
        if name == "loss" and t.forwards:
            return t.but(act=None, red="mean", q="mean", of="loss", shape=None)
        if name in ("shape", "size"):
            return Tensor(item=True, q="count", loader=t.loader, line=line)
        if name == "grad":
            return Tensor(line=line)
        if name in ("values", "T", "real", "logits"):
            return t.but(argmax=None, line=line)
        if name == "indices":
            return t.but(argmax=t.argmax or (line, None), line=line)
        if name in ("device", "dtype", "grad_fn", "is_cuda", "requires_grad", "ndim"):
            return Thing(name="")
        return t.but(line=line, act=None, q=None, batchvar=False)

    def tensor_item(self, t, key, node):
        """`t[key]`."""
        if t.item and t.q == "count":
            index = key.value if isinstance(key, Const) else None
            return t if index == 0 else Tensor(item=True, line=node.lineno)
        shape, parts = None, node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        if (
            len(parts) == 2
            and isinstance(parts[0], ast.Slice)
            and isinstance(parts[1], ast.Constant)
            and parts[1].value is None
        ):
            shape = "col"
        elif (
            isinstance(node.slice, ast.Tuple)
            and len(node.slice.elts) == 2
            and isinstance(node.slice.elts[0], ast.Slice)
        ):
            shape = "flat" if isinstance(node.slice.elts[1], (ast.Constant, ast.UnaryOp)) and not t.argmax else None
        out = t.but(line=node.lineno, graph=t.graph and self.grad != "off", shape=shape, batchvar=False)
        if shape == "flat" and t.act is not None and t.act.name in ("softmax", "log_softmax"):
            out.act = None
        if (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "data"
            and isinstance(key, Const)
            and key.value == 0
        ):
            self.record("data0", node, value=t)
        return out

    # -- loops over loaders ------------------------------------------------------------------------------------------

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
