"""The forward of a model, the loss, and the way back."""

from __future__ import annotations

from . import names
from .values import (
    Const,
    Dict,
    Seq,
    Tensor,
    Thing,
    tensors_in,
)


class Forwards:
    """Part of the interpreter: forward, loss and backward."""

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
        averaged = options.get("size_average") or kwargs.get("size_average")
        if red == "mean" and isinstance(averaged, Const) and averaged.value is False:
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
            (red.rstrip("?") if isinstance(red, str) else None),
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
