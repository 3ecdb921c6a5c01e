"""What becomes of a tensor: its methods, its attributes and its parts."""

from __future__ import annotations

import ast

from .values import (
    Activation,
    Const,
    Seq,
    Tensor,
    Thing,
)

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


class TensorCalls:
    """Part of the interpreter: tensors."""

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
        if name == "size" and not args and not kwargs:
            return Tensor(item=True, q="count", of="size", loader=t.loader, line=line)
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
        if name in ("scatter", "scatter_") and t.plain and args:
            one = args[-1] if len(args) > 2 else kwargs.get("value") or kwargs.get("src")
            marked = isinstance(one, Const) and one.value == 1
            return t.but(line=line, onehot=line if marked else t.onehot)
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
            return Tensor(item=True, q="count", of="size", loader=t.loader, line=line)
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
            return t.but(of=None) if index == 0 else Tensor(item=True, line=node.lineno)
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
