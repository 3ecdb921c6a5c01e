"""What a rule is, what it finds, and the register of all rules."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .loopmodel import LoopModel

ERROR, WARNING, INFO = "error", "warning", "info"
Hit = tuple[int, dict] | int | tuple[int, dict, str]
"""A line; with values for the explanation's placeholders; with another severity than the rule's own."""


@dataclass(frozen=True)
class Rule:
    """One kind of fault. `explanation` and `remedy` are constant sentences; `{names}` in them are filled per
    finding.
    """

    code: str
    title: str
    severity: str
    explanation: str
    remedy: str
    link: str
    find: Callable[[LoopModel], Iterable[Hit]]


@dataclass(frozen=True)
class Finding:
    """One fault at one line. `message` and `remedy` are filled in; `rule` and `values` let a page translate them."""

    line: int
    code: str
    severity: str
    title: str
    message: str
    remedy: str
    link: str
    values: dict
    rule: Rule

    def __hash__(self) -> int:
        return hash((self.line, self.code))


RULES: list[Rule] = []
_log = logging.getLogger(__name__)


def rule(code, title, severity, explanation, remedy, link):
    """Register the decorated function as the rule `code`."""

    def register(find):
        RULES.append(Rule(code, title, severity, explanation, remedy, link, find))
        return find

    return register


def _hits(one: Rule, model: LoopModel) -> list[Hit]:
    """What a rule finds; an expression nested too deeply to be written out silences it."""
    try:
        return list(one.find(model))
    except RecursionError:
        return []
    except Exception:  # a fault of the rule's own: what the others find is worth more than none of it
        _log.error("rule %s failed", one.code)
        return []


def findings(model: LoopModel, rules: Iterable[Rule], deadline: float = math.inf) -> Iterator[Finding]:
    """Ask every rule, once a line and code, until the deadline."""
    seen = set()
    for one in rules:
        if time.thread_time() > deadline:
            return
        for hit in _hits(one, model):
            line, values, severity = (hit, {}, one.severity) if isinstance(hit, int) else (*hit, one.severity)[:3]
            if line <= 0 or (one.code, line) in seen:
                continue
            seen.add((one.code, line))
            message, remedy = one.explanation.format(**values), one.remedy.format(**values)
            yield Finding(line, one.code, severity, one.title, message, remedy, one.link, values, one)
