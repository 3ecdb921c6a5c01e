"""Objects made by PyTorch and its neighbours: optimizers, schedulers, losses, loaders, layers, tensors."""

from __future__ import annotations

from . import names
from .values import (
    Const,
    Dict,
    Params,
    Path,
    Seq,
    State,
    Tensor,
    Thing,
    tensors_in,
)

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


class Constructors:
    """Part of the interpreter: what a constructor makes."""

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
            thing = Thing("scheduler", last, "", line, optimizer=self.driven(args, kwargs), args=args, kwargs=kwargs)
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

    @staticmethod
    def driven(args, kwargs):
        """The optimizer that a scheduler is made for; `get_scheduler` takes its own name before it."""
        given = [kwargs["optimizer"]] if "optimizer" in kwargs else args[:2]
        return next((a for a in given if isinstance(a, Thing)), None)

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
