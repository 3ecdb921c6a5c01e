"""What arithmetic makes of tensors and counts: losses that are added, scaled, and divided into means."""

from __future__ import annotations

import ast

from .names import LABELS, words
from .values import (
    Const,
    Params,
    Seq,
    Tensor,
    Thing,
    tensors_in,
)


class Arithmetic:
    """Part of the interpreter: operators and accumulators."""

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
