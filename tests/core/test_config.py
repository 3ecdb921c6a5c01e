"""Settings from strangers: the good pass, the bad are one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import SettingError, parse_settings, write_setting
from core.trace import FIELDS, StepConfig, replay


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("calls", "flx"),
        ("calls", "f" * 121),
        ("scene", "moon"),
        ("optimizer", ""),
        ("lr", "nan"),
        ("lr", "inf"),
        ("lr", "-1"),
        ("momentum", "1.5"),
        ("seed", "1.5"),
        ("seed", "-1"),
        ("set_to_none", "yes"),
    ],
)
def test_a_bad_value_is_one_sentence_that_says_what_is_allowed(name: str, text: str) -> None:
    values, errors = parse_settings(FIELDS, {name: text})
    assert values == {}
    assert "\n" not in str(errors[0])
    assert str(errors[0]).startswith(f"{name} cannot be ")
    assert "allowed: " in str(errors[0])


@given(st.sampled_from(sorted(FIELDS)), st.text(max_size=200))
def test_any_text_gives_a_value_or_an_error(name: str, text: str) -> None:
    values, errors = parse_settings(FIELDS, {name: text})
    assert len(values) + len(errors) == 1
    if values:
        assert FIELDS[name].parse(name, write_setting(values[name])) == values[name]
    else:
        assert isinstance(errors[0], SettingError)


def test_names_are_read_in_any_case() -> None:
    values, errors = parse_settings(FIELDS, {"optimizer": "AdamW", "scene": "Scalar"})
    assert (values, errors) == ({"optimizer": "adamw", "scene": "scalar"}, [])


def test_what_is_left_out_comes_from_the_scene_and_the_optimizer() -> None:
    assert StepConfig().resolved() == StepConfig("linear", "sgd-momentum", 0.1, 0.9, 0.0)
    assert StepConfig("scalar").resolved() == StepConfig("scalar", "sgd", 0.1, 0.0, 0.0)
    assert StepConfig(optimizer="adamw").resolved().weight_decay == 0.01
    assert StepConfig(optimizer="sgd", momentum=0.9).resolved() == StepConfig().resolved()


def test_a_rate_that_diverges_still_gets_an_answer() -> None:
    last = replay(StepConfig("scalar", lr=100.0).resolved(), "flzbs" * 24)[-1]
    assert last.w != last.w or abs(last.w) > 1e30
