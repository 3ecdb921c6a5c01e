"""A run: epochs with validation, a scheduler, early stopping, and checkpoints that a run can go on from to the bit."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.batches import ShuffledLoader, draw_base_seed, in_order
from core.checkpoint import SKIPPABLE, Checkpoint, CheckpointError, check
from core.config import SettingError
from core.data import Dataset, bazarghar
from core.fit_config import FREE_ON_RESUME, FitConfig, config_of
from core.loop import TrainingLoop, evaluate
from core.messages import N_
from core.model import make_model
from core.records import EpochRecord, StepRecord, ending
from core.rng import RandomStream


@dataclass
class EarlyStopping:
    """Stops a run whose val loss has had `patience` epochs to get below its best, and did not."""

    patience: int
    best_val: float = math.inf
    best_epoch: int = 0
    bad_epochs: int = 0

    @property
    def stopped(self) -> bool:
        return self.bad_epochs >= self.patience

    def update(self, epoch: int, val_loss: float) -> bool:
        """Take note of an epoch; True if it is the best so far."""
        if val_loss < self.best_val:
            self.best_val, self.best_epoch, self.bad_epochs = val_loss, epoch, 0
            return True
        self.bad_epochs += 1
        return False


class Run:
    """A training run that can be taken a step or an epoch at a time, left alone between, and saved anywhere.

    `epochs` counts the finished epochs and `batch` the steps made of the one under way, 0 to `len(batches)`; `history`
    holds the records of the epochs finished here, and `best_weights` a copy of the weights of the best of them. Only a
    call trains: nothing runs in between, and no call returns while it holds the gate of `core.rng`.
    """

    def __init__(self, config: FitConfig | None = None, data: Dataset | None = None) -> None:
        self.config = config or FitConfig()
        self.data = data or bazarghar()
        n, features = self.data.x.shape
        if self.config.layers != "dropout" and n % self.config.batch_size == 1:
            allowed = N_("a size that leaves the last batch more than one row, as BatchNorm needs")
            raise SettingError("batch_size", str(self.config.batch_size), allowed)
        self.torch_rng = RandomStream(self.config.seed)
        with self.torch_rng.active():
            model = make_model(
                features, len(self.data.classes), self.config.hidden, self.config.dropout, self.config.layers
            )
        self.loop = TrainingLoop(model, F.cross_entropy, self.config.make_optimizer(model))
        self.scheduler = self.config.make_scheduler(self.loop.optimizer)
        self.loader = ShuffledLoader(n, self.config.batch_size, self.config.seed)
        self.stopper = EarlyStopping(self.config.patience)
        self.val_batches = in_order(self.data.x_val, self.data.y_val, self.config.batch_size)
        self.epochs = 0
        self.history: list[EpochRecord] = []
        self.best_weights: dict[str, Tensor] | None = None
        self._stopper_before = copy.copy(self.stopper)
        self._between_epochs()

    def _between_epochs(self) -> None:
        self.batch = 0
        self._loss_sum, self._correct = 0.0, 0
        self._order: tuple[Tensor, ...] = ()
        self._epoch_rng: Tensor | None = None

    @property
    def model(self) -> nn.Module:
        return self.loop.model

    @property
    def lr(self) -> float:
        return self.loop.optimizer.param_groups[0]["lr"]

    @property
    def batches(self) -> int:
        """How many batches an epoch has."""
        return math.ceil(self.loader.n / self.loader.batch_size)

    @property
    def ending(self) -> str | None:
        """Why the run is over: "early stop" or "max_epochs"; None while it is not."""
        if self.stopper.stopped:
            return "early stop"
        return "max_epochs" if self.epochs >= self.config.max_epochs else None

    @property
    def done(self) -> bool:
        return self.ending is not None

    def step(self) -> StepRecord | None:
        """Train on the next batch; None when the epoch has no more, and `epoch()` is what comes next."""
        self._require_more()
        if self.batch == self.batches:
            return None
        with self.torch_rng.active():
            lr, loss = self.lr, self._train_batch()
        rows = self._order[self.batch - 1]
        return StepRecord(self.epochs + 1, self.batch, tuple(rows.tolist()), lr, loss)

    def epoch(self) -> EpochRecord:
        """Finish the epoch under way: the rest of its batches, then validation, the scheduler, and early stopping.

        They go in this order so that nothing that a checkpoint holds is an epoch older than the rest of it.
        """
        self._require_more()
        lr = self.lr
        with self.torch_rng.active():
            while self.batch < self.batches:
                self._train_batch()
            draw_base_seed()
            val_loss, val_acc = evaluate(self.model, self.val_batches, self.loop.loss_fn)
        if self.config.scheduler == "plateau":
            self.scheduler.step(val_loss)
        elif self.scheduler is not None:
            self.scheduler.step()
        self._stopper_before = copy.copy(self.stopper)
        best = self.stopper.update(self.epochs + 1, val_loss)
        if best:
            self.best_weights = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.epochs += 1
        record = EpochRecord(
            epoch=self.epochs,
            train_loss=self._loss_sum / self.loader.n,
            train_acc=self._correct / self.loader.n,
            val_loss=val_loss,
            val_acc=val_acc,
            lr=lr,
            best=best,
            best_epoch=self.stopper.best_epoch,
            best_val=self.stopper.best_val,
            bad_epochs=self.stopper.bad_epochs,
            order=sha256(b"".join(rows.numpy().tobytes() for rows in self._order)).hexdigest()[:8],
            stopped=self.stopper.stopped,
        )
        self.history.append(record)
        self._between_epochs()
        return record

    def advance(self, epochs: int, batch: int = 0) -> None:
        """Train until so many epochs are finished and `batch` batches of the next are trained, or the run is over."""
        while self.epochs < epochs and not self.done:
            self.epoch()
        while self.epochs == epochs and self.batch < min(batch, self.batches) and not self.done:
            self.step()

    def _require_more(self) -> None:
        if self.done:
            raise RuntimeError(f"the run is over ({self.ending}) after epoch {self.epochs}")

    def _begin_epoch(self) -> None:
        self._epoch_rng = self.loader.state
        self._order = self.loader.draw()

    def _train_batch(self) -> float:
        """Train on the next batch and return its loss. The caller holds the gate."""
        if not self._order:
            self._begin_epoch()
        rows = self._order[self.batch]
        xb, yb = self.data.x[rows], self.data.y[rows]
        self.loop.batch(xb, yb)
        loss = self.loop.loss_tensor.item()
        self._loss_sum += loss * len(rows)
        self._correct += (self.loop.logits.argmax(1) == yb).sum().item()
        self.batch += 1
        return loss

    def checkpoint(self, stopper_first: bool = False) -> Checkpoint:
        """Everything that the rest of the run depends on, as copies; `core.checkpoint.PARTS` groups its keys.

        `stopper_first` makes the mistake of saving what early stopping knew before it was told of the last epoch.
        """
        stopper = self._stopper_before if stopper_first and not self.batch else self.stopper
        return {
            "config": asdict(self.config),
            "data": self.data.digest,
            "epoch": self.epochs,
            "batch": self.batch,
            "model": {name: value.clone() for name, value in self.model.state_dict().items()},
            "optimizer": copy.deepcopy(self.loop.optimizer.state_dict()),
            "scheduler": None if self.scheduler is None else copy.deepcopy(self.scheduler.state_dict()),
            "best_val": stopper.best_val,
            "best_epoch": stopper.best_epoch,
            "bad_epochs": stopper.bad_epochs,
            "torch_rng": self.torch_rng.state.clone(),
            "loader_rng": self.loader.state,
            "epoch_rng": self._epoch_rng if self.batch else None,
            "loss_sum": self._loss_sum,
            "correct": self._correct,
        }

    @classmethod
    def resume(
        cls,
        checkpoint: Checkpoint,
        *,
        config: FitConfig | None = None,
        data: Dataset | None = None,
        skip: Collection[str] = (),
        rng_first: bool = False,
    ) -> Run:
        """Go on from a checkpoint; raises CheckpointError if it is not one, or is of other data or settings.

        `config` may differ from the checkpoint's own in `FREE_ON_RESUME`. `skip` names the parts, of `SKIPPABLE`, to
        leave as a new run has them. `rng_first` makes the mistake of restoring the random states before the batches
        already seen are skipped, so that the skipping draws from what should have come after it.
        """
        own = config_of(checkpoint)
        config = config or own
        for name, value in asdict(config).items():
            saved = getattr(own, name)
            if name not in FREE_ON_RESUME and value != saved:
                template = N_("The file is of a run with {name} {saved}, not {value}.")
                raise CheckpointError(template, name=name, saved=saved, value=value)
        run = cls(config, data)
        run._check(checkpoint)
        kept = set(SKIPPABLE) - set(skip)
        state = copy.deepcopy(checkpoint)  # load_state_dict keeps the optimizer's tensors, and training writes to them
        run.model.load_state_dict(state["model"])
        if "optimizer" in kept:
            run.loop.optimizer.load_state_dict(state["optimizer"])
        if "scheduler" in kept and run.scheduler is not None:
            run.scheduler.load_state_dict(state["scheduler"])
        if "loop" in kept:
            run.epochs = state["epoch"]
            run.stopper = EarlyStopping(config.patience, state["best_val"], state["best_epoch"], state["bad_epochs"])
            run._stopper_before = copy.copy(run.stopper)
        if rng_first:
            run._restore_rng(state, kept)
            run._restore_position(state, kept, from_its_own_state=False)
        else:
            run._restore_position(state, kept, from_its_own_state=True)
            run._restore_rng(state, kept)
        return run

    def _restore_rng(self, state: Checkpoint, kept: Collection[str]) -> None:
        if "torch_rng" in kept:
            self.torch_rng.state = state["torch_rng"]
        if "loader_rng" in kept:
            self.loader.state = state["loader_rng"]

    def _restore_position(self, state: Checkpoint, kept: Collection[str], from_its_own_state: bool) -> None:
        """Take up the epoch under way: draw its order again, and skip the batches already seen."""
        if "position" not in kept or not state["batch"]:
            return
        before = self.loader.state
        if from_its_own_state:
            self.loader.state = state["epoch_rng"]
        self._begin_epoch()
        if from_its_own_state:
            self.loader.state = before
        self.batch = state["batch"]
        self._loss_sum, self._correct = state["loss_sum"], state["correct"]
        # The steps were made, though not by this object: without this the scheduler warns that it comes before them.
        self.loop.optimizer._opt_called = True

    def _check(self, state: Checkpoint) -> None:
        """Compare with what a run of this config and data saves, key by key."""
        expected = self.checkpoint()
        expected["config"] = state["config"]
        if state.get("data") != expected["data"]:
            raise CheckpointError(N_("The file is of a run on other data."))
        if state.get("epoch_rng") is not None:
            expected["epoch_rng"] = expected["loader_rng"]
        optimizer = state.get("optimizer")
        if isinstance(optimizer, dict) and optimizer.get("state"):
            expected["optimizer"]["state"] = _optimizer_tensors(self.config, self.model)
        check(state, expected)
        for key in ("torch_rng", "loader_rng", "epoch_rng"):
            try:
                if state[key] is not None:
                    torch.Generator().set_state(state[key])
            except RuntimeError:
                raise CheckpointError(N_("{key} is not the state of a generator."), key=key) from None
        group, own = optimizer["param_groups"][0], expected["optimizer"]["param_groups"][0]
        for name in own:
            if name not in ("lr", "initial_lr") and group[name] != own[name]:
                raise CheckpointError(N_("{key} cannot be {value}."), key=f"param_groups.{name}", value=group[name])
        for name, highest in (("epoch", 100), ("batch", self.batches)):
            if state[name] > highest:
                raise CheckpointError(N_("{key} cannot be {value}."), key=name, value=state[name])
        if bool(state["batch"]) != (state["epoch_rng"] is not None):
            raise CheckpointError(N_("{key} has no key {name}."), key="position", name="epoch_rng")


def _optimizer_tensors(config: FitConfig, model: nn.Module) -> dict[int, dict[str, Tensor | None]]:
    """What the optimizer keeps for each parameter once it has made a step."""
    names = {"adamw": ("exp_avg", "exp_avg_sq"), "sgd-momentum": ("momentum_buffer",), "sgd": ()}[config.optimizer]
    states: dict[int, dict[str, Tensor | None]] = {}
    for index, parameter in enumerate(model.parameters()):
        states[index] = {"step": torch.tensor(0.0)} if config.optimizer == "adamw" else {}
        states[index] |= {name: parameter.detach() for name in names}
    return states


def fit(
    config: FitConfig | None = None, resume_from: Checkpoint | None = None, data: Dataset | None = None
) -> Iterator[EpochRecord]:
    """Train until early stopping or `max_epochs`: one record an epoch; none if `resume_from` is of a finished run."""
    run = Run(config, data) if resume_from is None else Run.resume(resume_from, config=config, data=data)
    while not run.done:
        yield run.epoch()


def ending_line(run: Run) -> str:
    """The last line of a finished run's log."""
    return ending(run.stopper.stopped, run.epochs, run.stopper.best_epoch, run.stopper.bad_epochs)
