"""Marks texts that `core` holds and a page translates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for it
    """Return `text` unchanged; its presence puts the text into the catalogues."""
    return text


@dataclass(frozen=True)
class Message:
    """A text marked by `N_`, and what goes into its `{named}` places: numbers, formatted already, or code."""

    text: str
    values: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """In English."""
        return self.text.format(**self.values)
