"""What a call does: PyTorch's functions and methods, and those of the libraries a training loop meets."""

from __future__ import annotations

import ast

from . import names
from .tensorcalls import TensorCalls
from .values import Class, Const, Dict, Func, Params, Path, Seq, State, Tensor, Thing, tensors_in

HARMLESS = frozenset(
    [
        "print",
        "log",
        "info",
        "debug",
        "warning",
        "add_scalar",
        "add_scalars",
        "update",
        "write",
        "append",
        "log_dict",
        "log_metrics",
        "set_postfix",
        "report",
        "watch",
        "save",
        "format",
        "summary",
        "display",
        "dump",
        "isinstance",
        "len",
        "type",
        "id",
        "hasattr",
        "repr",
        "str",
        "float",
        "int",
        "add_graph",
        "set_description",
        "flush",
        "add_image",
        "add_histogram",
        "describe",
        "count_parameters",
        "num_params",
    ]
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
RNG_CALLS = frozenset(["get_rng_state", "get_rng_state_all", "getstate", "get_state"])
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


class TorchCalls(TensorCalls):
    """Part of the interpreter: calls."""

    def ev_call(self, node):
        """Evaluate a call: receiver, arguments, then what it does."""
        func = node.func
        owner = callee = None
        if isinstance(func, ast.Attribute):
            owner = self.ev(func.value)
        else:
            callee = self.ev(func)
        if isinstance(callee, Path) and callee.name == "builtins.super":
            return Thing(
                "super",
                data_self=self.scope.get("self"),
                frame=self.stack[-1] if self.stack else None,
                line=node.lineno,
            )
        args, kwargs = [], {}
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                value = self.ev(arg.value)
                args += (
                    value.items
                    if isinstance(value, Seq)
                    else self.unpack(value, [None, None])
                    if isinstance(value, Tensor)
                    else []
                )
            else:
                args.append(self.ev(arg))
        for keyword in node.keywords:
            value = self.ev(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Dict):
                kwargs.update({str(k): v for k, v in value.items.items()})
            else:
                kwargs["**"] = value
        if owner is not None:
            return self.call_method(owner, func.attr, args, kwargs, node)
        return self.call_value(callee, args, kwargs, node)

    def call_value(self, callee, args, kwargs, node):
        """Call a value."""
        if isinstance(callee, Func):
            return self.call_function(callee, args, kwargs, node.lineno)
        if isinstance(callee, Class):
            return self.instantiate(callee, args, kwargs, node.lineno)
        if isinstance(callee, Path):
            return self.call_path(callee.name, args, kwargs, node)
        if isinstance(callee, Thing):
            return self.call_thing(callee, args, kwargs, node)
        if isinstance(callee, Tensor):
            return Tensor(line=node.lineno)
        return Thing(name="")

    def call_thing(self, thing, args, kwargs, node):
        """Call an object: a forward, a loss, or something unknown."""
        cls = thing.data.get("local")
        if cls is not None:
            forward, where = cls.find("forward")
            if forward is not None and thing.kind == "model":
                return self.forward(thing, args, kwargs, node, Func(forward, where.scope, thing, where))
            call, where = cls.find("__call__")
            if call is not None:
                return self.call_function(Func(call, where.scope, thing, where), args, kwargs, node.lineno)
        kind = self.kind_of(thing, called=True)
        if kind == "loss":
            return self.loss_call(thing, thing.cls, args, kwargs, node, thing.data.get("kwargs", {}))
        if kind in ("model", "engine"):
            return self.forward(thing, args, kwargs, node)
        tensors = [t for a in (*args, *kwargs.values()) for t in tensors_in(a)]
        graphs = [t for t in tensors if t.graph]
        self.escape(thing.name, args, kwargs, node)
        if graphs:
            return self.mixed(graphs, node)
        return Thing(name="", line=node.lineno, parents=tuple(a for a in args if isinstance(a, Thing))[:4])

    def mixed(self, tensors, node):
        """The result of a function we cannot see, given tensors: attached to their graphs, otherwise unknown."""
        return Tensor(
            line=node.lineno,
            graph=any(t.graph for t in tensors) and self.grad != "off",
            models=frozenset().union(*(t.models for t in tensors)),
            forwards=frozenset().union(*(t.forwards for t in tensors)),
            losses=frozenset().union(*(t.losses for t in tensors)),
            parts=frozenset().union(*(t.parts for t in tensors)),
        )

    def escape(self, name, args, kwargs, node):
        """A function we cannot see took these objects: it may step, zero or switch modes."""
        if "zero_grad" in name:
            self.record("zero_grad", node, None)
        if name in HARMLESS:
            self.record("report", node, value=Seq([*args, *kwargs.values()]), name=name)
            return
        taken = [a for a in (*args, *kwargs.values()) if isinstance(a, Thing)]
        taken += [
            v
            for a in args
            if isinstance(a, (Seq, Dict))
            for v in (a.items if isinstance(a, Seq) else a.items.values())
            if isinstance(v, Thing)
        ]
        mattering = [a for a in taken if self.kind_of(a) in ("model", "optimizer", "scheduler", "engine")]
        if mattering or any(t.graph for a in args for t in tensors_in(a)):
            self.record("escape", node, value=mattering, name=name, args=args)
            self.forget_modes([a for a in mattering if self.kind_of(a) in ("model", "engine")])

    # -- forward and loss --------------------------------------------------------------------------------------------

    def forward(self, thing, args, kwargs, node, func=None):
        """Call a model: one forward event, and the tensor that comes out."""
        event = self.record("forward", node, thing, discarded=getattr(self, "discard", None) is node)
        event.args, (event.mode, event.data["mode_event"]) = (*args, *kwargs.values()), self.mode_of(thing)
        given = [t for a in event.args for t in tensors_in(a)]
        result = None
        if func is not None:
            args = [self.whole(a) for a in args]
            kwargs = {k: self.whole(a) for k, a in kwargs.items()}
            self.inside += 1
            saved = self.frame
            try:
                result = self.call_function(func, args, kwargs, node.lineno)
            finally:
                self.inside -= 1
                self.frame = saved
        elif thing.data.get("layers") is not None or thing.cls:
            result = self.through_layers(thing, self.whole(given[0]) if given else None, node)
        base = Tensor(
            line=node.lineno,
            graph=self.grad != "off",
            models=frozenset((thing,)),
            forwards=frozenset((event,)),
            direct=event,
            trained=event.mode != "eval",
        )
        for t in given:
            if t.graph and base.graph:
                base.models |= t.models
            base.forwards |= t.forwards
        return self.attach(result, base)

    @staticmethod
    def whole(value):
        """An input whose graph was cut is, to the model it goes into, an input like any other."""
        return value.but(cut=0) if isinstance(value, Tensor) and value.cut else value

    def attach(self, result, base):
        """Mark every tensor in a forward's result as computed by the model."""
        if isinstance(result, Seq):
            return Seq([self.attach(v, base) for v in result.items], result.open)
        if isinstance(result, Dict):
            return Dict({k: self.attach(v, base) for k, v in result.items.items()}, result.open, result.line)
        if isinstance(result, Tensor):
            if result.cut and not result.graph and result.forwards:
                return result.but(forwards=result.forwards | base.forwards)
            return result.but(
                graph=base.graph,
                models=result.models | base.models,
                forwards=result.forwards | base.forwards,
                plain=False,
                q=result.q,
                item=False,
                loader=None,
                trained=base.trained,
                direct=base.direct,
            )
        if isinstance(result, Const) and result.value is None:
            return result
        return base

    def through_layers(self, thing, given, node):
        """The activation a stack of known layers ends in."""
        layers = thing.data.get("layers")
        if layers is not None:
            result = given
            for layer in layers[-3:]:
                cls = layer.data.get("local") if isinstance(layer, Thing) else None
                if cls is not None and cls.find("forward")[0] is not None:
                    saved = self.model.events[:0]
                    result = self.call_thing(layer, [result or Thing(name="x")], {}, node)
                    del saved
                elif isinstance(layer, Thing):
                    result = self.through_layers(layer, result if isinstance(result, Tensor) else None, node)
                else:
                    result = None
            return result if isinstance(result, Tensor) else Tensor(line=node.lineno)
        cls = thing.cls
        if cls in names.ACTIVATION_LAYERS:
            dim = thing.data.get("args", [None])[:1] or [thing.data.get("kwargs", {}).get("dim")]
            dim = dim[0] if dim[0] is not None else thing.data.get("kwargs", {}).get("dim")
            value = dim.value if isinstance(dim, Const) else None
            return self.activation(names.ACTIVATION_LAYERS[cls], given, value, thing.line, node)
        if cls in names.LINEAR_LAYERS:
            out = thing.data.get("args", [])[1:2] or [thing.data.get("kwargs", {}).get("out_features")]
            one = isinstance(out[0], Const) and out[0].value == 1 and cls == "Linear"
            out = self.activation("linear", given, None, thing.line, node)
            return out.but(shape="col" if one else None, onehot=0, base=0, argmax=None, q=None, dtype="float")
        if cls in names.SAME_SHAPE_LAYERS and given is not None:
            return given.but(line=node.lineno, shape=None)
        return Tensor(line=node.lineno)

    def loss_call(self, thing, cls, args, kwargs, node, options):
        """Apply a loss function: one loss event."""
        reduction = options.get("reduction") or kwargs.get("reduction")
        red = reduction.value if isinstance(reduction, Const) else "mean" if reduction is None else None
        if red == "mean" and isinstance(options.get("size_average"), Const) and options["size_average"].value is False:
            red = "sum"
        if red == "batchmean":
            red = "mean"
        if not cls and red == "mean":
            red = "mean?"
        named = [kwargs[k] for k in ("input", "target") if k in kwargs]
        event = self.record("loss", node, thing, cls=cls, options=options, kwargs=kwargs, red=red)
        event.args = (*args, *named)
        tensors = [t for a in event.args for t in tensors_in(a)]
        pred = tensors_in(args[0])[:1] if args else []
        out = self.mixed(tensors, node) if tensors else Tensor(line=node.lineno, graph=self.grad != "off")
        if not tensors or not pred:
            out.graph = self.grad != "off"
        out.losses |= {event}
        if pred and not out.graph:
            out.cut = pred[0].cut
        out.red, out.of, out.q = (
            (red.rstrip("?") if red else None),
            "loss",
            {"mean": "mean", "sum": "sum", "mean?": "mean"}.get(red),
        )
        out.detached_from = frozenset()
        return out

    def backward(self, value, node, kwargs, how):
        """Record a backward call on whatever tensors `value` holds."""
        tensors = tensors_in(value)
        if not tensors:
            tensors = [Tensor(line=node.lineno, graph=True, losses=frozenset())]
        tensor = tensors[0] if len(tensors) == 1 else self.mixed(tensors, node)
        retain = kwargs.get("retain_graph")
        return self.record(
            "backward",
            node,
            value=tensor,
            how=how,
            known=bool(tensors_in(value)),
            source=value,
            retain=isinstance(retain, Const) and retain.value is True,
            create="create_graph" in kwargs,
        )

    # -- methods -----------------------------------------------------------------------------------------------------

    def call_method(self, owner, name, args, kwargs, node):
        """Call `owner.name(...)`."""
        if isinstance(owner, Path):
            return self.call_path(f"{owner.name}.{name}", args, kwargs, node)
        if isinstance(owner, Tensor):
            return self.tensor_method(owner, name, args, kwargs, node)
        if isinstance(owner, Thing):
            return self.thing_method(owner, name, args, kwargs, node)
        if isinstance(owner, Class):
            method, cls = owner.find(name)
            if method is not None:
                bound = args[0] if args and isinstance(args[0], Thing) and self.stack else None
                return self.call_function(
                    Func(method, cls.scope, bound, cls), args[1:] if bound else args, kwargs, node.lineno
                )
            return Thing(name="")
        if isinstance(owner, Seq):
            return self.seq_method(owner, name, args, node)
        if isinstance(owner, Dict):
            return self.dict_method(owner, name, args, kwargs, node)
        if isinstance(owner, State) and name in ("copy", "items", "values", "keys"):
            return owner
        if "backward" in name:
            self.backward(args[0] if args else owner, node, kwargs, name)
        if name == "format":
            return Seq([*args, *kwargs.values()], open=True)
        return Thing(name="", parents=tuple(a for a in args if isinstance(a, Thing))[:4])

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

    def on_zero_grad(self, thing, args, kwargs, node):
        """`x.zero_grad()`."""
        optimizer = self.kind_of(thing) == "optimizer" and not thing.data.get("element")
        self.record("zero_grad", node, thing, optimizer=optimizer)
        return Const(None)

    def on_backward(self, thing, args, kwargs, node):
        """`engine.backward(loss)`, or `loss.backward()` of a loss nothing is known of."""
        if args and tensors_in(args[0]):
            self.backward(args[0], node, kwargs, "engine")
        else:
            self.backward(
                args[0] if args and isinstance(args[0], Thing) else thing,
                node,
                kwargs,
                "backward" if not args else "engine",
            )
        return Const(None)

    on_manual_backward = on_backward

    def on_step(self, thing, args, kwargs, node):
        """`x.step()`: of an optimizer, a scheduler, a GradScaler, an engine; of anything else it says nothing."""
        kind = self.kind_of(thing)
        for value in (*args, *kwargs.values()):
            if isinstance(value, Func):  # a closure: it runs inside the step
                self.call_function(value, [], {}, node.lineno)
                self.record("step", node, thing, closure=True)
                return Thing(name="")
        if kind == "scaler":
            self.record("step", node, args[0] if args else None, scaler=thing)
        elif kind == "scheduler":
            self.record("sched_step", node, thing, args=args, kwargs=kwargs)
        elif kind in ("optimizer", "engine"):
            self.record("step", node, thing, closure=bool(args), prepared=thing.data.get("prepared"))
        elif kind is None and not args and not kwargs and "prof" not in thing.name:
            self.record("unknown_step", node, thing)
        return Seq([], open=True) if args else Thing(name="")

    def on_train(self, thing, args, kwargs, node):
        """`model.train(mode)`."""
        flag = args[0] if args else kwargs.get("mode", Const(True))
        if args and not isinstance(flag, Const) and self.kind_of(thing) not in ("model", None):
            return self.escape("train", args, kwargs, node) or Thing(name="")
        mode = "unknown" if not isinstance(flag, Const) else "train" if flag.value else "eval"
        return self.mode_call(thing, mode, node)

    def on_eval(self, thing, args, kwargs, node):
        """`model.eval()`."""
        return self.mode_call(thing, "eval", node)

    def mode_call(self, thing, mode, node):
        if self.kind_of(thing) in ("model", "engine", None):
            self.set_mode(thing, mode, self.record("mode", node, thing, mode))
        return thing

    def on_parameters(self, thing, args, kwargs, node):
        """`model.parameters()`."""
        return Params(frozenset((thing,)))

    on_named_parameters = on_parameters
    on_trainable_parameters = on_parameters

    def on_modules(self, thing, args, kwargs, node):
        """`model.modules()`: parts of the model, each on its own."""
        return Seq([Thing(name="part", parent=thing)], open=True)

    on_children = on_modules

    def on_named_modules(self, thing, args, kwargs, node):
        """`model.named_modules()`."""
        return Seq([Seq([Thing(name="key"), Thing(name="part", parent=thing)])], open=True)

    on_named_children = on_named_modules

    def on_state_dict(self, thing, args, kwargs, node):
        """`x.state_dict()`: references."""
        return State(thing, node.lineno)

    def on_load_state_dict(self, thing, args, kwargs, node):
        """`x.load_state_dict(state)`."""
        self.record("load_state", node, thing, args[0] if args else None)
        return Thing(name="")

    def on_scale(self, thing, args, kwargs, node):
        """`scaler.scale(loss)`."""
        if args and isinstance(args[0], Tensor):
            return args[0].but(scaled=thing, line=node.lineno)
        return Tensor(line=node.lineno, graph=True, scaled=thing) if self.kind_of(thing) == "scaler" else Thing(name="")

    def on_unscale_(self, thing, args, kwargs, node):
        """`scaler.unscale_(optimizer)`."""
        self.record("unscale", node, args[0] if args else None)
        return Const(None)

    def on_update(self, thing, args, kwargs, node):
        """`scaler.update()`."""
        if self.kind_of(thing) == "scaler":
            self.record("scaler_update", node, thing)
        else:
            for t in [t for a in args for t in tensors_in(a)][:1]:
                self.record("meter", node, thing, value=t, args=args)
        return Const(None)

    def on_prepare(self, thing, args, kwargs, node):
        """`accelerator.prepare(...)` and its like give back what they got."""
        for a in args:
            if isinstance(a, Thing):
                a.data["prepared"] = True
        self.record("prepare", node, thing)
        return args[0] if len(args) == 1 else Seq(list(args))

    def on_setup(self, thing, args, kwargs, node):
        """`fabric.setup(model, optimizer)`."""
        return self.on_prepare(thing, args, kwargs, node) if args else Thing(name="")

    on_setup_dataloaders = on_setup
    on_setup_module = on_setup
    on_setup_optimizers = on_setup

    def on_accumulate(self, thing, args, kwargs, node):
        """`with accelerator.accumulate(model):`."""
        self.record("accelerate_accumulate", node, thing)
        return Thing(name="")

    def on_set_epoch(self, thing, args, kwargs, node):
        """`sampler.set_epoch(epoch)`."""
        self.record("set_epoch", node, thing)
        return Const(None)

    def on_add_param_group(self, thing, args, kwargs, node):
        """`optimizer.add_param_group(...)`."""
        self.record("add_param_group", node, thing)
        params = self.params_of(args[0]) if args else Params(None)
        held = thing.data.get("params")
        if held is not None and held.models is not None:
            thing.data["params"] = Params(None if params.models is None else held.models | params.models)
        return Const(None)

    def on_optimizers(self, thing, args, kwargs, node):
        """Lightning's `self.optimizers()`."""
        made = thing.attrs.get("optimizers()")
        if made is None:
            made = thing.attrs["optimizers()"] = Thing(kind="optimizer", name="optimizers", line=node.lineno)
        return made

    def on_add_module(self, thing, args, kwargs, node):
        """`model.add_module(name, layer)`."""
        if len(args) > 1 and isinstance(args[1], Thing):
            if isinstance(args[0], Const):
                thing.attrs[str(args[0].value)] = args[1]
            if thing.data.get("layers") is not None:
                thing.data["layers"].append(args[1])
        return Const(None)

    on_register_module = on_add_module

    def on_parse_args(self, thing, args, kwargs, node):
        """`parser.parse_args()`: options, whatever the name they go by."""
        return Thing("options", "", "", node.lineno)

    def on_parse_known_args(self, thing, args, kwargs, node):
        """`parser.parse_known_args()`."""
        return Seq([Thing("options", "", "", node.lineno), Thing(name="")])

    def on_append(self, thing, args, kwargs, node):
        """`ModuleList.append`, or the `append` of a list nothing is known of."""
        if thing.data.get("layers") is not None and args:
            thing.data["layers"].append(args[0])
        else:
            for t in [t for a in args for t in tensors_in(a)][:1]:
                self.record(
                    "accumulate", node, value=t, target=ast.unparse(node.func.value), how="append", unknown=True
                )
        return Const(None)

    def on_fit(self, thing, args, kwargs, node):
        """`scaler.fit(x)` of a feature scaler; anything else that has a `fit` trains by itself."""
        if thing.cls in FEATURE_SCALERS:
            self.record("fit_scaler", node, thing, args[0] if args else None)
            if args and isinstance(args[0], Thing):
                args[0].data["fitted_whole"] = node.lineno
            return thing
        self.escape("fit", args, kwargs, node)
        return Thing(name="")

    def on_fit_transform(self, thing, args, kwargs, node):
        """`scaler.fit_transform(x)`."""
        if thing.cls in FEATURE_SCALERS:
            self.on_fit(thing, args, kwargs, node)
            return Thing(
                name="",
                scaled_at=node.lineno,
                parents=tuple(a for a in args if isinstance(a, Thing)),
                whole=args[0] if args else None,
            )
        return Thing(name="")

    def on_transform(self, thing, args, kwargs, node):
        """`scaler.transform(x)`."""
        return Thing(name="", parents=tuple(a for a in args if isinstance(a, Thing)))

    def on_randperm(self, thing, args, kwargs, node):
        """Only ever met as `torch.randperm`; here for objects of that name."""
        return Thing(name="")
