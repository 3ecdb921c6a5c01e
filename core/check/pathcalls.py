"""What a function from outside the file does, told by its dotted name."""

from __future__ import annotations

import ast

from . import names
from .values import Class, Const, Dict, Func, Params, Path, Seq, State, Tensor, Thing, tensors_in

FEATURE_SCALERS = frozenset(
    [
        "StandardScaler",
        "MinMaxScaler",
        "RobustScaler",
        "MaxAbsScaler",
        "Normalizer",
        "PowerTransformer",
        "QuantileTransformer",
        "PCA",
        "SimpleImputer",
        "KNNImputer",
        "TfidfVectorizer",
        "SelectKBest",
    ]
)
SPLITS = frozenset(["train_test_split", "random_split", "train_val_split", "temporal_train_test_split"])
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
            if not last.endswith("_like") and last in ("randn", "rand", "zeros", "ones", "empty"):
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

    def construct(self, last, path, args, kwargs, node):
        """A class of PyTorch, or one whose name says what it is."""
        line, first = node.lineno, args[0] if args else None
        if last in names.OPTIMIZERS or (last.endswith("Optimizer") and args):
            given = first if first is not None else kwargs.get("params")
            thing = Thing(
                "optimizer", last, "", line, params=self.params_of(given) if given is not None else Params(None)
            )
            self.record("optimizer", node, thing, given)
            return thing
        if last in names.SCHEDULERS and (args or kwargs):
            thing = Thing(
                "scheduler", last, "", line, optimizer=first or kwargs.get("optimizer"), args=args, kwargs=kwargs
            )
            self.record("scheduler", node, thing, args=args, kwargs=kwargs)
            return thing
        if last in names.LOSSES or (last.endswith("Loss") and last[:1].isupper()):
            return Thing("loss", last, "", line, kwargs=kwargs, args=args)
        if last in ("DataLoader", "MultiEpochsDataLoader"):
            return self.data_loader(args, kwargs, node)
        if last in ("DistributedSampler",):
            thing = Thing("sampler", last, "", line, kwargs=kwargs)
            self.record("sampler", node, thing)
            return thing
        if last == "TensorDataset":
            return Thing("dataset", last, "", line, tensors=args)
        if last == "Subset" or last == "ConcatDataset":
            return Thing("dataset", last, "", line, wraps=first)
        if last == "GradScaler":
            return Thing("scaler", last, "", line)
        if last in ("Accelerator", "Fabric"):
            thing = Thing("accelerator", last, "", line, kwargs=kwargs)
            self.record("accelerator", node, thing)
            return thing
        if last in names.PLAIN_LAYERS and (".nn" in path or path == last or path.startswith(("nn.", "torch"))):
            return self.layer(last, args, kwargs, node)
        if last in FEATURE_SCALERS:
            return Thing("feature_scaler", last, "", line)
        return None

    def layer(self, cls, args, kwargs, node):
        """A layer of `torch.nn`."""
        layers = None
        if cls in ("Sequential", "ModuleList"):
            given = args
            if len(args) == 1 and isinstance(args[0], (Dict, Seq)):
                given = list(args[0].items.values()) if isinstance(args[0], Dict) else args[0].items
                if isinstance(args[0], Seq) and given and all(isinstance(g, Seq) and len(g.items) == 2 for g in given):
                    given = [g.items[1] for g in given]
            layers = [g if isinstance(g, Thing) else Thing(name="layer") for g in given]
        thing = Thing("model", cls, "", node.lineno, layers=layers, args=args, kwargs=kwargs)
        for layer in layers or ():
            layer.data.setdefault("parent", thing)
        if cls == "Sequential":
            self.record("sequential", node, thing)
        return thing

    def data_loader(self, args, kwargs, node):
        """A DataLoader with its dataset and what it was told."""
        dataset = args[0] if args else kwargs.get("dataset")
        thing = Thing("loader", "DataLoader", "", node.lineno, dataset=dataset, args=args, kwargs=kwargs)
        self.record("loader", node, thing, dataset)
        sampler = kwargs.get("sampler")
        if isinstance(sampler, Thing):
            thing.attrs["sampler"] = sampler
        batch_size = args[1] if len(args) > 1 else kwargs.get("batch_size")
        thing.attrs["batch_size"] = Tensor(item=True, q="batch_size", loader=thing)
        thing.data["batch_size"] = batch_size
        return thing

    def copied(self, value, deep, line):
        """`copy.deepcopy(x)` or `copy.copy(x)`."""
        if isinstance(value, State):
            return State(value.of, line, copied=deep or value.copied)
        if isinstance(value, Thing) and self.kind_of(value) == "model" and deep:
            return Thing(
                "model",
                value.cls,
                "",
                line,
                layers=value.data.get("layers"),
                local=value.data.get("local"),
                copied=value,
            )
        return value

    @staticmethod
    def dtype_of(kwargs):
        """'float' or 'int' as `dtype=` says it, or None."""
        named = kwargs.get("dtype")
        kind = named.name.rpartition(".")[2] if isinstance(named, Path) else ""
        return "float" if kind.startswith("float") else "int" if kind in ("long", "int64") else None

    def new_tensor(self, last, first, kwargs, node):
        """`torch.tensor(x)` and its like: new tensors, cut off from any graph."""
        line = node.lineno
        dtype = {"LongTensor": "int", "FloatTensor": "float"}.get(last)
        dtype = self.dtype_of(kwargs) if isinstance(kwargs.get("dtype"), Path) else dtype
        if isinstance(first, Tensor):
            return first.but(
                graph=False,
                cut=line if first.graph or first.cut else 0,
                item=False,
                line=line,
                dtype=dtype or first.dtype,
            )
        found = [t for t in tensors_in(first) if t.graph or t.cut]
        if found:
            return self.mixed(found, node).but(graph=False, cut=line)
        shape = None
        if isinstance(first, Seq) and not first.open:
            inner = [v for v in first.items if isinstance(v, Seq)]
            shape = (
                "flat"
                if first.items and not inner
                else "col"
                if inner and all(len(v.items) == 1 and not v.open for v in inner)
                else None
            )
            numbers = [v.value for v in first.items if isinstance(v, Const)]
            if numbers and all(isinstance(v, int) for v in numbers):
                dtype = dtype or "int"
            elif numbers and all(isinstance(v, (int, float)) for v in numbers):
                dtype = dtype or "float"
        if isinstance(first, Thing) and first.data.get("column"):
            shape = "flat"
        out = Tensor(line=line, dtype=dtype, shape=shape, plain=True)
        if isinstance(first, Thing):
            if names.LABELS & set(names.words(first.name)):
                out.of = "labels"
            if first.data.get("base"):
                out.base, out.unsure = first.data["base"], True
            thing = Thing(name="", line=line, parents=(first,))
            return thing if any(p.data.get("scaled_at") for p in (first, *first.data.get("parents", ()))) else out
        return out

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
        if last in ("argmax",) and found:
            return self.tensor_method(found[0], "argmax", args[1:], {}, node)
        parents = tuple(a for a in args if isinstance(a, Thing))[:4]
        if found:
            return found[0].but(graph=False, item=True)
        return Thing(name="", line=node.lineno, parents=parents)
