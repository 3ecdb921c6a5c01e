"""The mechanical remedies, a function for each code: from a fault's place to edits."""

from __future__ import annotations

import ast

import libcst as cst

from .edits import Edits, NotFixable, code, expression


def _first(items):
    for item in items:
        return item
    raise NotFixable


def _receiver(call: ast.Call) -> str:
    """`x.y` of `x.y.step()`."""
    if not isinstance(call.func, ast.Attribute):
        raise NotFixable
    return ast.unparse(call.func.value)


def _near(place, names, before=True, line=None):
    """The nearest statement of the same block, before or after, that calls one of `names`."""
    line = place.line if line is None else line
    block = place.neighbours(line)
    side = [s for s in block if (s.lineno < line) == before and s.lineno != line and not hasattr(s, "body")]
    return _first(s for s in (reversed(side) if before else side) if place.calls(s, *names))


def _replace(edits: Edits, node: ast.AST, source: str, make):
    edits.replace.append((node.lineno, source, make))


def zero_grad_missing(place, edits):
    """Put zero_grad before the backward of the same block, or else right after the step."""
    step = place.statement()
    call = _first(place.calls(step, "step"))
    optimizer = ast.unparse(call.args[0]) if call.args else _receiver(call)
    try:
        backward = _near(place, ("backward",))
        edits.before[backward.lineno] = [f"{optimizer}.zero_grad()"]
    except NotFixable:
        edits.after[step.lineno] = [f"{optimizer}.zero_grad()"]


def zero_grad_too_rare(place, edits):
    """Move zero_grad to the start of the inner loop that goes backward."""
    zero = place.statement()
    loops = [
        n
        for n in ast.walk(place.tree)
        if isinstance(n, ast.For) and n.lineno > zero.lineno and place.calls(n, "backward")
    ]
    inner = [
        n
        for n in loops
        if not any(m is not n and place.calls(m, "backward") for m in ast.walk(n) if isinstance(m, ast.For))
    ]
    edits.remove.add(zero.lineno)
    edits.loop_start[_first(inner).lineno] = [ast.unparse(zero)]


def move_before_backward(place, edits):
    """Move this statement before the backward above it."""
    edits.move_before[place.statement().lineno] = _near(place, ("backward",)).lineno


def move_after_backward(place, edits):
    """Move this statement after the backward below it."""
    edits.move_after[place.statement().lineno] = _near(place, ("backward",), before=False).lineno


def scheduler_after_optimizer(place, edits):
    """Move scheduler.step() after the optimizer's, or to the end of the loop body it opens."""
    block = place.neighbours(place.line)
    steps = [s for s in block if s.lineno > place.line and place.calls(s, "step")]
    target = _first(steps)
    edits.move_after[place.statement().lineno] = target.lineno


def move_before_step(place, edits):
    """Move this statement before the step above it."""
    edits.move_before[place.statement().lineno] = _near(place, ("step",)).lineno


def no_grad(place, edits):
    """Wrap the loop round the fault in no_grad."""
    loops = [
        n for n in ast.walk(place.tree) if isinstance(n, ast.For) and n.lineno <= place.line <= (n.end_lineno or 0)
    ]
    if not loops:
        raise NotFixable
    inner = max(loops, key=lambda n: n.lineno)
    edits.wrap[inner.lineno] = "with torch.no_grad()"
    edits.imports.append("import torch")


def eval_before_loop(place, edits):
    """Put eval() before the loop, or turn a train() that should be eval() into it."""
    statement = place.statement()
    train = place.calls(statement, "train")
    if train and not train[0].args:
        receiver = _receiver(train[0])
        _replace(edits, train[0], f"{receiver}.train()", lambda _: expression(f"{receiver}.eval()"))
        return
    loops = [
        n for n in ast.walk(place.tree) if isinstance(n, ast.For) and n.lineno <= place.line <= (n.end_lineno or 0)
    ]
    if not loops:
        raise NotFixable
    inner = max(loops, key=lambda n: n.lineno)
    edits.before[inner.lineno] = [f"{place.finding.values['model']}.eval()"]


