"""Walk a file as Python would run it, with values known only roughly, and write down the calls that matter.

Nothing of the file is executed. Functions and methods of the file are followed where they are called; what no code
of the file calls is entered on its own, with arguments known by name only.
"""

from __future__ import annotations

import ast
import itertools
import logging
import time

from .arithmetic import Arithmetic
from .binding import Binding
from .builtin_calls import BuiltinCalls
from .calls import Calls
from .comprehensions import Comprehensions
from .constructors import Constructors
from .expressions import Expressions
from .forwards import Forwards
from .functions import Functions
from .loopcalls import LoopCalls
from .looping import Looping
from .loopmodel import Event, Frame, LoopModel
from .methods import Methods
from .names import guess_kind
from .pace import nodes
from .pathcalls import PathCalls
from .scope import Scope
from .statements import Statements
from .tensorcalls import TensorCalls
from .truth import Truth
from .values import Class, Func, Thing

_log = logging.getLogger(__name__)


class OutOfTime(Exception):  # noqa: N818 - no error: the walk stops and what was seen counts
    """The budget of the walk is spent."""


class Interpreter(
    Statements,
    Looping,
    Expressions,
    Truth,
    Arithmetic,
    Comprehensions,
    Calls,
    Methods,
    LoopCalls,
    Forwards,
    TensorCalls,
    PathCalls,
    Constructors,
    BuiltinCalls,
    Functions,
    Binding,
):
    """One walk over one file."""

    def __init__(self, tree: ast.Module, source: str, deadline: float):
        self.model = LoopModel(tree, source)
        self.deadline = deadline
        self.globals = Scope()
        self.scope, self.frame = self.globals, Frame("<module>", tree, None, 0)
        self.loops, self.guards, self.stack = (), (), []
        self.grad, self.modes, self.clock = "on", {}, itertools.count(1)
        self.inside, self.entry_number, self.ops = 0, 0, 0
        self.runs, self.results, self.kinds = {}, {}, {}
        self.instances = {}
        self._survey(tree)

    # -- the whole file ------------------------------------------------------------------------------------------

    def _survey(self, tree):
        """One pass for what the file does with each name, whatever it stands for."""
        uses, calls, words, self.functions = self.model.uses, self.model.calls, self.model.words, []
        size, loads = 0, self.model.loads
        for node in nodes(tree):
            size += 1
            kind = type(node)
            if kind is ast.Call:
                func = node.func
                if type(func) is ast.Attribute:
                    owner = func.value
                    if type(owner) is ast.Subscript:
                        owner = owner.value
                    name = owner.id if type(owner) is ast.Name else owner.attr if type(owner) is ast.Attribute else ""
                    uses.setdefault(name, set()).add(func.attr)
                    calls.add(func.attr)
                elif type(func) is ast.Name:
                    calls.add(func.id)
            elif kind is ast.Attribute:
                words.add(node.attr)
                if type(node.ctx) is ast.Load:
                    loads.add(node.attr)
            elif kind is ast.Name:
                words.add(node.id)
                if type(node.ctx) is ast.Load:
                    loads.add(node.id)
            elif kind is ast.arg:
                words.add(node.arg)
            elif kind is ast.keyword:
                self.model.keywords.add(node.arg)
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self.functions.append(node)
            elif kind is ast.ClassDef:
                self.model.classes.append(node)
        self.max_ops = 60_000 + 6 * size

    def run(self) -> LoopModel:
        """Walk the module, then every function and class that the module did not reach."""
        try:
            self._enter(lambda: self.block(self.model.tree.body))
            top = self.model.tree.body
            flat = [n for s in top for n in (s.body + s.orelse if isinstance(s, ast.If) else [s])]
            functions = [n for n in flat if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
            classes = [n for n in flat if isinstance(n, ast.ClassDef)]
            roots = [f for f in functions if f.name not in self.model.calls and f.name not in self.model.words]
            for node in [*roots, *functions]:
                if node not in self.runs:
                    self._enter(lambda n=node: self._alone(Func(n, self.globals)))
            for node in classes:
                self._enter_class(node)
            for node in self.functions:  # nested functions nothing has reached
                if node not in self.runs and node not in functions and getattr(node, "enclosing", None) is not None:
                    self._enter(lambda n=node: self._alone(n.enclosing))
        except OutOfTime:
            self.model.truncated = True
        return self.model

    def _enter(self, work):
        """Do `work` as an entry of its own."""
        self.entry_number += 1
        self.loops, self.guards, self.stack, self.grad, self.modes, self.inside = (), (), [], "on", {}, 0
        self.scope, self.frame = self.globals, Frame("<module>", self.model.tree, None, 0)
        del self.globals.layers[1:]
        try:
            work()
        except RecursionError:
            self.model.truncated = True
        except OutOfTime:
            raise
        except Exception:  # a fault of the walk's own: the rules that need the whole file are silent from here
            _log.error("the walk failed")
            self.model.truncated = True

    def _alone(self, func, instance=None):
        self.call_function(func, [], {}, func.node.lineno, alone=True)

    def _enter_class(self, node):
        cls = self.globals.get(node.name)
        if not isinstance(cls, Class) or cls.node is not node:
            cls = Class(node, self.globals, [self.ev(b) for b in node.bases])
        todo = [m for m in cls.methods.values() if m not in self.runs]
        if not todo:
            return
        made = self.instances.get(node)
        if made is None:
            self._enter(lambda: self.instantiate(cls, [], {}, node.lineno, alone=True))
            made = self.instances.get(node)
            todo = [m for m in todo if m not in self.runs]
        own = self.model.uses.get("self", ())
        todo.sort(key=lambda m, own=own: m.name in own)
        for method in todo:
            if method not in self.runs:
                self._enter(lambda m=method: self._alone(Func(m, cls.scope, made, cls)))

    def tick(self):
        """Count one operation against the budget."""
        self.ops += 1
        if self.ops > self.max_ops or (not self.ops & 1023 and time.thread_time() > self.deadline):
            raise OutOfTime

    # -- events --------------------------------------------------------------------------------------------------

    def record(self, kind, node, obj=None, value=None, **data) -> Event:
        """Write down one call that matters."""
        line = node if isinstance(node, int) else node.lineno
        event = Event(kind, line, obj, value, **data)
        event.node = node
        event.loops, event.guards, event.grad, event.frame = self.loops, self.guards, self.grad, self.frame
        event.index, event.entry, event.inner = len(self.model.events), self.entry_number, self.inside > 0
        self.model.events.append(event)
        return event

    def kind_of(self, thing, called=False) -> str | None:
        """The kind of a thing: known from its constructor, or guessed from its name and use."""
        if not isinstance(thing, Thing):
            return None
        if thing.kind or not thing.name or thing.cls:
            return thing.kind
        key = (thing.name, called)
        if key not in self.kinds:
            self.kinds[key] = guess_kind(thing.name, self.model.uses.get(thing.name, set()), called)
        return self.kinds[key]

    def set_mode(self, thing, mode, event):
        """Note that `thing` went into train or eval mode."""
        self.modes[thing] = (next(self.clock), mode, event)

    def mode_of(self, thing):
        """(mode, event that set it) of a model: the latest setting of itself or of what contains it."""
        best, depth = (0, None, None), 0
        while thing is not None and depth < 20:
            best = max(best, self.modes.get(thing, best), key=lambda m: m[0])
            thing, depth = thing.data.get("parent"), depth + 1
        return best[1], best[2]

    def forget_modes(self, things):
        """A call we cannot see took these models: it may have changed their mode."""
        for thing in things:
            self.modes[thing] = (next(self.clock), "unknown", None)
