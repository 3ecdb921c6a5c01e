"""The comparison of a resumed run with the same run left alone, as a script to take home."""

from __future__ import annotations

from core.customers_script import customer_rows
from core.resume import ResumeConfig
from core.run_script import SCHEDULERS, model_lines, optimizer_source

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


def resume_script(config: ResumeConfig) -> str:
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
