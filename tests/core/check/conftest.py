"""No test passes over a failure inside the checker, which answers in spite of it."""

from __future__ import annotations

import logging

import pytest

from .fuzz import Loud


@pytest.fixture(autouse=True)
def loud():
    handler = Loud()
    logging.getLogger("core.check").addHandler(handler)
    yield
    logging.getLogger("core.check").removeHandler(handler)