def train_into_loop(place, edits):
    """Move train() to the start of the loop below it."""
    statement = place.statement()
    loop = _first(s for s in place.neighbours(place.line) if isinstance(s, ast.For) and s.lineno > place.line)
    edits.remove.add(statement.lineno)
    edits.loop_start[loop.lineno] = [ast.unparse(statement)]


def item(place, edits):
    """Add .item() to what is collected."""
    statement = place.statement()
    if isinstance(statement, ast.AugAssign):
        value = statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
        value = statement.value.args[0]
    else:
        raise NotFixable
    if not isinstance(value, (ast.Name, ast.Attribute, ast.BinOp, ast.Call)):
        raise NotFixable

    def make(node):
        text = code(node)
        simple = isinstance(node, (cst.Name, cst.Attribute, cst.Call)) or bool(node.lpar)
        return expression(f"{text}.item()" if simple else f"({text}).item()")

    _replace(edits, value, place.segment(value), make)


def deepcopy(place, edits):
    """Wrap the kept weights in copy.deepcopy."""
    statement = place.statement()
    found = place.calls(statement, "state_dict")
    value = found[0] if found else getattr(statement, "value", None)
    if value is None or isinstance(value, (ast.Tuple, ast.Dict, ast.DictComp)):
        raise NotFixable
    outer = [
        c for c in place.calls(statement, "copy", "dict") if any(n is value for n in ast.walk(c)) and c is not value
    ]
    value = outer[0] if outer else value
    inner = place.segment(found[0]) if found else place.segment(value)
    _replace(edits, value, place.segment(value), lambda _: expression(f"copy.deepcopy({inner})"))
    edits.imports.append("import copy")


def unwrap_activation(place, edits):
    """Take the activation away from what it is applied to."""
    statement = place.statement(place.finding.values["at"])
    found = place.calls(statement, "softmax", "sigmoid", "log_softmax", "logsigmoid")
    if len(found) != 1:
        raise NotFixable
    call = found[0]
    base = getattr(call.func, "value", None)
    method = isinstance(call.func, ast.Attribute) and not ast.unparse(base).startswith(("torch", "F", "nn"))
    inner = place.segment(base if method else _first(call.args))
    _replace(edits, call, place.segment(call), lambda _: expression(inner))


def keyword(name, value):
    """A recipe that sets one keyword argument in the call of that line."""

    def recipe(place, edits):
        statement = place.statement()
        for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call)):
            if any(k.arg == name for k in call.keywords):

                def make(node):
                    args = [
                        a.with_changes(value=expression(value)) if a.keyword and a.keyword.value == name else a
                        for a in node.args
                    ]
                    return node.with_changes(args=args)

                _replace(edits, call, place.segment(call), make)
                return
        raise NotFixable

    return recipe


def other_dim(place, edits):
    """dim=0 becomes dim=1 in the call of that line."""
    for node in ast.walk(place.tree):
        if isinstance(node, ast.Call) and node.lineno == place.line:
            name = getattr(node.func, "attr", getattr(node.func, "id", "")).lower().replace("_", "")
            if name not in ("softmax", "logsoftmax", "argmax", "max"):
                continue

            def make(call):
                args = []
                for arg in call.args:
                    zero = isinstance(arg.value, cst.Integer) and arg.value.value == "0"
                    args.append(arg.with_changes(value=cst.Integer("1")) if zero else arg)
                return call.with_changes(args=args)

            _replace(edits, node, place.segment(node), make)
            return
    raise NotFixable


def drop_retain_graph(place, edits):
    """backward(retain_graph=True) becomes backward()."""
    call = _first(place.calls(place.statement(), "backward"))

    def make(node):
        args = [a for a in node.args if not (a.keyword and a.keyword.value == "retain_graph")]
        if args:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return node.with_changes(args=args)

    _replace(edits, call, place.segment(call), make)


def data_to_item(place, edits):
    """loss.data[0] becomes loss.item()."""
    for node in ast.walk(place.tree):
        if isinstance(node, ast.Subscript) and node.lineno == place.line and place.segment(node).endswith(".data[0]"):
            text = place.segment(node)
            _replace(edits, node, text, lambda _, text=text: expression(text[: -len(".data[0]")] + ".item()"))
            return
    raise NotFixable


