"""A little of what `bench.py` does at length: nobody gets an error, and nothing is left behind."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from tests.load.bench import click, come_and_go, kinds_of, left_behind, load, memory
from tests.load.servers import ROOT, Server, start_app
from tests.load.visitor import Visitor

T = TypeVar("T")


def run(visits: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: where browser tests have run before, Playwright keeps this one's event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visits).result()


@pytest.fixture(scope="module")
def app() -> Iterator[Server]:
    with start_app() as app:
        yield app


def test_visitors_of_every_kind_at_once_get_no_error(app: Server) -> None:
    times, errors, _ = run(load(app.host, kinds_of(20, mixed=True), 3))
    assert errors == []
    assert len(times["step"]) > 10
    assert "Traceback" not in app.log.read_text("utf-8")


def test_clicks_leave_memory_flat(app: Server) -> None:
    run(click(app.host, 60, app.pid))
    before = memory(app.pid)
    run(click(app.host, 240, app.pid))
    assert memory(app.pid) - before < 10


def test_who_closes_the_tab_leaves_no_session_thread_or_run(app: Server) -> None:
    _, threads, _ = left_behind(app)
    run(come_and_go(app.host, 40))
    end = time.monotonic() + 20
    while (left := left_behind(app))[0] and time.monotonic() < end:
        pass
    assert left[0] == 0
    assert left[1] <= threads + 2
    assert left[2] < 0.5


def test_a_run_is_one_line_in_the_log_without_what_the_visitor_asked(app: Server) -> None:
    async def train() -> None:
        async with Visitor(app.host) as visitor:
            await visitor.open("train", seed=76543210, epochs=100)

    already = len(app.log.read_text("utf-8"))
    run(train())
    lines = app.log.read_text("utf-8")[already:].splitlines()
    assert [line for line in lines if re.search(r"INFO run: \d+ epochs, early stop, \d+\.\d\d s$", line)] == lines[:1]
    assert "76543210" not in app.log.read_text("utf-8")


def test_who_waits_for_anothers_training_sees_the_place_in_the_queue(app: Server) -> None:
    async def train(seed: int) -> str:
        async with Visitor(app.host) as visitor:
            return await visitor.open("train", seed=seed, epochs=60, lr=0.00001, batch_size=8, patience=100)

    async def both() -> list[str]:
        return await asyncio.gather(train(1), train(2))

    assert any("you are number 1 in the queue" in shown for shown in run(both()))


def test_an_error_is_whole_in_the_log_and_a_reference_on_the_page() -> None:
    async def look(host: str) -> str:
        async with Visitor(host) as visitor:
            return await visitor.open("home")

    with start_app(ROOT / "tests" / "load" / "failing.py") as failing:
        shown = run(look(failing.host))
        log = failing.log.read_text("utf-8")
    reference = re.search(r"<code>([0-9a-f]{6})</code>", shown).group(1)
    assert "secret" not in shown
    assert f"ERROR reference {reference}\n" in log
    assert log.count("ValueError: the secret of this traceback") == 1
