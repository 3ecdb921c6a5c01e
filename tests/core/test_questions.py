import itertools
import math

import pytest
import torch

from core.questions import ORDER, choices
from core.trace import StepConfig, replay

CHOICES = {question.key: question for question in choices()}


def right(key):
    (option,) = [option for option in CHOICES[key].options if option.right]
    return str(option.text)


def test_six_questions_of_four_options_one_of_them_right_each_with_a_reason():
    assert len(CHOICES) == 6
    for question in CHOICES.values():
        assert len(question.options) == 4
        assert [option.right for option in question.options].count(True) == 1
        reasons = [str(option.why) for option in question.options]
        assert len(set(reasons)) == 4
        assert all(len(reason) > 20 for reason in reasons)
        assert [question.check(i).right for i in range(4)] == [option.right for option in question.options]


def test_answers_that_are_numbers_are_the_lessons():
    assert right("three-batches") == "0.7647"
    assert right("softmax-floor") == "0.551"
    assert f"{math.log(3):.3f}" in [str(option.text) for option in CHOICES["softmax-floor"].options]


def test_answers_that_pytorch_can_confirm():
    assert replay(StepConfig(optimizer="adamw"), "flbzs")[-1].outcome == "nothing"
    assert right("zero-grad-before-step").startswith("Nothing changes")
    torch.nn.CrossEntropyLoss()(torch.zeros(32, 3), torch.zeros(32, dtype=torch.int64))
    assert "(32,), int64" in right("cross-entropy-input")


def test_only_the_right_order_is_right_and_every_other_has_a_reason():
    count = len(ORDER.items)
    for order in itertools.permutations(range(count)):
        verdict = ORDER.check(order)
        assert verdict.right is (order == tuple(range(count)))
        if not verdict.right:
            assert order[verdict.place] != verdict.place
            assert order[: verdict.place] == tuple(range(verdict.place))


@pytest.mark.parametrize("seed", range(20))
def test_a_shuffle_is_seeded_and_never_the_answer(seed):
    order = ORDER.shuffled(seed)
    assert order == ORDER.shuffled(seed)
    assert sorted(order) == list(range(len(ORDER.items)))
    assert not ORDER.check(order).right
