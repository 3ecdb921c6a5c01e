import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from core.exercises import EXERCISE_REVIEW, EXERCISE_WRITE, exercise_numbers, exercise_print
from core.rng import seeded
from core.thoughts import THOUGHTS

NUMBERS = {question.key.removeprefix("exercise-1-"): question for question in exercise_numbers()}


def test_the_lessons_numbers():
    assert f"{NUMBERS['naive'].answer:.4f}" == "0.5271"
    assert f"{NUMBERS['weighted'].answer:.4f}" == "0.5837"
    assert round(NUMBERS["kib"].answer) == 207
    assert f"{NUMBERS['rng'].answer:.1f}" == "9.9"


def test_rounded_answers_in_bangla_digits_are_right():
    for key, text in {"naive": "০.৫২৭", "weighted": "০.৫৮৪", "kib": "২০৭", "rng": "৯.৯"}.items():
        assert NUMBERS[key].check(text).right


def test_a_trap_is_never_within_reach_of_the_answer_and_has_its_own_reason():
    for question in NUMBERS.values():
        for trap in question.traps:
            assert abs(trap.answer - question.answer) > question.tolerance
            assert question.check(str(trap.answer)).why == trap.why


def test_the_output_to_foresee_is_the_lessons(run_script):
    question = exercise_print()
    assert question.answer == "0 9.0 | 0.1\n1 9.9 | -0.89\n2 1.89 | -1.079"
    printed, _ = run_script(question.code)
    assert printed.strip() == question.answer
    assert question.check(printed).right
    assert "zero_grad" in str(question.check("0 9 0.1 1 0.9 0.01 2 0.09 0.001").why)


def test_the_loop_to_criticize_has_six_faults_and_two_things_that_are_right():
    holds = [statement.holds for statement in EXERCISE_REVIEW.statements]
    assert holds.count(True) == 6
    every = {i for i, fault in enumerate(holds) if fault}
    assert all(verdict.right for verdict in EXERCISE_REVIEW.check(every))
    assert [verdict.right for verdict in EXERCISE_REVIEW.check(set())] == [not fault for fault in holds]


def test_the_model_answer_does_what_it_asks_for():
    names = {"torch": torch}
    exec(compile(EXERCISE_WRITE.answer, "answer", "exec"), names)  # noqa: S102 - our own constant
    with seeded(0):
        model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5))
        x, y = torch.randn(10, 2), torch.arange(10) % 3
    for training in (True, False):
        model.train(training)
        loss, accuracy = names["evaluate"](model, DataLoader(TensorDataset(x, y), batch_size=4), F.cross_entropy)
        assert model.training is training
        whole = model.eval()(x)
        assert abs(loss - F.cross_entropy(whole, y).item()) < 1e-6
        assert accuracy == (whole.argmax(1) == y).sum().item() / 10


def test_five_questions_to_think_about():
    assert len({thought.key for thought in THOUGHTS}) == 5
    assert all(thought.answer and thought.takeaway for thought in THOUGHTS)
