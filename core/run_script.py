"""The training run as a script to take home: plain PyTorch, the same log lines."""

from __future__ import annotations

from core.customers_script import customers_lines
from core.fit_config import FitConfig

_LAYERS = {
    "dropout": "nn.ReLU(), nn.Dropout({dropout})",
    "batchnorm": "nn.BatchNorm1d({hidden}), nn.ReLU()",
    "both": "nn.BatchNorm1d({hidden}), nn.ReLU(), nn.Dropout({dropout})",
}
_OPTIMIZERS = {
    "adamw": "torch.optim.AdamW(model.parameters(), lr={lr}, weight_decay={weight_decay})",
    "sgd": "torch.optim.SGD(model.parameters(), lr={lr}, weight_decay={weight_decay})",
    "sgd-momentum": "torch.optim.SGD(model.parameters(), lr={lr}, momentum=0.9, weight_decay={weight_decay})",
}
SCHEDULERS = {
    "step": "torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)",
    "cosine": "torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20)",
    "plateau": "torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2)",
}
_LOOP = """\

def run_epoch(loader, train):
    model.train(train)
    total, correct, n = 0.0, 0, 0
    with torch.set_grad_enabled(train):
        for xb, yb in loader:
            logits = model(xb)
            loss = loss_fn(logits, yb)
            if train:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(yb)
            correct += (logits.argmax(1) == yb).sum().item()
            n += len(yb)
    return total / n, correct / n


best_val, best_epoch, bad_epochs = float("inf"), 0, 0
for epoch in range(1, {epochs} + 1):
    train_loss, train_acc = run_epoch(train_loader, True)
    val_loss, val_acc = run_epoch(val_loader, False)
{scheduler_step}    best = val_loss < best_val
    if best:
        best_val, best_epoch, bad_epochs = val_loss, epoch, 0
    else:
        bad_epochs += 1
    mark = " *best" if best else ""
    train = f"train {{train_loss:.4f}} {{train_acc:.3f}}"
    print(f"ep {{epoch:3d}} | {{train}} | val {{val_loss:.4f}} {{val_acc:.3f}}{{mark}}")
    if bad_epochs >= {patience}:
        print(f"early stop: val loss has not fallen for {{bad_epochs}} epochs; best epoch {{best_epoch}}")
        break
"""


def run_script(config: FitConfig, epochs: int) -> str:
    """A file that trains on the customers for up to `epochs` epochs, or until early stopping, and prints the log."""
    lines = [customers_lines(config.seed, config.batch_size), *model_lines(config), f"opt = {optimizer_source(config)}"]
    step = ""
    if config.scheduler != "none":
        lines.append(f"scheduler = {SCHEDULERS[config.scheduler]}")
        step = f"    scheduler.step({'val_loss' if config.scheduler == 'plateau' else ''})\n"
    lines += ["", _LOOP.format(epochs=epochs, patience=config.patience, scheduler_step=step)]
    return "\n".join(lines)


def model_lines(config: FitConfig) -> list[str]:
    """The lines that make `model`."""
    between, h = _LAYERS[config.layers].format(**vars(config)), config.hidden
    return [
        "model = nn.Sequential(",
        f"    nn.Linear(5, {h}), {between},",
        f"    nn.Linear({h}, {h}), {between},",
        f"    nn.Linear({h}, 3),",
        ")",
    ]


def optimizer_source(config: FitConfig) -> str:
    """The call that makes the optimizer of `model`."""
    return _OPTIMIZERS[config.optimizer].format(**vars(config))


def trained_lines(config: FitConfig) -> str:
    """The lines that make the customers and `model`, train it until early stopping, and load its best weights."""
    model = "\n".join(model_lines(config))
    return f"""\
import copy

{customers_lines(config.seed, config.batch_size)}
{model}
opt = {optimizer_source(config)}

best, bad_epochs = float("inf"), 0
for epoch in range(1, {config.max_epochs} + 1):
    model.train()
    for xb, yb in train_loader:
        loss = loss_fn(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val_loss = sum(loss_fn(model(xb), yb).item() * len(yb) for xb, yb in val_loader) / 200
    if val_loss < best:
        best, best_epoch, bad_epochs, best_weights = val_loss, epoch, 0, copy.deepcopy(model.state_dict())
    else:
        bad_epochs += 1
    if bad_epochs == {config.patience}:
        break
model.load_state_dict(best_weights)
"""
