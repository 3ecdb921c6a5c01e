import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core import turns
from core.turns import Turns, heavy


@pytest.fixture
def own_turns(monkeypatch):
    fresh = Turns(patience=0)
    monkeypatch.setattr(turns, "TURNS", fresh)
    return fresh


def hold(queue, until, entered=None):
    with queue.turn():
        if entered:
            entered.set()
        until.wait(10)


def until_queue_is(queue, n):
    for _ in range(1000):
        if len(queue) == n:
            return
        time.sleep(0.002)
    raise AssertionError(f"{len(queue)} in the queue, not {n}")


def test_turns_come_in_the_order_of_asking_and_never_two_at_once():
    queue, begin = Turns(), threading.Event()
    order, at_work = [], []

    def work(name):
        with queue.turn():
            at_work.append(name)
            assert len(at_work) == 1
            order.append(name)
            time.sleep(0.002)
            at_work.remove(name)

    with ThreadPoolExecutor(9) as pool:
        pool.submit(hold, queue, begin)
        until_queue_is(queue, 1)
        jobs = []
        for n in range(8):
            jobs.append(pool.submit(work, n))
            until_queue_is(queue, n + 2)
        begin.set()
        for job in jobs:
            job.result(10)
    assert order == list(range(8))
    assert len(queue) == 0


def test_who_waits_is_told_each_place_and_the_end():
    queue, begin, told = Turns(patience=0), threading.Event(), []
    queue.tell = told.append
    done = threading.Event()
    done.set()
    with ThreadPoolExecutor(2) as pool:
        pool.submit(hold, queue, begin)
        until_queue_is(queue, 1)
        waiting = pool.submit(hold, queue, done)
        time.sleep(0.3)
        begin.set()
        waiting.result(10)
    assert set(told[:-1]) == {1}
    assert told[-1] == 0


def test_a_short_wait_is_not_mentioned():
    queue, told = Turns(), []
    queue.tell = told.append
    with queue.turn(), queue.turn():  # within a turn of one's own there is nothing to wait for
        pass
    assert told == []


def test_who_leaves_while_waiting_holds_nobody_up():
    queue, begin = Turns(patience=0), threading.Event()

    def leave(place):
        raise KeyboardInterrupt

    queue.tell = leave

    def wait():
        with pytest.raises(KeyboardInterrupt):
            hold(queue, begin)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(hold, queue, begin)
        until_queue_is(queue, 1)
        pool.submit(wait).result(10)
        assert len(queue) == 1
        begin.set()
    assert len(queue) == 0
    with queue.turn():
        pass


def test_a_failure_gives_the_turn_back():
    queue = Turns()
    with pytest.raises(ZeroDivisionError), queue.turn():
        raise ZeroDivisionError
    assert len(queue) == 0


def test_a_long_turn_gives_way_between_its_parts():
    queue, order = Turns(longest=0), []

    def short():
        with queue.turn():
            order.append("short")

    with ThreadPoolExecutor(1) as pool:
        with queue.turn():
            order.append("long")
            job = pool.submit(short)
            until_queue_is(queue, 2)
            queue.give_way()
            order.append("long")
        job.result(10)
    assert order == ["long", "short", "long"]
    queue.give_way()  # outside a turn, nothing
    Turns(longest=0).give_way()


def test_a_class_that_asks_for_the_same_computes_it_once(own_turns, caplog):
    computed = []

    @heavy(entries=4)
    def square(x):
        computed.append(x)
        time.sleep(0.01)
        return x * x

    with caplog.at_level(logging.INFO, "five_calls"), ThreadPoolExecutor(8) as pool:
        assert list(pool.map(square, [123456] * 30)) == [123456**2] * 30
    assert computed == [123456]
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("square: 0.0")
    assert "123456" not in caplog.text
    assert square.__wrapped__(2) == 4
    square.cache_clear()
    square(123456)
    assert computed == [123456, 2, 123456]
