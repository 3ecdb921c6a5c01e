"""What the first visitor would otherwise wait for: the modules that pages import, and the other language."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from pages.ui.i18n import LANGUAGES, catalogue


def load() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"pages.ui.{module.name}")
    importlib.import_module("pandas")  # Streamlit asks it about what components are given
    for language in LANGUAGES:
        catalogue(language)
