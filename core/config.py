"""Settings that come from strangers: a field says what it allows, and a bad value is one sentence, no traceback."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class SettingError(ValueError):
    """A setting that is not allowed. `str()` is one English sentence; the parts are there for other languages."""

    def __init__(self, name: str, value: str, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value[:40], allowed
        super().__init__(f"{name} cannot be {self.value!r}; allowed: {allowed}.")


@dataclass(frozen=True)
class Choice:
    """One name of a list, in any case; `aliases` are further spellings that are understood."""

    names: tuple[str, ...]
    aliases: Mapping[str, str] | None = None

    @property
    def allowed(self) -> str:
        return ", ".join(self.names)

    def parse(self, name: str, text: str) -> str:
        wanted = text.strip().lower()
        wanted = (self.aliases or {}).get(wanted, wanted)
        if wanted not in self.names:
            raise SettingError(name, text, self.allowed)
        return wanted


@dataclass(frozen=True)
class Number:
    """A finite number from `low` to `high`, both allowed; whole if `whole`."""

    low: float
    high: float
    whole: bool = False

    @property
    def allowed(self) -> str:
        return f"{'a whole number' if self.whole else 'a number'} from {self.low:g} to {self.high:.10g}"

    def parse(self, name: str, text: str) -> float | int:
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            raise SettingError(name, text, self.allowed) from None
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise SettingError(name, text, self.allowed)
        return value


@dataclass(frozen=True)
class Flag:
    """Yes or no, written 1 or 0."""

    allowed = "1 or 0"

    def parse(self, name: str, text: str) -> bool:
        if text not in ("0", "1"):
            raise SettingError(name, text, self.allowed)
        return text == "1"


@dataclass(frozen=True)
class Codes:
    """A string of one-letter codes, of at most `longest`."""

    letters: str
    longest: int

    @property
    def allowed(self) -> str:
        return f"up to {self.longest} of the letters {' '.join(self.letters)}"

    def parse(self, name: str, text: str) -> str:
        if len(text) > self.longest or set(text) - set(self.letters):
            raise SettingError(name, text, self.allowed)
        return text


Field = Choice | Number | Flag | Codes


def parse_settings(fields: Mapping[str, Field], given: Mapping[str, str]) -> tuple[dict[str, Any], list[SettingError]]:
    """Read the settings that `given` has of `fields`: the good values, and what is wrong with the others."""
    values, errors = {}, []
    for name, field in fields.items():
        if name in given:
            try:
                values[name] = field.parse(name, given[name])
            except SettingError as error:
                errors.append(error)
    return values, errors


def write_setting(value: Any) -> str:
    """The text that `parse` reads back as `value`."""
    return str(int(value)) if isinstance(value, bool) else str(value)
