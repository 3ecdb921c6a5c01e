"""Time of an epoch of `core.fit` and of other trainers, as a ratio to the textbook loop: python -m tests.core.bench_fit

Each trainer does the same work on the same data for the same number of epochs, in turn, several times over; the ratio
is of the fastest rounds, which the rest of the machine disturbs least. Peers are timed only if they are installed.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from core.data import bazarghar
from core.fit import Run
from core.fit_config import FitConfig
from core.model import make_model
from core.process import one_thread
from core.rng import seeded
from tests.core import textbook

EPOCHS, ROUNDS = 30, 7


def run_textbook() -> None:
    with seeded(0):
        textbook.train(bazarghar(), EPOCHS)


def run_fit() -> None:
    run = Run(FitConfig(patience=100, max_epochs=EPOCHS))
    while not run.done:
        run.epoch()


def _parts() -> tuple[nn.Module, torch.optim.Optimizer, DataLoader, DataLoader]:
    data = bazarghar()
    model = make_model(5, 3)
    train = DataLoader(TensorDataset(data.x, data.y), batch_size=64, shuffle=True)
    val = DataLoader(TensorDataset(data.x_val, data.y_val), batch_size=64)
    return model, torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2), train, val


def run_ignite() -> None:
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.metrics import Accuracy, Loss

    model, optimizer, train, val = _parts()
    loss_fn = nn.CrossEntropyLoss()

    def both(_x: object, y: object, logits: object, loss: torch.Tensor) -> tuple[object, object]:
        return logits, y

    trainer = create_supervised_trainer(model, optimizer, loss_fn, output_transform=both)
    evaluator = create_supervised_evaluator(model, metrics={"loss": Loss(loss_fn), "accuracy": Accuracy()})
    for name, metric in {"loss": Loss(loss_fn), "accuracy": Accuracy()}.items():
        metric.attach(trainer, name)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(val))
    trainer.run(train, max_epochs=EPOCHS)


def run_skorch() -> None:
    from skorch import NeuralNetClassifier
    from skorch.callbacks import EpochScoring
    from skorch.helper import predefined_split

    data = bazarghar()
    net = NeuralNetClassifier(
        make_model(5, 3),
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.AdamW,
        optimizer__weight_decay=1e-2,
        lr=3e-3,
        batch_size=64,
        max_epochs=EPOCHS,
        iterator_train__shuffle=True,
        train_split=predefined_split(TensorDataset(data.x_val, data.y_val)),
        callbacks=[EpochScoring("accuracy", on_train=True, name="train_acc", lower_is_better=False)],
        verbose=0,
    )
    net.fit(TensorDataset(data.x, data.y), data.y.numpy())


def run_lightning() -> None:
    import lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    model, optimizer, train, val = _parts()

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def _measure(self, batch: list[torch.Tensor], name: str) -> torch.Tensor:
            logits = self.model(batch[0])
            loss = nn.functional.cross_entropy(logits, batch[1])
            accuracy = (logits.argmax(1) == batch[1]).float().mean()
            self.log_dict({f"{name}_loss": loss, f"{name}_acc": accuracy}, on_step=False, on_epoch=True)
            return loss

        def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
            return self._measure(batch, "train")

        def validation_step(self, batch: list[torch.Tensor]) -> None:
            self._measure(batch, "val")

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return optimizer

    lightning.Trainer(
        max_epochs=EPOCHS,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    ).fit(Module(), train, val)


TRAINERS: dict[str, Callable[[], None]] = {
    "textbook": run_textbook,
    "fit": run_fit,
    "ignite": run_ignite,
    "skorch": run_skorch,
    "lightning": run_lightning,
}


def measure(names: list[str], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds of the fastest round of each trainer; a trainer whose package is missing is left out."""
    fastest: dict[str, float] = {}
    for name in names:
        try:
            TRAINERS[name]()  # the first round warms up
        except ModuleNotFoundError:
            continue
        fastest[name] = float("inf")
    for _ in range(rounds):
        for name in fastest:
            start = time.perf_counter()
            TRAINERS[name]()
            fastest[name] = min(fastest[name], time.perf_counter() - start)
    return fastest


def slowest_of_twenty(tick: float = 0.25, epochs: int = 12) -> float:
    """How much longer than its pace, four epochs a second, the slowest of twenty live runs takes."""

    def visit(seed: int) -> float:
        run, start = Run(FitConfig(seed=seed, patience=100, max_epochs=epochs)), time.perf_counter()
        while not run.done:
            begin = time.perf_counter()
            run.epoch()
            time.sleep(max(0.0, tick - (time.perf_counter() - begin)))
        return time.perf_counter() - start

    with ThreadPoolExecutor(20) as pool:
        return max(pool.map(visit, range(20))) / (tick * epochs)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    one_thread()
    seconds = measure(list(TRAINERS))
    for name, value in seconds.items():
        print(f"{name:<10}{value / EPOCHS * 1000:8.2f} ms an epoch{value / seconds['textbook']:8.2f}")
    for name in TRAINERS.keys() - seconds.keys():
        print(f"{name:<10}not installed")
    print(f"twenty visitors training live at once: the slowest takes {slowest_of_twenty():.2f} times its own pace")
