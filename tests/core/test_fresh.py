import pytest
import torch

from core.fresh import PROGRAMS, fresh_questions
from core.practice import ChoiceQuestion, NumberQuestion, PrintQuestion
from core.rng import numpy_generator

SEEDS = range(30)


def test_the_same_ten_for_a_class_and_others_for_another():
    first = fresh_questions(5)
    fresh_questions.cache_clear()
    assert fresh_questions(5) == first
    assert fresh_questions(6) != first
    assert len({question.key for question in first}) == 10
    assert {type(question) for question in first} == {NumberQuestion, ChoiceQuestion, PrintQuestion}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_question_can_be_answered_and_every_wrong_answer_is_explained(seed):
    for question in fresh_questions(seed):
        str(question.prompt)
        if isinstance(question, NumberQuestion):
            assert question.check(f"{question.answer:.4f}").right
            for trap in question.traps:
                verdict = question.check(f"{trap.answer:.6f}")
                assert not verdict.right
                assert verdict.why in [t.why for t in question.traps]
        elif isinstance(question, ChoiceQuestion):
            assert [option.right for option in question.options].count(True) == 1
            assert all(str(option.why) for option in question.options)
        else:
            assert question.check(question.answer).right
            for trap in question.traps:
                assert not question.check(trap.answer).right


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(12))
def test_the_shown_code_prints_what_its_twin_says(make, seed, run_script):
    question = make("k", numpy_generator(seed))
    printed, _ = run_script(question.code)
    assert question.check(printed).right, (printed, question.answer)


def test_each_thing_that_a_call_can_do_comes_up():
    questions = [q for seed in SEEDS for q in fresh_questions(seed) if isinstance(q, ChoiceQuestion)]
    answers = {next(i for i, option in enumerate(q.options) if option.right) for q in questions}
    assert answers == set(range(6))


def test_nothing_is_drawn_from_the_process():
    before = torch.get_rng_state()
    fresh_questions(12345)
    assert torch.equal(torch.get_rng_state(), before)
