"""A run that is interrupted and resumed, beside the same run left alone: equal to the bit, or where they part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import torch
from torch import Tensor

from core.checkpoint import SKIPPABLE, Checkpoint, CheckpointError, load, same_leaf, to_bytes
from core.config import Choice, Field, Number, SettingError
from core.customers_script import customer_rows
from core.fit import EpochRecord, FitConfig, Run, StepRecord, log_line
from core.messages import N_
from core.run_script import SCHEDULERS, model_lines, optimizer_source
from core.turns import TURNS, heavy

ORDERS = ("right", "rng-before-skip", "stopper-before-update")
"""In which order the trainer saves and resumes; the two wrong ones were shipped by real trainers."""


@dataclass(frozen=True)
class Parts:
    """A list of names, separated by commas, in any order and without repeats; "rng" stands for both generators."""

    names: tuple[str, ...] = SKIPPABLE

    def help(self) -> str:
        return ", ".join((*self.names, "rng"))

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        wanted = {part.strip().lower().replace("-", "_") for part in text.split(",")} - {""}
        if "rng" in wanted:
            wanted = wanted - {"rng"} | {"torch_rng", "loader_rng"}
        if wanted - set(self.names):
            raise SettingError(name, text, "{names}", names=self.help())
        return tuple(part for part in self.names if part in wanted)


FIELDS: dict[str, Field | Parts] = {
    "epoch": Number(0, 100, whole=True),
    "batch": Number(0, 400, whole=True),
    "skip": Parts(),
    "order": Choice(ORDERS),
}
"""What the address may say besides the fields of the run; `write_parts` writes `skip`."""


def write_parts(parts: tuple[str, ...]) -> str:
    return ",".join(parts)


@dataclass(frozen=True)
class ResumeConfig:
    """Where a run is interrupted, and what its resume gets wrong."""

    fit: FitConfig = FitConfig()  # noqa: RUF009 - frozen, so it is safe to share
    epoch: int = 6
    """How many epochs are finished when it is interrupted."""
    batch: int = 0
    """How many batches of the next epoch are trained then."""
    skip: tuple[str, ...] = ()
    order: str = "right"


@dataclass(frozen=True)
class Side:
    """One of the two runs: `steps` and `epochs` from the interruption on, `log` as the command line prints it."""

    steps: tuple[StepRecord, ...]
    epochs: tuple[EpochRecord, ...]
    weights: Mapping[str, Tensor]
    """Those that the run ended with."""
    traces: tuple[str, ...]
    """A hash of the weights after each of `steps`."""

    @property
    def log(self) -> tuple[str, ...]:
        return tuple(map(log_line, self.epochs))


REASONS = {
    "weights": N_("the weights in the file are not those that this run has at that place"),
    "order": N_("the batches hold other rows"),
    "lr": N_("the learning rate is another"),
    "loss": N_("the same rows and the same learning rate, but another loss: other dropout masks"),
    "step": N_("the same rows, rate and loss, but the step moves the weights otherwise: the optimizer has forgotten"),
    "length": N_("every step is the same, but one run ends before the other"),
    "log": N_("every step is the same, but the log counts otherwise"),
}


@dataclass(frozen=True)
class Parting:
    """The first step at which the runs differ; a side is None where its run is over. `reason` is a key of REASONS."""

    reason: str
    full: StepRecord | None
    resumed: StepRecord | None


@dataclass(frozen=True)
class Comparison:
    """The run left alone (`full`) and the resumed one, from the interruption on."""

    before: tuple[EpochRecord, ...]
    """The epochs that both have in common."""
    full: Side
    resumed: Side
    equal_tensors: int
    tensors: int
    largest_difference: float
    parting: Parting | None
    """None if every tensor and every log line is the same."""
    file: bytes
    """The checkpoint as it was saved."""

    @property
    def exact(self) -> bool:
        return self.parting is None

    @property
    def rows(self) -> list[tuple[EpochRecord | None, EpochRecord | None]]:
        """The epochs side by side, in the order in which each run made them; None where one has ended."""
        n = max(len(self.full.epochs), len(self.resumed.epochs))
        full, resumed = (list(side.epochs) + [None] * (n - len(side.epochs)) for side in (self.full, self.resumed))
        return list(zip(full, resumed, strict=True))


def interrupt(config: FitConfig, epoch: int, batch: int, stopper_first: bool = False) -> tuple[Run, Checkpoint]:
    """Train up to there, or to the end if it comes first; the run, and the checkpoint that it would leave."""
    run = Run(config)
    run.advance(epoch, batch)
    return run, run.checkpoint(stopper_first=stopper_first)


@dataclass(frozen=True)
class _Alone:
    """The run left alone: its epochs until the interruption, the file and weights of that moment, and what follows."""

    before: tuple[EpochRecord, ...]
    file: bytes
    weights: Mapping[str, Tensor]
    after: Side


@heavy(16)
def _left_alone(config: FitConfig, epoch: int, batch: int, stopper_first: bool = False) -> _Alone:
    """Kept, since a page compares it with one resume after another."""
    run, checkpoint = interrupt(config, epoch, batch, stopper_first)
    before = tuple(run.history)
    return _Alone(before, to_bytes(checkpoint), checkpoint["model"], _to_the_end(run))


@heavy(16)
def compare(config: ResumeConfig) -> Comparison:
    """Interrupt, save, load, resume and train to the end; and the same without the interruption."""
    alone = _left_alone(config.fit, config.epoch, config.batch, config.order == "stopper-before-update")
    resumed = Run.resume(load(alone.file), skip=config.skip, rng_first=config.order == "rng-before-skip")
    return _beside(alone, resumed, alone.file)


@heavy(64)
def extent(config: FitConfig) -> tuple[int, int]:
    """How many epochs the run has when it is left alone, and how many batches an epoch has."""
    run = Run(config)
    while not run.done:
        run.epoch()
    return run.epochs, run.batches


MOST_EPOCHS_ON = 20
"""So many epochs, at most, does a run go on from a file that came from anywhere."""


@heavy(4)
def compare_file(file: bytes, skip: tuple[str, ...] = (), order: str = "right") -> Comparison:
    """Resume from a file, beside the run of its settings; raises CheckpointError if no run can go on from it."""
    checkpoint = load(file)
    try:
        at = Run.resume(checkpoint)
        config = replace(at.config, max_epochs=min(at.config.max_epochs, max(at.epochs, 1) + MOST_EPOCHS_ON))
        resumed = Run.resume(checkpoint, config=config, skip=skip, rng_first=order == "rng-before-skip")
        return _beside(_left_alone(config, at.epochs, at.batch), resumed, file)
    except CheckpointError:
        raise
    except Exception as error:  # right in kind and shape, but a step of 0 or the like, on which PyTorch stumbles
        raise CheckpointError(N_("No run can go on with the numbers in this file.")) from error


def _beside(alone: _Alone, run: Run, file: bytes) -> Comparison:
    """Train `run`, which was resumed from `file`, to the end, and compare it with the one left alone."""
    same_start = _all_equal(alone.weights, run.model.state_dict())
    full, resumed = alone.after, _to_the_end(run)
    equal = [same_leaf(full.weights[name], resumed.weights[name]) for name in full.weights]
    if same_start:
        parting = _parting(full, resumed, all(equal))
    else:
        parting = Parting("weights", *(side.steps[0] if side.steps else None for side in (full, resumed)))
    difference = _largest_difference(full.weights, resumed.weights)
    return Comparison(alone.before, full, resumed, sum(equal), len(equal), difference, parting, file)


def _all_equal(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> bool:
    return all(same_leaf(a[name], b[name]) for name in a)


def _largest_difference(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> float:
    """Over all numbers; those that are NaN, or infinite alike, on both sides do not differ."""
    largest = 0.0
    for name, left in a.items():
        right = b[name]
        differs = (left != right) & ~(left.isnan() & right.isnan())
        if differs.any():
            largest = max(largest, (left - right)[differs].abs().nan_to_num(torch.inf).max().item())
    return largest


def _to_the_end(run: Run) -> Side:
    start = len(run.history)
    steps, traces = [], []
    while not run.done:
        while (step := run.step()) is not None:
            steps.append(step)
            traces.append(_hash(run.model.state_dict()))
        run.epoch()
        TURNS.give_way()
    weights = {name: value.clone() for name, value in run.model.state_dict().items()}
    return Side(tuple(steps), tuple(run.history[start:]), weights, tuple(traces))


def _hash(weights: Mapping[str, Any]) -> str:
    return sha256(b"".join(value.numpy().tobytes() for value in weights.values())).hexdigest()


def _parting(full: Side, resumed: Side, equal: bool) -> Parting | None:
    for index, (a, b) in enumerate(zip(full.steps, resumed.steps, strict=False)):
        for reason, same in (
            ("order", a.rows == b.rows),
            ("lr", a.lr == b.lr),
            ("loss", repr(a.loss) == repr(b.loss)),
            ("step", full.traces[index] == resumed.traces[index]),
        ):
            if not same:
                return Parting(reason, a, b)
    n = min(len(full.steps), len(resumed.steps))
    if len(full.steps) != len(resumed.steps):
        return Parting("length", *(side.steps[n] if len(side.steps) > n else None for side in (full, resumed)))
    # By their texts, in which NaN equals NaN and every digit is there.
    a, b = ([repr(epoch) for epoch in side.epochs] for side in (full, resumed))
    if a != b or not equal:
        first = next((i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), -1)
        return Parting("log", _last_step(full, first), _last_step(resumed, first))
    return None


def _last_step(side: Side, index: int) -> StepRecord | None:
    """The last step of the epoch at `index`; None if its steps were made before the interruption."""
    epoch = side.epochs[index].epoch
    return next((step for step in reversed(side.steps) if step.epoch == epoch), None)


_SCRIPT = """\
{customers}
import io

