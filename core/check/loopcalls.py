"""The methods a training loop calls by name: `zero_grad`, `step`, `train`, `state_dict` and their like."""

from __future__ import annotations

import ast

from .constructors import FEATURE_SCALERS
from .values import (
    Const,
    Func,
    Params,
    Seq,
    State,
    Tensor,
    Thing,
    tensors_in,
)


class LoopCalls:
    """Part of the interpreter: one handler a method."""

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
