"""Kinds of questions, and how an answer is judged: never by a bare "wrong", always with what is wrong about it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import N_, Message
from core.rng import numpy_generator

_DIGITS = str.maketrans("০১২৩৪৫৬৭৮৯−–", "0123456789--")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?%?", re.ASCII)
_LONGEST_ANSWER = 2000


def parse_number(text: str) -> float | None:
    """Read a number in Bangla or ASCII digits, with commas between digits and a percent sign allowed; else None."""
    text = re.sub(r"(?<=\d),(?=\d)", "", text.translate(_DIGITS).strip().lower())
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Verdict:
    """Right, wrong, or (None) not readable as an answer; `why` says so in a sentence or two."""

    right: bool | None
    why: Message
    place: int | None = None
    """Where the first difference is, counted from 0, if the answer has places."""


@dataclass(frozen=True)
class Option:
    text: Message
    why: Message
    """Why it is right, or what is wrong with it."""
    right: bool = False


@dataclass(frozen=True)
class ChoiceQuestion:
    key: str
    prompt: Message
    options: tuple[Option, ...]
    code: str = ""

    def check(self, chosen: int) -> Verdict:
        return Verdict(self.options[chosen].right, self.options[chosen].why)


_NOT_A_NUMBER = N_("This is not a number. Write digits, Bangla or English, with a point before the decimals.")


@dataclass(frozen=True)
class Trap:
    """A wrong answer that has a reason, and the reason."""

    answer: float | str
    why: Message


@dataclass(frozen=True)
class NumberQuestion:
    key: str
    prompt: Message
    answer: float
    tolerance: float
    """How far from `answer` is still right, in its own unit."""
    explanation: Message
    hint: Message
    """What a wrong answer is told that is none of the traps."""
    traps: tuple[Trap, ...] = ()
    unit: str = ""

    def check(self, text: str) -> Verdict:
        value = parse_number(text)
        if value is None:
            return Verdict(None, Message(_NOT_A_NUMBER))
        if abs(value - self.answer) <= self.tolerance:
            return Verdict(True, self.explanation)
        for trap in self.traps:
            if abs(value - trap.answer) <= self.tolerance:
                return Verdict(False, trap.why)
        return Verdict(False, self.hint)


_RIGHT_ORDER = N_("Right: this is one epoch, from training mode to the decision whether to keep the weights.")


@dataclass(frozen=True)
class OrderQuestion:
    key: str
    prompt: Message
    items: tuple[Message, ...]
    """In the right order."""
    reasons: tuple[Message, ...]
    """Why item i must stand where it stands; told when it is the first one out of place."""

    def shuffled(self, seed: int) -> tuple[int, ...]:
        """The items' numbers in an order to start from, never the right one."""
        rng = numpy_generator(seed)
        while True:
            order = tuple(int(i) for i in rng.permutation(len(self.items)))
            if order != tuple(range(len(self.items))):
                return order

    def check(self, order: Sequence[int]) -> Verdict:
        """`order` has the number of the item that stands at each place."""
        for place, item in enumerate(order):
            if item != place:
                return Verdict(False, self.reasons[place], place)
        return Verdict(True, Message(_RIGHT_ORDER))


_DIFFERS = N_("The value in place {place} is the first that differs; the program prints {count} values in all.")
_TOO_FEW = N_("So far all right, but the program prints {count} values in all.")
_NOTHING_YET = N_("Write what the program prints, value by value.")


@dataclass(frozen=True)
class PrintQuestion:
    key: str
    prompt: Message
    code: str
    answer: str
    """What `code` prints, found by running its twin."""
    explanation: Message
    tolerance: float = 0.0006
    """For numbers: half a unit of the third decimal, and a hair for float32."""
    traps: tuple[Trap, ...] = ()

    def check(self, text: str) -> Verdict:
        given, wanted = _tokens(text[:_LONGEST_ANSWER]), _tokens(self.answer)
        if not given:
            return Verdict(None, Message(_NOTHING_YET))
        place = self._difference(given, wanted)
        if place is None:
            return Verdict(True, self.explanation)
        for trap in self.traps:
            if self._difference(given, _tokens(str(trap.answer))) is None:
                return Verdict(False, trap.why, place)
        count = str(len(wanted))
        if place == len(given) < len(wanted):
            return Verdict(False, Message(_TOO_FEW, {"count": count}), place)
        return Verdict(False, Message(_DIFFERS, {"place": str(place + 1), "count": count}), place)

    def _difference(self, given: list[str], wanted: list[str]) -> int | None:
        for place, (a, b) in enumerate(zip(given, wanted, strict=False)):
            x, y = parse_number(a), parse_number(b)
            same = a == b if x is None or y is None else abs(x - y) <= self.tolerance
            if not same:
                return place
        return None if len(given) == len(wanted) else min(len(given), len(wanted))


def _tokens(text: str) -> list[str]:
    """The values of a printed text: its words and numbers, in lower case and ASCII digits, without what parts them."""
    return re.findall(r"[^\s|,;:=()\[\]\"']+", text.translate(_DIGITS).lower())


@dataclass(frozen=True)
class Statement:
    text: Message
    holds: bool
    why: Message


@dataclass(frozen=True)
class MarkQuestion:
    """Tick every statement that holds."""

    key: str
    prompt: Message
    code: str
    statements: tuple[Statement, ...]

    def check(self, ticked: set[int]) -> tuple[Verdict, ...]:
        """A verdict on each statement, ticked or not."""
        return tuple(Verdict((i in ticked) == s.holds, s.why) for i, s in enumerate(self.statements))


@dataclass(frozen=True)
class WriteQuestion:
    """Code to write; the visitor compares. Nobody's code but ours is ever run."""

    key: str
    prompt: Message
    answer: str
    look_for: tuple[Message, ...]
    """What to tick off in one's own answer."""


@dataclass(frozen=True)
class ThoughtQuestion:
    key: str
    prompt: Message
    answer: tuple[Message, ...]
    """Paragraphs."""
    takeaway: Message


Question = ChoiceQuestion | NumberQuestion | OrderQuestion | PrintQuestion | MarkQuestion | WriteQuestion
