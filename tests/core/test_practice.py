import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.messages import Message
from core.practice import NumberQuestion, PrintQuestion, Trap, parse_number

BANGLA = str.maketrans("0123456789", "০১২৩৪৫৬৭৮৯")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5837", 0.5837),
        (" ০.৫৮৩৭ ", 0.5837),
        ("২,১২,০০৪", 212004),
        ("212,004", 212004),
        ("−০.৮৯", -0.89),
        ("-.5", -0.5),
        ("+3.", 3),
        ("80%", 0.8),
        ("৭৬.৪৭%", 0.7647),
        ("1e-3", 0.001),
    ],
)
def test_numbers_in_both_scripts(text, value):
    assert parse_number(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "abc", "1.2.3", "nan", "inf", "1e999", "0x10", "1_000", "٣", "1 2", "9" * 41, ","]
)
def test_what_is_not_a_number(text):
    assert parse_number(text) is None


@given(st.floats(-1e9, 1e9))
def test_every_number_reads_the_same_in_bangla(value):
    text = f"{value:.6f}"
    assert parse_number(text) == parse_number(text.translate(BANGLA)) == float(text)


@given(st.text(max_size=60))
def test_nothing_typed_raises(text):
    parse_number(text)
    PrintQuestion("k", Message(""), "", "1 2", Message("")).check(text)


NUMBER = NumberQuestion("k", Message("p"), 0.5, 0.01, Message("yes"), Message("no"), (Trap(0.7, Message("naive")),))


@pytest.mark.parametrize(
    ("text", "right", "why"),
    [("0.505", True, "yes"), ("0.52", False, "no"), ("০.৭০", False, "naive"), ("half", None, None)],
)
def test_a_number_is_judged_with_its_reason(text, right, why):
    verdict = NUMBER.check(text)
    assert verdict.right is right
    assert why is None or str(verdict.why) == why


PRINT = PrintQuestion(
    "k",
    Message(""),
    "",
    "0 9.0 | 0.1\n1 9.9 | -0.89",
    Message("yes"),
    traps=(Trap("0 9 0.1 1 0.9 0.01", Message("zero")),),
)


@pytest.mark.parametrize("text", ["0 9.0 | 0.1\n1 9.9 | -0.89", "0, 9, .1, 1, 9.9, −0.89", "০ ৯ ০.১ ১ ৯.৯ -০.৮৯০"])
def test_what_is_printed_may_be_written_freely(text):
    assert PRINT.check(text).right


@pytest.mark.parametrize(
    ("text", "right", "place", "why"),
    [
        ("", None, None, "value by value"),
        ("0 9.0", False, 2, "6 values"),
        ("0 8.0 0.1", False, 1, "place 2"),
        ("0 9 0.1 1 0.9 0.01", False, 4, "zero"),
        ("0 9 0.1 1 9.9 -0.89 7", False, 6, "place 7"),
    ],
)
def test_a_wrong_print_names_the_place(text, right, place, why):
    verdict = PRINT.check(text)
    assert (verdict.right, verdict.place) == (right, place)
    assert why in str(verdict.why)