PARTS = {{
    "optimizer": ["optimizer"], "scheduler": ["scheduler"], "torch_rng": ["torch_rng"], "loader_rng": ["loader_rng"],
    "loop": ["epoch", "best", "bad_epochs"], "position": ["batch", "epoch_rng", "loss_sum", "correct"],
}}
STOP_EPOCH, STOP_BATCH = {epoch}, {batch}  # epochs finished, and batches of the next, when the run is interrupted
LEAVE_OUT = {skip}  # parts of the checkpoint that the resume does without
ORDER = "{order}"  # "right", "rng-before-skip" or "stopper-before-update"
torch.set_num_threads(1)
x_train, y_train = x[train], y[train]

class Run:
    def __init__(self):
        torch.manual_seed({seed})
        self.shuffle = torch.Generator().manual_seed({seed})
{model}
        self.model, self.opt = model, {optimizer}
        self.scheduler = {scheduler}
        self.epoch, self.best, self.bad_epochs = 0, float("inf"), 0
        self.stopper_before = (float("inf"), 0)
        self.new_epoch()
        self.log, self.steps = [], []

    def new_epoch(self):
        self.batch, self.loss_sum, self.correct, self.order, self.epoch_rng = 0, 0.0, 0, None, None

    def over(self):
        return self.bad_epochs >= {patience} or self.epoch >= {max_epochs}

    def draw_order(self):  # what DataLoader(shuffle=True, generator=self.shuffle) draws for one epoch
        self.epoch_rng = self.shuffle.get_state()
        torch.empty((), dtype=torch.int64).random_(generator=self.shuffle)
        self.order = torch.randperm(400, generator=self.shuffle).split({batch_size})
        torch.randperm(400, generator=self.shuffle)

    def train_batch(self):
        if self.order is None:
            self.draw_order()
        rows = self.order[self.batch]
        self.model.train()
        logits = self.model(x_train[rows])
        loss = nn.functional.cross_entropy(logits, y_train[rows])
        self.opt.zero_grad()
        loss.backward()
        lr = self.opt.param_groups[0]["lr"]
        self.opt.step()
        self.batch += 1
        self.loss_sum += loss.item() * len(rows)
        self.correct += (logits.argmax(1) == y_train[rows]).sum().item()
        weights = torch.cat([p.detach().flatten() for p in self.model.parameters()])
        self.steps.append((self.epoch + 1, self.batch, rows.tolist(), lr, loss.item(), weights))

    def finish_epoch(self):
        while self.batch < {batches}:
            self.train_batch()
        torch.empty((), dtype=torch.int64).random_()  # what iterating over a DataLoader draws
        self.model.eval()
        val_loss, val_correct = 0.0, 0
        with torch.no_grad():
            for xb, yb in zip(x[val].split({batch_size}), y[val].split({batch_size})):
                logits = self.model(xb)
                val_loss += nn.functional.cross_entropy(logits, yb).item() * len(yb) / 200
                val_correct += (logits.argmax(1) == yb).sum().item()
        if self.scheduler is not None:
            self.scheduler.step({scheduler_argument})
        self.stopper_before = (self.best, self.bad_epochs)
        is_best = val_loss < self.best
        self.best, self.bad_epochs = (val_loss, 0) if is_best else (self.best, self.bad_epochs + 1)
        self.epoch += 1
        train = f"train {{self.loss_sum / 400:.4f}} {{self.correct / 400:.3f}}"
        mark = " *best" if is_best else ""
        self.log.append(f"ep {{self.epoch:3d}} | {{train}} | val {{val_loss:.4f}} {{val_correct / 200:.3f}}{{mark}}")
        self.new_epoch()

    def save(self):
        best, bad_epochs = self.best, self.bad_epochs
        if ORDER == "stopper-before-update" and self.batch == 0:
            best, bad_epochs = self.stopper_before
        checkpoint = {{
            "model": self.model.state_dict(), "optimizer": self.opt.state_dict(),
            "scheduler": None if self.scheduler is None else self.scheduler.state_dict(),
            "epoch": self.epoch, "best": best, "bad_epochs": bad_epochs,
            "torch_rng": torch.get_rng_state(), "loader_rng": self.shuffle.get_state(),
            "batch": self.batch, "epoch_rng": self.epoch_rng, "loss_sum": self.loss_sum, "correct": self.correct,
        }}
        file = io.BytesIO()
        torch.save(checkpoint, file)
        return file.getvalue()

    def load(self, file):
        saved = torch.load(io.BytesIO(file), weights_only=True)
        self.model.load_state_dict(saved["model"])
        left_out = {{key for part in LEAVE_OUT for key in PARTS[part]}}
        if "optimizer" not in left_out:
            self.opt.load_state_dict(saved["optimizer"])
        if "scheduler" not in left_out and self.scheduler is not None:
            self.scheduler.load_state_dict(saved["scheduler"])
        if "epoch" not in left_out:
            self.epoch, self.best, self.bad_epochs = saved["epoch"], saved["best"], saved["bad_epochs"]

        def restore_rng():
            if "torch_rng" not in left_out:
                torch.set_rng_state(saved["torch_rng"])
            if "loader_rng" not in left_out:
                self.shuffle.set_state(saved["loader_rng"])

        if ORDER == "rng-before-skip":
            restore_rng()
        if "batch" not in left_out and saved["batch"]:
            # The order of the epoch under way is drawn again, so that the batches already seen can be skipped.
            now = self.shuffle.get_state()
            if ORDER != "rng-before-skip":
                self.shuffle.set_state(saved["epoch_rng"])
            self.draw_order()
            if ORDER != "rng-before-skip":
                self.shuffle.set_state(now)
            self.batch, self.loss_sum, self.correct = saved["batch"], saved["loss_sum"], saved["correct"]
        if ORDER != "rng-before-skip":
            restore_rng()

    def to_the_end(self):
        self.log, self.steps = [], []
        while not self.over():
            self.finish_epoch()

