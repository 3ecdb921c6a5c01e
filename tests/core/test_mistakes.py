import statistics
import threading

import pytest
import torch

from core.fit import Run
from core.fit_config import FitConfig
from core.losses import softmax_twice_floor
from core.mistake_code import code_pair, script
from core.mistakes import EPOCHS, MISTAKES, MistakeRun, run_mistake


def both(key, seed=0):
    return run_mistake(key, False, seed), run_mistake(key, True, seed)


def test_the_right_loop_is_the_run_of_fit_to_the_bit():
    run = Run(FitConfig(patience=100, max_epochs=EPOCHS))
    losses = []
    while not run.done:
        losses.append(run.epoch().val_loss)
    assert list(run_mistake("no-eval", False).shown_val_losses) == losses


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_softmax_twice_leaves_accuracy_and_doubles_the_true_val_loss(seed):
    right, wrong = both("softmax", seed)
    assert wrong.val_loss >= 2 * right.val_loss
    assert abs(wrong.val_acc - right.val_acc) <= 0.03
    assert min(wrong.shown_val_losses) > softmax_twice_floor(3)
    assert sum(wrong.histogram()) == sum(right.histogram()) == 200
    assert wrong.histogram()[-1] > right.histogram()[-1]
    assert statistics.fmean(wrong.confidences) > statistics.fmean(right.confidences) + 0.1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_zero_grad_the_gradient_norm_ends_tens_of_times_larger(seed):
    right, wrong = both("no-zero-grad", seed)
    assert wrong.grad_norms[-1] > 20 * right.grad_norms[-1]
    assert wrong.grad_norms[0] == right.grad_norms[0]
    assert wrong.val_loss > right.val_loss


def test_without_eval_three_measurements_are_three():
    right, wrong = both("no-eval")
    assert len(set(right.val_three_times)) == 1
    assert len(set(wrong.val_three_times)) == 3


def test_the_naive_mean_is_off_on_the_very_same_model():
    right, wrong = both("naive-mean")
    assert wrong.true_val_losses == right.true_val_losses
    assert abs(wrong.shown_val_losses[-1] - wrong.val_loss) > 0.01
    assert right.shown_val_losses[-1] == pytest.approx(right.val_loss, abs=1e-5)


def test_scheduler_first_loses_an_epoch_at_the_full_rate_and_pytorch_says_so():
    right, wrong = both("scheduler-first")
    assert (right.lrs.count(3e-3), wrong.lrs.count(3e-3)) == (4 * 7, 3 * 7)
    assert right.warning is None
    assert "skipping the first value" in wrong.warning


def test_best_weights_by_reference_are_the_last_ones():
    right, wrong = both("best-by-reference")
    assert wrong.true_val_losses == right.true_val_losses
    assert right.kept_val_loss == pytest.approx(min(right.true_val_losses))
    assert wrong.kept_val_loss == wrong.val_loss > right.kept_val_loss


def test_an_undivided_loss_makes_the_gradient_four_times_as_long():
    right, wrong = both("undivided")
    assert wrong.grad_norms[0] == pytest.approx(4 * right.grad_norms[0], rel=1e-5)
    assert statistics.median(wrong.grad_norms) > 2.5 * statistics.median(right.grad_norms)
    assert abs(wrong.val_acc - right.val_acc) <= 0.03


def test_a_dropped_window_makes_fewer_steps():
    right, wrong = both("window-dropped")
    assert (len(right.grad_norms), len(wrong.grad_norms)) == (7 * EPOCHS, 6 * EPOCHS)


@pytest.mark.parametrize("key", MISTAKES)
def test_the_loops_differ_in_one_line_and_both_compile(key):
    pair = code_pair(key)
    assert len(pair.right) == len(pair.wrong)
    moved = key == "scheduler-first"
    assert len(pair.marked) == (2 if moved else 1)
    for lines in (pair.right, pair.wrong):
        compile("\n".join(lines), "loop", "exec")
    assert set(MISTAKES[key].signs) <= set(MistakeRun.__dataclass_fields__)


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
@pytest.mark.parametrize("key", MISTAKES)
def test_the_script_prints_the_same_numbers(key, wrong, run_script):
    text = script(key, wrong=wrong, epochs=4)
    pair = code_pair(key, epochs=4)
    assert "\n".join(pair.wrong if wrong else pair.right) in text
    output, complaints = run_script(text)
    run = run_mistake(key, wrong, epochs=4)
    three, logits, confidence, norms, steps, kept = output.splitlines()
    assert three.split(": ")[1].split() == [f"{loss:.4f}" for loss in run.val_three_times]
    assert logits == f"val loss of the logits: {run.val_loss:.4f}, accuracy {run.val_acc:.3f}"
    assert confidence == f"mean confidence: {run.confidence:.3f}"
    first, last = run.grad_norms[0], run.grad_norms[-1]
    assert norms == f"gradient norm: first {first:.2f}, median {run.median_grad_norm:.2f}, last {last:.2f}"
    assert steps == f"steps {len(run.grad_norms)}, at the first rate {run.steps_at_first_rate}"
    assert sum(run.histogram()) == len(run.confidences)
    assert kept.startswith(f"with the best weights: {run.kept_val_loss:.4f}")
    assert (run.warning or "") in complaints


def test_visitors_training_at_once_get_the_numbers_of_those_who_train_alone():
    cases = [("scheduler-first", True), ("no-eval", True), ("no-zero-grad", False), ("undivided", True)]
    alone = {case: run_mistake(*case, 5, 3) for case in cases}
    run_mistake.cache_clear()
    together = {}
    threads = [
        threading.Thread(target=lambda case=case: together.__setitem__(case, run_mistake(*case, 5, 3)))
        for case in cases
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_nothing_is_drawn_from_the_process():
    before = torch.get_rng_state()
    run_mistake("no-eval", True, 99, 1)
    assert torch.equal(torch.get_rng_state(), before)
