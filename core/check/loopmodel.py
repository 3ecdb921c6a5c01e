"""The model of the loop that rules ask: what happened, in which order, in which loop, under which mode and
grad context.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


class Loop:
    """A `for`, `while` or comprehension that the calls below it repeat in."""

    __slots__ = ("carried", "frame", "guards", "index", "line", "loader", "loops", "node", "ranged", "target")

    def __init__(self, node, line, loader, ranged, frame, target, loops, guards, index):
        self.node, self.line, self.loader, self.ranged, self.frame = node, line, loader, ranged, frame
        self.target, self.loops, self.guards, self.index = target, loops, guards, index
        self.carried = []


class Frame:
    """One call of a function of the file (or the module itself)."""

    __slots__ = ("call_line", "instance", "name", "node", "opaque", "parent", "returns")

    def __init__(self, name, node, parent, call_line, opaque=False, instance=None):
        self.name, self.node, self.parent, self.call_line, self.opaque = name, node, parent, call_line, opaque
        self.returns, self.instance = [], instance

    def chain(self):
        """This frame and its callers."""
        frame = self
        while frame is not None:
            yield frame
            frame = frame.parent


class Guard:
    """One arm of an `if` that could not be decided."""

    __slots__ = ("arm", "id", "line", "test")

    def __init__(self, id, arm, test, line):
        self.id, self.arm, self.test, self.line = id, arm, test, line


class Event:
    """One call that matters, at a line, in order."""

    __slots__ = (
        "args",
        "data",
        "entry",
        "frame",
        "grad",
        "guards",
        "index",
        "inner",
        "kind",
        "line",
        "loops",
        "mode",
        "node",
        "obj",
        "value",
    )

    def __init__(self, kind, line, obj=None, value=None, **data):
        self.kind, self.line, self.obj, self.value, self.data = kind, line, obj, value, data
        self.args, self.mode, self.inner, self.node = (), None, False, None

    def __repr__(self):
        return f"{self.kind}@{self.line}({self.obj})"

    def within(self, loop) -> bool:
        """Did it happen in this loop?"""
        return any(own is loop for own in self.loops)


@dataclass
class LoopModel:
    """Everything the interpreter saw. `events` are in order within an entry; entries share nothing but the file."""

    tree: ast.Module
    source: str
    events: list[Event] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    uses: dict[str, set[str]] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    classes: list[ast.ClassDef] = field(default_factory=list)
    truncated: bool = False
    starts: dict[int, dict] = field(default_factory=dict)
    best_tests: list | None = None
    _by_kind: dict = field(default_factory=dict)
    _by_loop: dict = field(default_factory=dict)
    _by_entry: dict = field(default_factory=dict)
    _entries: dict = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Event]:
        """Events of these kinds, in order."""
        if kinds not in self._by_kind:
            self._by_kind[kinds] = [e for e in self.events if e.kind in kinds]
        return self._by_kind[kinds]

    def inside(self, loop: Loop, *kinds: str) -> list[Event]:
        """Events of these kinds in one loop, in order."""
        if not self._by_loop:
            for event in self.events:
                for own in event.loops:
                    self._by_loop.setdefault(id(own), []).append(event)
        return [e for e in self._by_loop.get(id(loop), ()) if e.kind in kinds]

    def entry(self, event: Event, *kinds: str) -> list[Event]:
        """Events of these kinds in the same entry as `event`."""
        key = (event.entry, *kinds)
        if key not in self._by_entry:
            self._by_entry[key] = [e for e in self._in_entry().get(event.entry, ()) if e.kind in kinds]
        return self._by_entry[key]

    def _in_entry(self) -> dict[int, list[Event]]:
        if not self._entries:
            for event in self.events:
                self._entries.setdefault(event.entry, []).append(event)
        return self._entries

    def has_word(self, *names: str) -> bool:
        """Is one of these names used anywhere in the file, as a name or an attribute?"""
        return any(n in self.words for n in names)

    def backward_of(self, event: Event) -> list[Event]:
        """The backward calls that go through this forward."""
        return [b for b in self.entry(event, "backward") if b.value is not None and event in b.value.forwards]


def exclusive(a: Event, b: Event) -> bool:
    """Can the two never happen in one pass, because they stand on two arms of one `if`?"""
    if not a.guards or not b.guards:
        return False
    arms = {g.id: g.arm for g in a.guards}
    return any(g.id in arms and arms[g.id] != g.arm for g in b.guards)


def common_loop(a: Event, b: Event) -> Loop | None:
    """The innermost loop both are in."""
    found = None
    for x, y in zip(a.loops, b.loops, strict=False):
        if x is not y:
            break
        found = x
    return found
