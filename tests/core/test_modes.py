import pytest
import torch

from core.fit import Run
from core.model import LAYERS
from core.modes import GRADS, MODES, Cell, ModeConfig, best_epoch, grid
from core.modes_script import modes_script


def cells(config: ModeConfig) -> dict[tuple[str, str], Cell]:
    return {(cell.mode, cell.grad): cell for cell in grid(config)}


@pytest.mark.parametrize("layers", LAYERS)
def test_only_grad_writes_a_graph_whatever_the_mode(layers: str) -> None:
    found = cells(ModeConfig(layers))
    assert list(found) == [(mode, grad) for mode in MODES for grad in GRADS]
    for (mode, grad), cell in found.items():
        assert cell.requires_grad is (grad == "grad")
        assert (cell.grad_fn == "AddmmBackward0") is (grad == "grad")
        assert (cell.saved_bytes > 0) is (cell.saved_tensors > 0) is (grad == "grad")
        assert cell.left_training is (mode == "train")


@pytest.mark.parametrize("layers", LAYERS)
def test_only_the_mode_decides_what_the_layers_do(layers: str) -> None:
    found = cells(ModeConfig(layers))
    for mode in MODES:
        assert len({found[mode, grad].losses for grad in GRADS}) == 1
        for grad in GRADS:
            cell = found[mode, grad]
            assert cell.steady is (mode == "eval" or layers == "batchnorm")
            assert cell.statistics_moved is (None if layers == "dropout" else mode == "train")


def test_eval_measures_what_the_run_measured() -> None:
    run = Run()
    while not run.done:
        run.epoch()
    assert cells(ModeConfig())["eval", "no_grad"].losses == (run.stopper.best_val,) * 2


def test_what_dropout_makes_autograd_keep() -> None:
    found = cells(ModeConfig())
    # In eval: the outputs of both ReLU layers, 200 x 128, and log_softmax's, 200 x 3, with a total weight a batch.
    assert found["eval", "grad"].saved_bytes == (2 * 200 * 128 + 200 * 3 + 4) * 4
    # In train dropout keeps its mask, and the next layer its output.
    assert found["train", "grad"].saved_bytes > 2 * found["eval", "grad"].saved_bytes


def test_measuring_again_draws_other_masks_and_the_same_config_the_same() -> None:
    first, again = cells(ModeConfig()), cells(ModeConfig(again=1))
    assert first["train", "no_grad"].losses != again["train", "no_grad"].losses
    assert first["eval", "no_grad"].losses == again["eval", "no_grad"].losses
    grid.cache_clear()
    assert cells(ModeConfig()) == first


def test_no_dropout_no_noise() -> None:
    assert cells(ModeConfig(dropout=0.0))["train", "no_grad"].steady


def test_the_default_generator_and_the_grad_mode_are_left_alone() -> None:
    before = torch.get_rng_state()
    grid(ModeConfig(again=2))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@pytest.mark.parametrize("layers", LAYERS)
def test_only_inference_mode_bars_the_logits_from_later_graphs(layers: str) -> None:
    for (_, grad), cell in cells(ModeConfig(layers)).items():
        assert ("Inference tensors" in (cell.later_error or "")) is (grad == "inference_mode")


@pytest.mark.parametrize("config", [ModeConfig("both", again=3), ModeConfig("dropout", 0.5, seed=2)])
def test_the_script_prints_the_same_numbers(config: ModeConfig, run_script) -> None:
    first, *lines = run_script(modes_script(config))[0].splitlines()
    assert first == f"best epoch {best_epoch(config)}"
    names = {"grad": "enable_grad"}
    assert lines == [
        f"{cell.mode:<5} {names.get(cell.grad, cell.grad):<14} val loss {cell.losses[0]:.4f} {cell.losses[1]:.4f}"
        f"  requires_grad {cell.requires_grad}  grad_fn {cell.grad_fn}  kept {cell.saved_bytes} bytes"
        f"  statistics moved {bool(cell.statistics_moved)}  left in {'train' if cell.left_training else 'eval'}"
        f"  later graph {'RuntimeError' if cell.later_error else 'allowed'}"
        for cell in grid(config)
    ]
