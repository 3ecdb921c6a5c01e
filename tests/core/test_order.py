"""The right order as an automaton, and how a string of calls falls into batches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.order import automaton, next_call, this_batch
from core.scenes import SCENES


@pytest.mark.parametrize("scene", SCENES.values(), ids=lambda scene: scene.name)
def test_following_next_from_the_start_makes_the_right_order_again_and_again(scene) -> None:
    calls = ""
    for _ in range(3 * len(scene.order)):
        calls += next_call(scene.order, calls)
    assert calls == scene.order * 3


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ("z", "f"),
        ("zfl", "b"),  # zero_grad first: lawful, and not asked for again
        ("fl", "z"),
        ("flb", "s"),  # backward without zero_grad: it is too late for it now
        ("flzbb", "s"),
        ("flzs", "f"),
        ("flzsb", "f"),
    ],
)
def test_next_after_calls_out_of_turn(calls: str, wanted: str) -> None:
    assert next_call("flzbs", calls) == wanted


@given(st.text(alphabet="flzbs", max_size=30), st.sampled_from([scene.order for scene in SCENES.values()]))
def test_whatever_was_called_the_right_order_reaches_a_step(calls: str, order: str) -> None:
    made, rest = this_batch(order, calls)
    assert calls.endswith(made)
    assert (made + rest).count("s") >= 1
    assert len(rest) <= len(order)


def test_a_batch_ends_when_a_call_comes_round_again_after_a_step() -> None:
    assert this_batch("flzbs", "flzbsfl") == ("fl", "zbs")
    assert this_batch("flzbs", "flzsb") == ("flzsb", "")  # step before backward, as its programmer wrote it
    assert this_batch("flzbs", "flzsbf") == ("f", "lzbs")


def test_every_state_knows_where_each_call_leads() -> None:
    table = automaton("zflbflbs")
    assert len(table["next"]) == len(table["go"])
    assert all(0 <= state < len(table["go"]) for moves in table["go"] for state in moves.values())
