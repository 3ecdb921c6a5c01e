"""The right order of the calls, as a small automaton that a browser can walk without knowing any rule."""

from __future__ import annotations

from functools import cache
from typing import TypedDict


class Automaton(TypedDict):
    """State 0 is the start of a batch. `next[s]` is the right call in state s, `go[s][code]` the state after a call."""

    next: list[str]
    go: list[dict[str, int]]


@cache
def automaton(order: str) -> Automaton:
    """Build it for `order`, the codes of one optimizer step, ending in `s`.

    A call out of turn leaves the state as it is, with two exceptions: a step begins a new batch, and zero_grad may come
    anywhere before its turn, since it lawfully can; nor is it asked for once a backward went ahead without it.
    """
    states = [(0, False)]
    next_codes: list[str] = []
    go: list[dict[str, int]] = []
    for state in states:
        next_codes.append(order[state[0]])
        moves = {}
        for code in "flzbs":
            after = _after(order, *state, code)
            if after not in states:
                states.append(after)
            moves[code] = states.index(after)
        go.append(moves)
    return {"next": next_codes, "go": go}


def _after(order: str, at: int, zeroed: bool, code: str) -> tuple[int, bool]:
    if code == "s":
        return 0, False
    if code == "z":
        zeroed = True
    if code == order[at]:
        at += 1
    elif order[at] == "z" and order[at + 1] == code:
        at += 2
    if order[at] == "z" and zeroed:
        at += 1
    return at, zeroed


def next_call(order: str, calls: str) -> str:
    """The call that the right order makes after `calls`, one code."""
    table = automaton(order)
    state = 0
    for code in calls:
        state = table["go"][state][code]
    return table["next"][state]


def this_batch(order: str, calls: str) -> tuple[str, str]:
    """The calls of the batch that is under way, and those that the right order still wants up to its step.

    A batch ends when a call of it comes round again after a step; a loop that calls backward after step keeps both in
    one batch, as its programmer wrote them.
    """
    begin = 0
    for position, code in enumerate(calls):
        if "s" in calls[begin:position] and code in calls[begin:position]:
            begin = position
    rest = ""
    while not (calls[begin:] + rest).count("s"):
        rest += next_call(order, calls + rest)
    return calls[begin:], rest
