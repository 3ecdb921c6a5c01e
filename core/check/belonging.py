"""Which network, loss or optimizer a call belongs to, as the source names it."""

from __future__ import annotations

import ast

from .loopmodel import Event, Frame
from .values import Thing

LONGEST = 60


class Belonging:
    """Names of the objects that the calls of a file belong to."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._assigned: dict[ast.AST, str] | None = None
        self._texts: dict[ast.AST, str] = {}

    def name(self, event: Event, frame: Frame) -> str:
        """What the call is of: `critic` of a forward, `loss_d` of a loss and a backward, `opt_d` of a step.

        `frame` is that of the loop: a helper has a name of its own for what it is given, so there the object's own
        name is told where it is known.
        """
        if event.frame is not frame:
            own = self._own_name(event)
            if own:
                return own
        call = event.node
        if not isinstance(call, ast.Call):
            return ""
        if event.kind == "loss":
            return self._assignments().get(call) or self._text(call.func)
        if event.kind == "forward":
            return self._text(call.func)
        return self._text(_subject(event))

    def _own_name(self, event: Event) -> str:
        if event.kind == "backward" and event.value is not None:
            losses = {self._assignments().get(loss.node, "") for loss in event.value.losses}
            return losses.pop() if len(losses) == 1 else ""
        known = isinstance(event.obj, Thing) and event.kind != "loss"
        return event.obj.name[:LONGEST] if known else ""

    def _assignments(self) -> dict[ast.AST, str]:
        """The name that the value of a statement goes to, for each call within that value."""
        if self._assigned is None:
            self._assigned = {}
            for node in ast.walk(self._tree):
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
                        text = self._text(target)
                        self._assigned |= {n: text for n in ast.walk(node.value) if isinstance(n, ast.Call)}
        return self._assigned

    def _text(self, expression: ast.expr | None) -> str:
        """`expression` as it is written; of a call, what is called."""
        if isinstance(expression, ast.Call):
            expression = expression.func
        if expression is None:
            return ""
        if expression not in self._texts:
            self._texts[expression] = ast.unparse(expression)[:LONGEST]
        return self._texts[expression]


def _subject(event: Event) -> ast.expr | None:
    """What is stepped, cleared or gone back from: what stands before the dot, or what an engine is handed."""
    call = event.node
    given = call.args[0] if call.args else None
    handed = event.data.get("how", "backward") != "backward" or "scaler" in event.data
    if given is not None and (handed or not isinstance(call.func, ast.Attribute) or call.func.attr == "optimizer_step"):
        return given
    before = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(before, ast.Call) and isinstance(before.func, ast.Attribute) and before.func.attr == "scale":
        return before.args[0] if before.args else before  # scaler.scale(loss).backward()
    return before