alone = Run()
while alone.epoch < STOP_EPOCH and not alone.over():
    alone.finish_epoch()
while alone.batch < min(STOP_BATCH, {batches}) and not alone.over():
    alone.train_batch()
file = alone.save()
alone.to_the_end()

resumed = Run()
resumed.load(file)
resumed.to_the_end()

for name, run in (("alone", alone), ("resumed", resumed)):
    for line in run.log:
        print(f"{{name:<7}} {{line}}")
a, b = alone.model.state_dict(), resumed.model.state_dict()
print(f"tensors equal: {{sum(torch.equal(a[name], b[name]) for name in a)}} of {{len(a)}},",
      f"largest difference {{max((a[name] - b[name]).abs().max().item() for name in a):.4f}}")
print("log lines the same:", alone.log == resumed.log)
for left, right in zip(alone.steps, resumed.steps):
    same = [left[2] == right[2], left[3] == right[3], left[4] == right[4], torch.equal(left[5], right[5])]
    if not all(same):
        what = ("order", "lr", "loss", "step")[same.index(False)]
        print(f"they part at epoch {{left[0]}}, batch {{left[1]}} of the run left alone: {{what}}")
        break
else:
    print("every step is the same" + ("" if len(alone.steps) == len(resumed.steps) else ", but one run is longer"))
"""


def script(config: ResumeConfig) -> str:
    """A file that makes the same comparison, and prints both logs, whether they are equal, and where they part."""
    fit = config.fit
    scheduler = SCHEDULERS.get(fit.scheduler, "None").replace("(opt", "(self.opt")
    return _SCRIPT.format(
        customers=customer_rows().replace("from torch.utils.data import DataLoader, TensorDataset\n", ""),
        epoch=config.epoch,
        batch=config.batch,
        skip=list(config.skip),
        order=config.order,
        seed=fit.seed,
        model="\n".join(" " * 8 + line for line in model_lines(fit)),
        optimizer=optimizer_source(fit),
        scheduler=scheduler,
        scheduler_argument="val_loss" if fit.scheduler == "plateau" else "",
        patience=fit.patience,
        max_epochs=fit.max_epochs,
        batch_size=fit.batch_size,
        batches=-(-400 // fit.batch_size),
    )