def drop_variable(place, edits):
    """Variable(x) becomes x."""
    for call in place.calls(place.statement(), "Variable"):
        if any(k.arg == "volatile" for k in call.keywords):
            raise NotFixable
        inner = place.segment(_first(call.args))
        _replace(edits, call, place.segment(call), lambda _, inner=inner: expression(inner))


def unscale(place, edits):
    """Put scaler.unscale_(optimizer) before the clipping."""
    step = _near(place, ("step",), before=False)
    call = _first(place.calls(step, "step"))
    edits.before[place.statement().lineno] = [f"{_receiver(call)}.unscale_({ast.unparse(_first(call.args))})"]


def update_scaler(place, edits):
    """Put scaler.update() after scaler.step()."""
    call = _first(place.calls(place.statement(), "step"))
    edits.after[place.statement().lineno] = [f"{_receiver(call)}.update()"]


def drop_direct_step(place, edits):
    """Remove the direct step where scaler.step of the same optimizer stands beside it."""
    statement = place.statement()
    optimizer = _receiver(_first(place.calls(statement, "step")))
    for other in place.neighbours(place.line):
        if any(c.args and ast.unparse(c.args[0]) == optimizer for c in place.calls(other, "step")):
            edits.remove.add(statement.lineno)
            return
    raise NotFixable


def set_epoch(place, edits):
    """Call set_epoch at the start of the loop over epochs."""
    loop = _first(
        n
        for n in ast.walk(place.tree)
        if isinstance(n, ast.For) and n.lineno == place.line and isinstance(n.target, ast.Name)
    )
    name = loop.target.id
    if name == "_":
        raise NotFixable
    edits.loop_start[loop.lineno] = [f"{place.finding.values['sampler']}.set_epoch({name})"]


def mean_backward(place, edits):
    """loss.backward() becomes loss.mean().backward()."""
    call = _first(place.calls(place.statement(), "backward"))
    receiver = _receiver(call)
    _replace(edits, call, f"{receiver}.backward()", lambda _: expression(f"{receiver}.mean().backward()"))


def start_one_later(place, edits):
    """Add one to the epoch that is read from the checkpoint."""
    if "trained again" not in place.finding.values["what"]:
        raise NotFixable
    for node in ast.walk(place.statement()):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == place.finding.values["start"]
        ):
            text = place.segment(node)
            _replace(edits, node, text, lambda _, text=text: expression(f"{text} + 1"))
            return
    raise NotFixable


def float_one_hot(place, edits):
    """Add .float() to one_hot."""
    for node in ast.walk(place.tree):
        if (
            isinstance(node, ast.Call)
            and node.lineno == place.finding.values["at"]
            and ast.unparse(node.func).endswith("one_hot")
        ):
            text = place.segment(node)
            _replace(edits, node, text, lambda _, text=text: expression(f"{text}.float()"))
            return
    raise NotFixable


RECIPES = {
    "FC101": unwrap_activation,
    "FC102": unwrap_activation,
    "FC103": unwrap_activation,
    "FC106": other_dim,
    "FC107": other_dim,
    "FC109": mean_backward,
    "FC110": mean_backward,
    "FC121": float_one_hot,
    "FC201": zero_grad_missing,
    "FC202": zero_grad_too_rare,
    "FC203": move_before_backward,
    "FC204": move_after_backward,
    "FC401": eval_before_loop,
    "FC402": no_grad,
    "FC404": train_into_loop,
    "FC504": item,
    "FC601": scheduler_after_optimizer,
    "FC705": start_one_later,
    "FC706": keyword("weights_only", "True"),
    "FC801": deepcopy,
    "FC1002": drop_retain_graph,
    "FC1004": drop_variable,
    "FC1005": data_to_item,
    "FC1101": unscale,
    "FC1102": update_scaler,
    "FC1103": drop_direct_step,
    "FC1104": move_before_step,
    "FC1105": move_after_backward,
    "FC1201": keyword("shuffle", "True"),
    "FC1202": set_epoch,
}
