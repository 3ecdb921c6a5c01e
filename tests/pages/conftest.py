"""Run the app's script without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
import torch  # noqa: F401 - here, since torch crashes when a script's thread is the first to import it
from streamlit.testing.v1 import AppTest

ROUTER = Path(__file__).resolve().parents[2] / "pages" / "router.py"
OpenPage = Callable[..., AppTest]


@pytest.fixture
def open_page() -> OpenPage:
    """`open_page("step", lang="bn", calls="fl")`: the page at that address, run once."""

    def open_(address: str = "home", **query: str) -> AppTest:
        app = AppTest.from_file(str(ROUTER), default_timeout=30)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        if address != "home":
            app.switch_page(str(ROUTER.parent / f"{address}.py"))
            for name, value in query.items():
                app.query_params[name] = value
            app.run()
        return app

    return open_


def html(app: AppTest) -> str:
    """All that the page set by `st.html`."""
    return "\n".join(element.value for element in app.html)


def words(app: AppTest) -> str:
    """The same as it is read: without its tags."""
    return unescape(re.sub(r"<[^>]*>", "", html(app)))
