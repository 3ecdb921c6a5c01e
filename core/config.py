"""Settings that come from strangers: a field says what it allows, and a bad value is one sentence, no traceback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.messages import N_


class SettingError(ValueError):
    """A setting that is not allowed. `str()` is one English sentence; the parts are there for other languages.

    `allowed` is a text with placeholders, which `bounds` fill.
    """

    def __init__(self, name: str, value: str, allowed: str, **bounds: str) -> None:
        self.name, self.value, self.allowed, self.bounds = name, value[:40], allowed, bounds
        super().__init__(f"{name} cannot be {self.value!r}; allowed: {allowed.format(**bounds)}.")


@dataclass(frozen=True)
class Choice:
    """One name of a list, in any case; `aliases` are further spellings that are understood."""

    names: tuple[str, ...]
    aliases: Mapping[str, str] | None = None

    def help(self) -> str:
        return ", ".join(self.names)

    def parse(self, name: str, text: str) -> str:
        wanted = text.strip().lower()
        wanted = (self.aliases or {}).get(wanted, wanted)
        if wanted not in self.names:
            raise SettingError(name, text, "{names}", names=self.help())
        return wanted


@dataclass(frozen=True)
class Number:
    """A finite number from `low` to `high`, both allowed; whole if `whole`."""

    low: float
    high: float
    whole: bool = False

    @property
    def _allowed(self) -> str:
        return N_("a whole number from {low} to {high}") if self.whole else N_("a number from {low} to {high}")

    @property
    def _bounds(self) -> dict[str, str]:
        return {"low": f"{self.low:g}", "high": f"{self.high:.10g}"}

    def help(self) -> str:
        return self._allowed.format(**self._bounds)

    def parse(self, name: str, text: str) -> float | int:
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            raise SettingError(name, text, self._allowed, **self._bounds) from None
        if not self.low <= value <= self.high:  # neither NaN nor infinity is
            raise SettingError(name, text, self._allowed, **self._bounds)
        return value


@dataclass(frozen=True)
class Flag:
    """Yes or no, written 1 or 0."""

    def help(self) -> str:
        return "1, 0"

    def parse(self, name: str, text: str) -> bool:
        if text not in ("0", "1"):
            raise SettingError(name, text, self.help())
        return text == "1"


_CODES_ALLOWED = N_("up to {longest} of the letters {letters}")


@dataclass(frozen=True)
class Codes:
    """A string of one-letter codes, of at most `longest`."""

    letters: str
    longest: int

    @property
    def _bounds(self) -> dict[str, str]:
        return {"longest": str(self.longest), "letters": " ".join(self.letters)}

    def help(self) -> str:
        return _CODES_ALLOWED.format(**self._bounds)

    def parse(self, name: str, text: str) -> str:
        if len(text) > self.longest or set(text) - set(self.letters):
            raise SettingError(name, text, _CODES_ALLOWED, **self._bounds)
        return text


_TEXT_ALLOWED = N_("any text of up to {longest} characters")


@dataclass(frozen=True)
class Text:
    """Any text of at most `longest` characters."""

    longest: int

    def help(self) -> str:
        return _TEXT_ALLOWED.format(longest=self.longest)

    def parse(self, name: str, text: str) -> str:
        if len(text) > self.longest:
            raise SettingError(name, text, _TEXT_ALLOWED, longest=str(self.longest))
        return text


@dataclass(frozen=True)
class Names:
    """Some of a list of names, separated by commas, in any order; kept in the list's order, without repeats."""

    names: tuple[str, ...]

    def help(self) -> str:
        return ", ".join(self.names)

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        wanted = {part.strip().lower() for part in text.split(",")} - {""}
        if wanted - set(self.names):
            raise SettingError(name, text, "{names}", names=self.help())
        return tuple(part for part in self.names if part in wanted)


Field = Choice | Number | Flag | Codes | Names | Text


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
    if isinstance(value, tuple | list):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)
