"""Widgets for a page's settings: each shows what the address says, and what is changed goes back into the address."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.config import Choice, Field, Flag, Number
from pages.ui.address import change_settings

Followers = Mapping[str, tuple[str, ...]]
"""Setting -> the settings that start from their defaults again when it is changed."""


class SettingWidgets:
    """The widgets of one page. `fields` are those of its address; `on_change` runs after a change is kept."""

    def __init__(
        self,
        page: str,
        fields: Mapping[str, Field],
        values: Mapping[str, Any],
        *,
        followers: Followers | None = None,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        self.page, self.fields, self.values = page, fields, values
        self.followers = followers or {}
        self.on_change = on_change

    def choice(
        self, name: str, label: str, names: Mapping[str, str], *, widget: Callable[..., Any] | None = None
    ) -> None:
        """One of the field's names, shown as `names` has it; a select box unless `widget` is another."""
        field = self.fields[name]
        if not isinstance(field, Choice):
            raise TypeError(f"{name} is not a choice")
        options = [option for option in field.names if option in names]
        self._show(widget or st.selectbox, name, label, options, format_func=names.get)

    def number(self, name: str, label: str, *, step: float, help: str | None = None) -> None:
        """A number typed in, kept within the field's bounds."""
        low, high = self._bounds(name)
        kind = {} if self._whole(name) else {"format": "%.4g"}
        self._show(
            st.number_input, name, label, low, high, step=int(step) if self._whole(name) else step, help=help, **kind
        )

    def slider(
        self, name: str, label: str, *, step: float, low: float | None = None, high: float | None = None
    ) -> None:
        """A number under the thumb; `low` and `high` narrow the field's bounds for the thumb alone."""
        cast = int if self._whole(name) else float
        lowest, highest = self._bounds(name)
        low, high = cast(lowest if low is None else low), cast(highest if high is None else high)
        value = min(max(self.values[name], low), high)
        decimals = max(0, -math.floor(math.log10(step)))
        self._show(st.slider, name, label, low, high, step=cast(step), value=value, format=f"%.{decimals}f")

    def flag(self, name: str, label: str) -> None:
        if not isinstance(self.fields[name], Flag):
            raise TypeError(f"{name} is not a flag")
        self._show(st.toggle, name, label)

    def several(self, name: str, label: str, names: Mapping[str, str], **look: Any) -> None:
        """Any of `names`, each a pill to press; `look` goes to `st.pills`."""
        chosen = [option for option in self.values[name] if option in names]
        self._show(
            st.pills, name, label, list(names), selection_mode="multi", format_func=names.get, value=chosen, **look
        )

    def _show(
        self, widget: Callable[..., Any], name: str, label: str, *args: Any, value: Any = None, **kwargs: Any
    ) -> None:
        key = f"{self.page}_{name}"
        st.session_state[key] = self.values[name] if value is None else value
        widget(label, *args, key=key, on_change=self._changed, args=(name, key), **kwargs)

    def _changed(self, name: str, key: str) -> None:
        for follower in self.followers.get(name, ()):
            st.session_state[f"settings:{self.page}"].pop(follower, None)
        value = st.session_state[key]
        if value is not None:  # a segmented control can be emptied; a setting cannot
            change_settings(self.page, **{name: value})
        if self.on_change is not None:
            self.on_change()

    def _whole(self, name: str) -> bool:
        return self._number(name).whole

    def _bounds(self, name: str) -> tuple[float, float]:
        field = self._number(name)
        return (int(field.low), int(field.high)) if field.whole else (float(field.low), float(field.high))

    def _number(self, name: str) -> Number:
        field = self.fields[name]
        if not isinstance(field, Number):
            raise TypeError(f"{name} is not a number")
        return field
