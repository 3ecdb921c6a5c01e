"""Arrows point one way: core knows no screen."""

from __future__ import annotations

import subprocess
import sys


def test_core_imports_neither_streamlit_nor_plotly() -> None:
    code = (
        "import sys, pkgutil, importlib, core\n"
        "for module in pkgutil.walk_packages(core.__path__, 'core.'):\n"
        "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "print(sorted({'streamlit', 'plotly'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
