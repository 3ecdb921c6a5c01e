"""Evaluate expressions to the values of `values.py`."""

from __future__ import annotations

import ast

from .names import LABELS, words
from .values import Class, Const, Dict, Func, Params, Path, Seq, State, Tensor, Thing, merge, tensors_in

DEFAULTS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "numpy": "numpy",
    "copy": "copy",
    "DataLoader": "torch.utils.data.DataLoader",
}
BUILTINS = frozenset(
    [
        "len",
        "range",
        "enumerate",
        "zip",
        "print",
        "float",
        "int",
        "max",
        "min",
        "sum",
        "abs",
        "sorted",
        "list",
        "tuple",
        "dict",
        "set",
        "str",
        "isinstance",
        "getattr",
        "setattr",
        "hasattr",
        "iter",
        "next",
        "map",
        "filter",
        "reversed",
        "round",
        "bool",
        "open",
        "super",
        "vars",
        "type",
        "any",
        "all",
        "repr",
        "format",
        "input",
        "id",
        "tqdm",
        "trange",
    ]
)


class Expressions:
    """Part of the interpreter: one method a kind of expression node."""

    def ev(self, node):
        """The value of an expression."""
        method = getattr(self, "ev_" + type(node).__name__.lower(), None)
        if method is None:
            return Thing(name="")
        self.tick()
        return method(node)

    def ev_constant(self, node):
        return Const(node.value)

    def ev_name(self, node):
        value = self.scope.get(node.id)
        if value is None:
            if node.id in BUILTINS:
                return Path("builtins." + node.id)
            value = Path(DEFAULTS[node.id]) if node.id in DEFAULTS else Thing(name=node.id, line=node.lineno)
            self.globals.layers[0].setdefault(node.id, value)
        return value

    def ev_attribute(self, node):
        return self.attribute(self.ev(node.value), node.attr, node)

    def attribute(self, owner, name, node):
        """`owner.name`, when it is not being called."""
        if isinstance(owner, Path):
            full = f"{owner.name}.{name}"
            if full in ("numpy.inf", "math.inf", "torch.inf"):
                return Const(float("inf"))
            return Path(full)
        if isinstance(owner, Tensor):
            return self.tensor_attribute(owner, name, node)
        if isinstance(owner, Thing):
            if name in owner.attrs:
                return owner.attrs[name]
            return self.thing_attribute(owner, name, node)
        if isinstance(owner, Dict) and name in owner.items:
            return owner.items[name]
        if isinstance(owner, Class):
            method, cls = owner.find(name)
            if method is not None:
                return Func(method, cls.scope, None, cls)
        return Thing(name=name, line=node.lineno)

    def thing_attribute(self, owner, name, node):
        """An attribute nothing has set yet: a method of the file, or an unknown thing remembered from now on."""
        cls = owner.data.get("local")
        if cls is not None:
            method, where = cls.find(name)
            if method is not None:
                func = Func(method, where.scope, owner, where)
                if any(getattr(d, "id", "") in ("property", "cached_property") for d in method.decorator_list):
                    return self.call_function(func, [], {}, node.lineno)
                return func
        if name == "training":
            mode, _ = self.mode_of(owner)
            if mode in ("train", "eval"):
                return Const(mode == "train")
            return Thing(name=name)
        kind = self.kind_of(owner)
        if name in ("module", "_orig_mod") and kind == "model":
            return owner
        if name == "dataset" and kind in ("loader", None) and owner.data.get("dataset") is not None:
            return owner.data["dataset"]
        child = Thing(name=name, line=node.lineno)
        if kind == "model":
            child.data["parent"] = owner
        if owner.data.get("base") and name == "values":
            child.data["base"] = owner.data["base"]
        if name in ("dataset", "sampler"):
            child.data["loader"] = owner
            child.kind = name
        if name in ("inf", "Inf", "infty"):
            return Const(float("inf"))
        owner.attrs[name] = child
        return child

    def ev_subscript(self, node):
        owner = self.ev(node.value)
        key = self.ev(node.slice)
        return self.item(owner, key, node)

    def item(self, owner, key, node):
        """`owner[key]`."""
        if isinstance(owner, Seq):
            if isinstance(key, Const) and isinstance(key.value, int) and not isinstance(key.value, bool):
                if -len(owner.items) <= key.value < len(owner.items) and not (owner.open and key.value < 0):
                    return owner.items[key.value]
            elif isinstance(node.slice, ast.Slice):
                return self.slice_of(owner, node.slice)
            return Thing(name="") if not owner.items else owner.items[0] if len(owner.items) == 1 else Thing(name="")
        if isinstance(owner, Dict):
            if isinstance(key, Const) and key.value in owner.items:
                return owner.items[key.value]
            if owner.base:
                return Tensor(base=owner.base, dtype="int", line=node.lineno)
            if isinstance(key, Const) and isinstance(key.value, str):
                made = owner.items[key.value] = Thing(name=key.value, line=node.lineno)
                return made
            return Thing(name="")
        if isinstance(owner, Tensor):
            return self.tensor_item(owner, key, node)
        if isinstance(owner, Thing):
            return self.thing_item(owner, key, node)
        return Thing(name="")

    def thing_item(self, owner, key, node):
        """`thing[key]`: a slice of a Sequential, a key of a checkpoint, a column, an element."""
        layers = owner.data.get("layers")
        if layers is not None:
            if isinstance(key, Const) and isinstance(key.value, int) and -len(layers) <= key.value < len(layers):
                return layers[key.value]
            if isinstance(node.slice, ast.Slice):
                part = self.slice_of(Seq(layers), node.slice)
                return Thing("model", "Sequential", owner.name, node.lineno, layers=part.items, parent=owner)
        if owner.kind == "checkpoint" and isinstance(key, Const):
            label = str(key.value)
            return Tensor(item=True, loaded=label, line=node.lineno, loader=owner)
        if isinstance(key, Const) and isinstance(key.value, (str, int)):
            label = f"[{key.value}]"
            if label not in owner.attrs:
                child = Thing(name=key.value if isinstance(key.value, str) else owner.name, line=node.lineno)
                if self.kind_of(owner) == "model":
                    child.data["parent"] = owner
                child.data["column"] = isinstance(key.value, str)
                child.data["parents"] = (owner,)
                owner.attrs[label] = child
            return owner.attrs[label]
        if isinstance(node.slice, (ast.Slice, ast.Tuple)):
            whole_rows = isinstance(node.slice, ast.Tuple) and ast.unparse(node.slice).startswith((":,", "(slice(None"))
            if not self.loops and not whole_rows:
                self.record("split", node, value=[owner])
            return Thing(name="", line=node.lineno, parents=(owner,), sliced=None if whole_rows else owner)
        return owner.attrs.setdefault("[*]", Thing(name=owner.name, line=node.lineno, parents=(owner,), sliced=owner))

    def slice_of(self, seq, node):
        """A list slice with constant bounds, or an open list."""
        bounds = []
        for part in (node.lower, node.upper, node.step):
            value = self.ev(part) if part is not None else Const(None)
            if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, int)):
                return Seq([], open=True)
            bounds.append(value.value)
        if bounds[2] == 0:
            return Seq([], open=True)
        return Seq(seq.items[slice(*bounds)], seq.open)

    def ev_slice(self, node):
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.ev(part)
        return Thing(name="")

    def ev_tuple(self, node):
        items, open_ = [], False
        for element in node.elts:
            if isinstance(element, ast.Starred):
                value = self.ev(element.value)
                if isinstance(value, Seq):
                    items += value.items
                    open_ = open_ or value.open
                else:
                    open_ = True
            else:
                items.append(self.ev(element))
        return Seq(items, open_)

    ev_list = ev_tuple
    ev_set = ev_tuple

    def ev_starred(self, node):
        return self.ev(node.value)

    def ev_dict(self, node):
        items, open_ = {}, False
        for key, value in zip(node.keys, node.values, strict=True):
            made = self.ev(value)
            if key is None:
                if isinstance(made, Dict):
                    items.update(made.items)
                else:
                    open_ = True
                continue
            k = self.ev(key)
            if isinstance(k, Const) and isinstance(k.value, (str, int, float, bool)):
                items[k.value] = made
            else:
                open_ = True
        return Dict(items, open_, node.lineno)

    def ev_namedexpr(self, node):
        value = self.ev(node.value)
        self.bind(node.target, value, node)
        return value

    def ev_lambda(self, node):
        return Func(node, self.scope)

    def ev_ifexp(self, node):
        known = self.truth(self.ev(node.test), node.test)
        if known is not None:
            return self.ev(node.body if known else node.orelse)
        return merge(self.ev(node.body), self.ev(node.orelse))

    def ev_joinedstr(self, node):
        return Seq([self.ev(part.value) for part in node.values if isinstance(part, ast.FormattedValue)], open=True)

    def ev_await(self, node):
        return self.ev(node.value)

    def ev_yield(self, node):
        self.frame.returns.append(Thing("loader", item=self.ev(node.value) if node.value else None))
        return Thing(name="")

    def ev_yieldfrom(self, node):
        self.frame.returns.append(self.ev(node.value))
        return Thing(name="")

    # -- truth -----------------------------------------------------------------------------------------------------

    def truth(self, value, node) -> bool | None:
        """Whether a test holds, when that can be told."""
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, Thing) and (value.kind or value.data.get("local")) and value.kind != "loader":
            return True
        if isinstance(value, (Func, Class)):
            return True
        return None

    def ev_boolop(self, node):
        values = []
        for part in node.values:
            value = self.ev(part)
            known = self.truth(value, part)
            if known is (isinstance(node.op, ast.Or)):
                return value if not values else (Const(known) if not isinstance(value, Thing) else value)
            values.append(value)
        if all(isinstance(v, Const) for v in values):
            return values[-1]
        if isinstance(node.op, ast.Or):
            known = [v for v in values if not isinstance(v, Const)]
            return (
                known[0]
                if len(known) == 1 and isinstance(known[0], (Thing, Tensor)) and known[0] is values[-1]
                else Thing(name="")
            )
        return Thing(name="")

    def ev_compare(self, node):
        left = self.ev(node.left)
        rights = [self.ev(c) for c in node.comparators]
        if len(rights) != 1:
            return Thing(name="")
        right, op = rights[0], node.ops[0]
        if isinstance(left, Path) and left.name == "builtins.__name__":
            return Const(True)
        if isinstance(node.left, ast.Name) and node.left.id == "__name__":
            return Const(True)
        if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, Const) and right.value is None:
            none = self.is_none(left)
            return Thing(name="") if none is None else Const(none is isinstance(op, ast.Is))
        if isinstance(left, Const) and isinstance(right, Const):
            return self.compare_constants(op, left.value, right.value)
        if isinstance(op, (ast.Eq, ast.NotEq)):
            return self.equality(left, right, node)
        if isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)):
            self.record("compare", node, value=(left, right), tree=node)
        tensors = [t for t in (left, right) if isinstance(t, Tensor) and not t.item]
        return Tensor(line=node.lineno, dtype="bool", forwards=tensors[0].forwards) if tensors else Thing(name="")

    @staticmethod
    def is_none(value):
        """True, False, or None when it cannot be told."""
        if isinstance(value, Const):
            return value.value is None
        if isinstance(value, (Tensor, Seq, Dict, Func, Class, State)):
            return False
        if isinstance(value, Thing) and (value.kind or value.data.get("local")):
            return False
        return None

    @staticmethod
    def compare_constants(op, a, b):
        """Fold a comparison of two literals."""
        try:
            if isinstance(op, (ast.Eq, ast.Is)):
                return Const(a == b)
            if isinstance(op, (ast.NotEq, ast.IsNot)):
                return Const(a != b)
            if isinstance(op, ast.In):
                return Const(a in b)
            if isinstance(op, ast.NotIn):
                return Const(a not in b)
            if isinstance(op, ast.Lt):
                return Const(a < b)
            if isinstance(op, ast.Gt):
                return Const(a > b)
            return Const(a <= b if isinstance(op, ast.LtE) else a >= b)
        except (TypeError, ValueError):
            return Thing(name="")

    def equality(self, left, right, node):
        """`a == b`: of tensors, a tensor of hits."""
        pair = [t for t in (left, right) if isinstance(t, Tensor) and not t.item]
        if pair:
            self.record("equal", node, value=(left, right))
            forwards = frozenset().union(*(t.forwards for t in pair))
            models = frozenset().union(*(t.models for t in pair))
            return Tensor(line=node.lineno, dtype="bool", forwards=forwards, models=models, of="hits")
        return Thing(name="")

    def ev_unaryop(self, node):
        value = self.ev(node.operand)
        if isinstance(node.op, ast.Not):
            known = self.truth(value, node.operand)
            return Thing(name="") if known is None else Const(not known)
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value if isinstance(node.op, ast.USub) else value.value)
        if isinstance(value, Tensor) and isinstance(node.op, ast.USub):
            return value.but(sign=-value.sign, act=None)
        return value

    # -- arithmetic ------------------------------------------------------------------------------------------------

    def ev_binop(self, node):
        return self.arithmetic(self.ev(node.left), node.op, self.ev(node.right), node)

    def arithmetic(self, a, op, b, node):
        """`a op b` for tensors, numbers and lists."""
        if isinstance(a, Const) and isinstance(b, Const):
            return self.fold(a.value, op, b.value)
        if isinstance(a, Seq) and isinstance(op, ast.Add):
            return Seq([*a.items, *(b.items if isinstance(b, Seq) else [])], a.open or not isinstance(b, Seq) or b.open)
        if isinstance(a, Seq) and isinstance(op, ast.Mult):
            return Seq(a.items, open=True)
        if isinstance(a, (Params,)) or isinstance(b, Params):
            return self.params_of(Seq([a, b]))
        ta, tb = isinstance(a, Tensor), isinstance(b, Tensor)
        if isinstance(op, ast.Div) and (ta or isinstance(a, (Thing, Seq))):
            return self.divide(a, b, node)
        if ta and tb:
            return self.combine(a, op, b, node)
        if ta or tb:
            return self.with_number(a if ta else b, op, b if ta else a, node, swapped=tb)
        if isinstance(a, Thing) and isinstance(b, Thing) and isinstance(op, ast.Mult):
            factors = self.factors(a) | self.factors(b)
            if factors:
                return Tensor(item=True, factors=factors, line=node.lineno, q="product")
        parents = tuple(v for v in (a, b) if isinstance(v, Thing))
        made = Thing(name="", parents=parents, text=None)
        one = isinstance(b, Const) and b.value == 1 and isinstance(op, ast.Add)
        if one and isinstance(a, Thing) and (a.name == "codes" or LABELS & set(words(a.name))):
            made.data["base"] = node.lineno
        return made

    @staticmethod
    def fold(a, op, b):
        """Fold small arithmetic of literals; sizes are bounded, so that no text can make the checker count."""
        if isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a) < 1e12 and abs(b) < 1e12:
            try:
                if isinstance(op, ast.Add):
                    return Const(a + b)
                if isinstance(op, ast.Sub):
                    return Const(a - b)
                if isinstance(op, ast.Mult):
                    return Const(a * b)
                if isinstance(op, ast.Div):
                    return Const(a / b)
                if isinstance(op, ast.FloorDiv):
                    return Const(a // b)
            except (ZeroDivisionError, OverflowError):
                pass
        return Thing(name="")

    def factors(self, value) -> frozenset:
        """What a count is a product of."""
        if isinstance(value, Tensor):
            if value.factors:
                return value.factors
            return frozenset((value.q,)) if value.q in ("len_loader", "len_dataset") else frozenset()
        if isinstance(value, Thing) and value.name:
            parts = words(value.name)
            if any(w.startswith("epoch") for w in parts):
                return frozenset(("epochs",))
            if "accum" in "".join(parts):
                return frozenset(("accumulation",))
            if parts[-1:] in (["steps"], ["iters"]) or "per" in parts:
                return frozenset(("steps",))
        return frozenset()

    def combine(self, a, op, b, node):
        """An operation on two tensors."""
        line = node.lineno
        graph = (a.graph or b.graph) and self.grad != "off"
        out = Tensor(
            line=line,
            graph=graph,
            models=a.models | b.models,
            forwards=a.forwards | b.forwards,
            losses=a.losses | b.losses,
            parts=a.parts | b.parts,
            item=a.item and b.item,
            detached_from=a.detached_from | b.detached_from,
        )
        if not graph:
            out.cut = a.cut or b.cut
        mult, add = isinstance(op, ast.Mult), isinstance(op, (ast.Add, ast.Sub))
        out.factors = self.factors(a) | self.factors(b) if mult else frozenset()
        out.div = a.div if a.div else b.div
        if mult:
            for x, y in ((a, b), (b, a)):
                if x.q == "mean" and y.q == "count":
                    out.q, out.of, out.red, out.loader = "sum", x.of, x.red, y.loader
                    out.div, out.sign = x.div, x.sign
                elif x.q == "mean" and y.q == "batch_size":
                    out.q, out.of = "mean*const", x.of
            if out.factors and out.q is None:
                out.q = "product"
        elif add:
            same = a.q == b.q or a.q in (None, "zero") or b.q in (None, "zero")
            out.q = (a.q or b.q) if same and (a.item == b.item) else None
            out.of, out.acc = a.of or b.of, a.acc or b.acc
            out.red = a.red or b.red
            out.sign = a.sign
            out.loader = a.loader or b.loader
            out.error = not (a.losses or b.losses) and isinstance(op, ast.Sub)
            if out.losses:
                out.error = False
            if a.error and b.error:
                out.error = True
            if out.error and not (a.red or b.red):
                self.record("difference", node, value=(a, b))
        elif isinstance(op, ast.Pow):
            out.error = a.error
        return out

    def with_number(self, t, op, n, node, swapped):
        """An operation on a tensor and a number, or a thing nothing is known of."""
        if t.cut and isinstance(n, Thing):
            t = t.but(cut=0)  # the other side may be a parameter of its own
        line = node.lineno
        number = isinstance(n, Const) and isinstance(n.value, (int, float))
        if isinstance(op, (ast.Add, ast.Sub)) and number:
            plus = n.value if isinstance(n.value, int) and isinstance(op, ast.Add) else 0
            if t.loopvar or t.loaded:
                return t.but(plus=t.plus + (plus or -n.value if isinstance(n.value, int) else 0))
            base = line if plus == 1 and not t.graph and not t.item and not t.forwards and not t.q else t.base
            if isinstance(op, ast.Sub) and n.value == 1:
                base = 0
            sign = -t.sign if swapped and isinstance(op, ast.Sub) else t.sign
            unsure = t.unsure or base != t.base
            return t.but(
                line=line, base=base, unsure=unsure, sign=sign, graph=t.graph and self.grad != "off", factors=t.factors
            )
        if isinstance(op, ast.Mult):
            if (
                t.q == "mean"
                and t.item
                and (self.batch_sized(n) or (number and n.value > 1 and isinstance(n.value, int) and t.of))
            ):
                return t.but(q="mean*const", line=line, act=None)
            factors = (
                self.factors(t) | self.factors(n) | ({"const"} if number and t.factors | self.factors(t) else set())
            )
            if factors and not t.graph:
                return Tensor(item=True, factors=factors, line=line, q=t.q if number else "product", loader=t.loader)
            return t.but(
                line=line, act=None, graph=t.graph and self.grad != "off", div=() if t.div and not number else t.div
            )
        if isinstance(op, ast.Pow):
            return t.but(line=line, act=None, graph=t.graph and self.grad != "off")
        if isinstance(op, (ast.Add, ast.Sub)):
            if isinstance(op, ast.Sub) and not t.losses and not t.item and isinstance(n, Thing):
                return t.but(line=line, act=None, error=True, plain=False)
            return t.but(line=line, act=None, graph=t.graph and self.grad != "off", plain=False)
        if isinstance(op, ast.FloorDiv):
            return Tensor(item=True, line=line, factors=t.factors | self.factors(n), q=t.q, loader=t.loader)
        if isinstance(op, ast.Mod):
            return Tensor(item=True, line=line)
        return t.but(line=line, act=None, q=None, plain=False)

    def batch_sized(self, n) -> bool:
        """Is this the batch size as a constant: by its name or by what the loader was given?"""
        if isinstance(n, Tensor):
            return n.q == "batch_size"
        name = n.name if isinstance(n, Thing) else ""
        parts = words(name)
        return "bs" in parts or ("batch" in parts and "size" in parts) or "batchsize" in parts or name.endswith("bsz")

    def divide(self, a, b, node):
        """`a / b`: where means are made."""
        self.record("divide", node, value=(a, b), tree=node)
        if not isinstance(a, Tensor):
            t = tensors_in(a)
            return Tensor(line=node.lineno, item=True, of=t[0].of if t else None) if t else Thing(name="", parents=(a,))
        text = ast.unparse(node.right) if isinstance(node, ast.BinOp) else ast.unparse(node.value)
        out = a.but(
            line=node.lineno, graph=a.graph and self.grad != "off", act=None if not isinstance(b, Const) else a.act
        )
        if a.losses or a.graph:
            out.div = (*a.div, (text, node.lineno, b))
        if isinstance(b, Tensor) and b.graph:
            out.graph, out.models, out.forwards = self.grad != "off", a.models | b.models, a.forwards | b.forwards
        if isinstance(b, Tensor) and b.q in ("count", "len_loader", "len_dataset", "steps") and a.q:
            out.q = "mean" if a.acc is None else "epoch"
        out.factors = a.factors
        return out

    def do_augassign(self, node):
        """`x += v`: an accumulator, or an update in place."""
        old, value = self.ev(node.target), self.ev(node.value)
        if isinstance(node.op, ast.Div):
            self.bind(node.target, self.divide(old, value, node), node)
            return
        if isinstance(node.op, (ast.Add, ast.Sub)):
            self.bind(node.target, self.accumulate(old, node.op, value, node), node)
            return
        made = self.arithmetic(old, node.op, value, node)
        if isinstance(node.target, ast.Attribute) and node.target.attr == "data":
            self.record("manual_step", node)
        self.bind(node.target, made, node)

    def accumulate(self, old, op, value, node):
        """Add `value` to what a name holds, and remember in which loop."""
        target = ast.unparse(node.target)
        stepping = target.endswith(".data") or (isinstance(node.target, ast.Name) and isinstance(op, ast.Sub))
        if stepping and "grad" in ast.unparse(node.value):
            self.record("manual_step", node)
        if isinstance(old, Seq) and isinstance(op, ast.Add):
            tensors = tensors_in(value)
            if tensors:
                event = self.record("accumulate", node, value=tensors[0], target=target, how="append")
                tensors = [t.but(parts=t.parts | {event}) for t in tensors]
            return Seq([*old.items, *tensors], open=True)
        loop = self.loops[-1] if self.loops else None
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            if isinstance(old, Tensor) and (old.loopvar or old.loaded or old.graph):
                return self.with_number(old, op, value, node, False)
            return Tensor(item=True, q="steps" if value.value == 1 else None, acc=loop, line=node.lineno)
        if isinstance(value, Tensor):
            event = self.record("accumulate", node, value=value, target=target, how="+=", old=old)
            base = old if isinstance(old, Tensor) else Tensor(item=value.item, plain=True)
            out = self.combine(base, op, value, node)
            out.parts = out.parts | {event}
            out.acc, out.q, out.of, out.loader = (
                loop or value.acc,
                value.q if base.q in (None, value.q) else None,
                value.of,
                value.loader,
            )
            if value.acc is not None and value.acc is not loop and value.q == "mean":
                out.q = None  # a sum of sums: over examples, steps or terms, which cannot be told
            out.red, out.sign, out.item = value.red, value.sign, value.item
            out.error = value.error
            event.data["made"] = out
            return out
        if isinstance(old, Tensor):
            return old.but(line=node.lineno, acc=loop)
        made = Thing(name="", parents=(value,) if isinstance(value, Thing) else ())
        return made

    # -- comprehensions ----------------------------------------------------------------------------------------------

    def ev_listcomp(self, node):
        items = []
        self.comprehend(node, 0, lambda: items.append(self.collected(self.ev(node.elt))))
        return Seq(items, open=True)

    def collected(self, value):
        """An element of a comprehension is one of many, as if it had been appended."""
        return value.but(acc=value.acc or self.loops[-1]) if isinstance(value, Tensor) and self.loops else value

    ev_generatorexp = ev_listcomp
    ev_setcomp = ev_listcomp

    def ev_dictcomp(self, node):
        items, base = {}, 0
        found = []
        self.comprehend(node, 0, lambda: found.append((self.ev(node.key), self.ev(node.value))))
        for _, value in found:
            if isinstance(value, State):
                return value
            if isinstance(value, Tensor) and value.base:
                base = value.base
        source = node.generators[0].iter
        if (
            found
            and isinstance(source, ast.Call)
            and isinstance(source.func, ast.Attribute)
            and source.func.attr == "items"
        ):
            state = self.ev(source.func.value)
            if isinstance(state, State):
                text = ast.unparse(node.value)
                copied = any(w in text for w in ("clone", "copy", "cpu", "numpy", "tensor("))
                return State(state.of, node.lineno, copied=copied or state.copied)
        return Dict(items, open=True, line=node.lineno, base=base)

    def comprehend(self, node, depth, work):
        """Walk the loops of a comprehension around its element."""
        if depth == len(node.generators):
            work()
            return
        generator = node.generators[depth]
        values = self.ev(generator.iter)
        self.scope.layers.append({})
        try:
            self.loop(
                node,
                generator.iter,
                values,
                generator.target,
                lambda: ([self.ev(test) for test in generator.ifs], self.comprehend(node, depth + 1, work)),
            )
        finally:
            self.scope.layers.pop()
