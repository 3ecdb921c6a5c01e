"""Our own components: what each puts into the page lies in `components/`, a file for its HTML, CSS and JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent / "components"


def component(name: str, *, isolate_styles: bool = True) -> Callable[..., Any]:
    """The component of that name, to be called to mount it."""
    texts = {}
    for kind in ("html", "css", "js"):
        file = _FOLDER / f"{name}.{kind}"
        if file.exists():
            texts[kind] = "\n" + file.read_text("utf-8")  # without a line break, it would be taken for a path
    return st.components.v2.component(f"five_calls.{name}", isolate_styles=isolate_styles, **texts)
