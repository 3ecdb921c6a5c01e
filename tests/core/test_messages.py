import dataclasses
import string

import pytest

from core import exercises, fresh, questions, review, thoughts
from core.messages import Message

SOURCES = {
    "questions": (questions.ORDER, *questions.choices()),
    "exercises": (
        *exercises.exercise_numbers(),
        exercises.EXERCISE_REVIEW,
        exercises.exercise_print(),
        exercises.EXERCISE_WRITE,
    ),
    "thoughts": thoughts.THOUGHTS,
    "fresh": tuple(question for seed in range(20) for question in fresh.fresh_questions(seed)),
    "review": (review.overfit_one_batch("", 30).verdict, review.overfit_one_batch("softmax", 30).verdict),
}


def messages(thing):
    if isinstance(thing, Message):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from messages(part)
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from messages(getattr(thing, field.name))


@pytest.mark.parametrize("source", SOURCES)
def test_every_place_in_a_text_has_a_value(source):
    found = list(messages(SOURCES[source]))
    assert found
    for message in found:
        places = {name for _, name, _, _ in string.Formatter().parse(message.text) if name is not None}
        assert places <= set(message.values)
        assert str(message)


def test_a_message_without_places_is_its_text():
    assert str(Message("So it is.")) == "So it is."
    assert str(Message("{a} of {b}", {"a": "1", "b": "2"})) == "1 of 2"
