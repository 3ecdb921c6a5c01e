import pytest
import torch

from core.losses import softmax_twice_floor
from core.mistakes import MISTAKES
from core.review import CHECKLIST, overfit_one_batch, same_gradient, script

PAGES = {"losses", "step", "modes", "metrics", "optimizers", "mistakes", "resume", "train", "review"}


def test_every_item_has_a_test_and_a_page():
    assert len({item.key for item in CHECKLIST}) == len(CHECKLIST)
    for item in CHECKLIST:
        assert item.text
        assert item.test
        assert item.code
        assert item.page in PAGES
        assert not item.mistake or item.mistake in MISTAKES


def test_a_right_loop_learns_one_batch_by_heart():
    right = overfit_one_batch()
    assert right.learned
    assert not right.caught
    assert right.losses[0] > 1
    assert right.true_loss < 0.01


def test_what_overfitting_one_batch_catches_and_what_it_does_not():
    caught = {key for key in MISTAKES if overfit_one_batch(key).caught}
    assert caught == {"softmax", "no-zero-grad"}
    assert overfit_one_batch("softmax").final > softmax_twice_floor(3)


@pytest.mark.parametrize("key", ["", *MISTAKES])
def test_the_verdict_says_so_in_a_sentence(key):
    result = overfit_one_batch(key)
    verdict = str(result.verdict)
    assert f"{result.final:.4f}" in verdict
    assert verdict.startswith("Caught" if result.caught else "Not caught" if key else "A right loop")


def test_accumulation_done_right_is_the_big_batchs_gradient():
    for window in (2, 4, 8):
        assert same_gradient(window) < 1e-6


def test_nothing_is_drawn_from_the_process():
    before = torch.get_rng_state()
    overfit_one_batch("no-eval", 3, 77)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("key", ["", *MISTAKES])
def test_the_script_prints_the_same_number(key, run_script):
    output, _ = run_script(script(key, 30))
    assert output == f"mean loss of the last ten passes: {overfit_one_batch(key, 30).final:.4f}\n"
