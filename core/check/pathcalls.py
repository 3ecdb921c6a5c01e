"""What a function from outside the file does, told by its dotted name."""

from __future__ import annotations

import ast

from . import names
from .values import (
    Const,
    Params,
    Seq,
    Tensor,
    Thing,
    tensors_in,
)

SPLITS = frozenset(["train_test_split", "random_split", "train_val_split", "temporal_train_test_split"])

DRAWN = frozenset(
    [
        "randn",
        "rand",
        "zeros",
        "ones",
        "randn_like",
        "rand_like",
        "zeros_like",
        "ones_like",
        "empty",
        "full",
        "arange",
        "linspace",
        "normal",
        "full_like",
    ]
)

JOINS = frozenset(["cat", "stack", "concat", "hstack", "vstack"])


class PathCalls:
    """Part of the interpreter: calls by dotted name."""

    def call_path(self, path, args, kwargs, node):
        """Call `torch.nn.functional.softmax` or any other outside function."""
        last, line = path.rpartition(".")[2], node.lineno
        first = args[0] if args else None
        if path.startswith("builtins."):
            return self.builtin(last, args, kwargs, node)
        if path.startswith("numpy.") or path.startswith("np."):
            return self.numpy(last, args, node)
        made = self.construct(last, path, args, kwargs, node)
        if made is not None:
            return made
        if last in ("softmax", "log_softmax", "sigmoid", "tanh", "relu", "logsigmoid", "softmin", "gelu") and args:
            return self.activation(last, first, self.dim_of(args, kwargs, 1), line, node)
        if last in names.FUNCTIONAL_LOSSES and (args or kwargs):
            return self.loss_call(None, names.FUNCTIONAL_LOSSES[last], args, kwargs, node, {})
        if last in ("no_grad", "inference_mode"):
            off = not (args and isinstance(first, Const) and first.value is False)
            return Thing("grad", value="off" if off else "on")
        if last == "enable_grad":
            return Thing("grad", value="on")
        if last == "set_grad_enabled":
            value = ("on" if first.value else "off") if isinstance(first, Const) else "unknown"
            if isinstance(getattr(self, "discard", None), ast.Call) and self.discard is node:
                self.grad = value
            return Thing("grad", value=value)
        if last in names.GRAD_OFF:
            return Thing("grad", value="off")
        if last in names.WRAPPERS and args and isinstance(first, Thing):
            if last == "DataParallel":
                first.data["parallel"] = line
            return first
        if last in ("deepcopy", "copy") and args:
            return self.copied(first, last == "deepcopy", line)
        if "clip_grad" in last:
            self.record("clip", node, value=first, name=last)
            return Thing(name="")
        if last == "save" and ("torch" in path or "accelerate" in path or "xm" in path):
            self.record("save", node, value=first, args=args, kwargs=kwargs, tree=node)
            return Const(None)
        if last == "load" and path.startswith(("torch", "pickle", "joblib")):
            event = self.record("load", node, args=args, kwargs=kwargs, tree=node, path=path)
            return Thing("checkpoint", line=line, event=event)
        if last in ("replace", "rename", "move"):
            self.record("rename", node)
        if last == "Variable":
            self.record("variable", node, kwargs=kwargs, value=first)
            if isinstance(first, Tensor) and first.cut:
                return first
            return first if isinstance(first, (Tensor, Thing)) else Tensor(line=line)
        if last == "grad" and ("autograd" in path or "func" in path):
            self.record("autograd_grad", node, value=self.mixed([t for a in args for t in tensors_in(a)], node))
            out = self.mixed([t for a in args for t in tensors_in(a)], node)
            return Seq([out], open=True)
        if last == "backward" or last.endswith("_backward"):
            self.backward(first, node, kwargs, "function")
            return Const(None)
        if last == "optimizer_step":
            self.record("step", node, first)
            return Const(None)
        if last == "eye" and "torch" in path:
            return Tensor(line=line, onehot=line, dtype=self.dtype_of(kwargs) or "float", plain=True)
        if last == "one_hot":
            return Tensor(line=line, onehot=line, dtype="int", plain=True)
        if last == "argmax" and isinstance(first, Tensor):
            return self.tensor_method(first, "argmax", args[1:], kwargs, node)
        if last in (
            "max",
            "topk",
            "mean",
            "sum",
            "exp",
            "log",
            "squeeze",
            "unsqueeze",
            "flatten",
            "reshape",
            "abs",
            "pow",
            "sqrt",
            "eq",
            "clamp",
            "square",
            "norm",
            "transpose",
            "sort",
            "sub",
            "add",
            "mul",
            "div",
        ) and isinstance(first, Tensor):
            if last in ("max", "topk", "mean", "sum", "squeeze", "unsqueeze", "flatten", "eq", "sort"):
                return self.tensor_method(first, last, args[1:], kwargs, node)
            if last in ("sub", "add", "mul", "div") and len(args) > 1:
                op = {"s": ast.Sub, "a": ast.Add, "m": ast.Mult, "d": ast.Div}[last[0]]()
                fake = ast.copy_location(ast.BinOp(node.args[0], op, node.args[1]), node)
                return self.arithmetic(first, op, args[1], fake)
            return self.tensor_method(first, last, args[1:], kwargs, node)
        if last in (
            "tensor",
            "as_tensor",
            "from_numpy",
            "Tensor",
            "FloatTensor",
            "LongTensor",
            "asarray",
            "HalfTensor",
        ):
            return self.new_tensor(last, first, kwargs, node)
        if last in DRAWN and ("torch" in path or path == last):
            sizes = [a for a in args if not isinstance(a, Const) or isinstance(a.value, int)]
            if len(args) == 1 and isinstance(first, Seq):
                sizes = first.items
            shape = None
            if len(sizes) == 1 and isinstance(sizes[0], Tensor) and sizes[0].of == "size":
                sizes = []  # the whole shape of another tensor
            if sizes and not last.endswith("_like") and last in ("randn", "rand", "zeros", "ones", "empty"):
                one = isinstance(sizes[-1], Const) and sizes[-1].value == 1 if sizes else False
                shape = (
                    "flat"
                    if len(sizes) == 1 and not isinstance(sizes[0], Seq)
                    else "col"
                    if len(sizes) == 2 and one
                    else None
                )
            if last.endswith("_like") and isinstance(first, Tensor):
                shape = first.shape
            leaf = kwargs.get("requires_grad")
            grows = isinstance(leaf, Const) and leaf.value is True
            dtype = self.dtype_of(kwargs) if "dtype" in kwargs else None if last in ("arange", "full") else "float"
            return Tensor(line=line, shape=shape, dtype=dtype, plain=True, graph=grows)
        if last == "randint" and "torch" in path:
            ints = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int)]
            size = next((a for a in args if isinstance(a, Seq)), None)
            base = line if len(args) > 2 and ints[:1] == [1] else 0
            shape = None
            if size is not None:
                shape = (
                    "flat"
                    if len(size.items) == 1
                    else "col"
                    if len(size.items) == 2 and self.is_one(size.items[1])
                    else None
                )
            return Tensor(line=line, dtype="int", base=base, shape=shape, plain=True)
        if last in JOINS and args:
            found = tensors_in(first)
            self.record("join", node, value=first)
            if found:
                out = self.mixed(found, node)
                acts = {t.act.name if t.act else None for t in found}
                out.act = found[0].act if len(acts) == 1 else None
                out.q, out.of = None, found[0].of
                out.red = "none"
                return out
            return Tensor(line=line)
        if last in SPLITS:
            self.record("split", node, value=args)
            parents = tuple(a for a in args if isinstance(a, Thing))
            return Thing(name="", line=line, split=True, parents=parents)
        if last in names.LOADER_WRAPPERS and args:
            start = kwargs.get("start")
            if last == "enumerate":
                return Thing("enumerate", wraps=first, start=start.value if isinstance(start, Const) else None)
            return Thing(self.kind_of(first) if isinstance(first, Thing) else None, wraps=first)
        if last == "chain" and args:
            return Seq(args) if any(isinstance(a, Params) for a in args) else Thing(name="", parents=())
        if last.startswith(("get_rng", "getstate", "get_state")):
            return Thing("rng")
        if path.startswith("torch.linalg") or path.startswith("torch."):
            found = [t for a in args for t in tensors_in(a)]
            if found and last not in ("manual_seed",):
                return self.mixed(found, node)
            return Thing(name="", line=line, parents=tuple(a for a in args if isinstance(a, Thing))[:4])
        return self.outside(last, path, args, kwargs, node)

    def outside(self, last, path, args, kwargs, node):
        """A function of a library we do not know."""
        self.escape(last, args, kwargs, node)
        if last == "from_pretrained" or "models." in path or last == "create_model":
            return Thing("model", "", "", node.lineno, pretrained=True, starts_eval=last == "from_pretrained")
        found = [t for a in (*args, *kwargs.values()) for t in tensors_in(a) if t.graph]
        if found:
            return self.mixed(found, node)
        return Thing(
            name="", line=node.lineno, parents=tuple(a for a in args if isinstance(a, Thing))[:4], made_by=path
        )

    @staticmethod
    def is_one(value):
        """The literal 1."""
        return isinstance(value, Const) and value.value == 1
