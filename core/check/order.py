"""The five calls as the checker understood them: the order recovered for each training loop."""

from __future__ import annotations

from dataclasses import dataclass

from .belonging import Belonging
from .loopmodel import Event, Frame, LoopModel

LETTERS = {"forward": "f", "loss": "l", "zero_grad": "z", "backward": "b", "step": "s"}


@dataclass(frozen=True)
class Call:
    """One of the five calls, where it stands."""

    name: str
    line: int
    of: str = ""
    """The network, loss or optimizer it belongs to, as the source names it, in a loop with several; else ""."""


@dataclass(frozen=True)
class LoopOrder:
    """The calls of one training loop in order; `letters` is the order where each call stands at most once, else ""."""

    line: int
    calls: tuple[Call, ...]
    letters: str


def orders(model: LoopModel) -> tuple[LoopOrder, ...]:
    """The order of calls of each innermost loop that goes backward or steps, or of a function that does so once."""
    groups: dict[tuple, list[Event]] = {}
    for event in model.of("backward", "step"):
        loop = event.loops[-1] if event.loops else None
        key = (event.entry, id(loop) if loop else id(event.frame))
        groups.setdefault(key, []).append(event)
    found, seen, belonging = [], set(), Belonging(model.tree)
    for marks in groups.values():
        if not any(m.kind == "backward" for m in marks):
            continue
        loop = marks[0].loops[-1] if marks[0].loops else None
        events = [e for e in model.entry(marks[0], *LETTERS) if not e.inner or e.kind == "loss"]
        if loop is not None:
            events = [e for e in events if e.loops and e.loops[-1] is loop]
        else:
            events = [e for e in events if e.frame is marks[0].frame]
        made = _calls(events, _named(events, belonging, loop.frame if loop else marks[0].frame))
        line = (
            loop.line
            if loop
            else marks[0].frame.node.lineno
            if hasattr(marks[0].frame.node, "lineno")
            else made[0].line
        )
        if made in seen:
            continue
        seen.add(made)
        letters = "".join(LETTERS[c.name] for c in made)
        found.append(LoopOrder(line, made, letters if len(set(letters)) == len(letters) >= 4 else ""))
    return tuple(found)


def _named(events: list[Event], belonging: Belonging, frame: Frame) -> dict[Event, str]:
    """What each call belongs to, if the loop has more than one optimizer or goes back from more than one loss."""
    telling = {e: belonging.name(e, frame) for e in events if e.kind in ("backward", "step", "zero_grad")}
    optimizers = [e for e in events if e.kind == "step" or (e.kind == "zero_grad" and e.data.get("optimizer"))]
    objects = {id(e.obj) if e.obj is not None else telling[e] for e in optimizers}
    several = len(objects) > 1 and len({telling[e] for e in optimizers}) > 1
    several = several or len({name for e, name in telling.items() if e.kind == "backward"}) > 1
    return {event: belonging.name(event, frame) for event in events} if several else {}


def _calls(events: list[Event], names: dict[Event, str]) -> tuple[Call, ...]:
    """Events as calls; a backward on a loss no loss function made still had its loss computed just before."""
    made: list[Call] = []
    computed = set()
    for event in events:
        if event.kind == "loss":
            computed.add(event)
        if event.kind == "backward" and event.value is not None and not (event.value.losses & computed):
            forwards = [e for e in events if e.kind == "forward" and e.index < event.index]
            if forwards and not any(c.name == "loss" for c in made):
                made.append(Call("loss", event.value.line or event.line, names.get(event, "")))
        call = Call(event.kind, event.line, names.get(event, ""))
        if not made or made[-1] != call:
            made.append(call)
    return tuple(made)
