"""The whole loop in NumPy, by hand: the one place that trains without `TrainingLoop`, to have a second opinion.

Beside it, `pytorch_twin` trains the same net in PyTorch through `TrainingLoop`, from the same weights and in the same
order of batches, in float64.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from core.config import Field, Number
from core.data import Points, three_class_points
from core.loop import TrainingLoop, evaluate
from core.messages import N_
from core.rng import numpy_generator
from core.turns import heavy

Weights = dict[str, np.ndarray]
"""W1 (2, hidden), b1 (hidden,), W2 (hidden, 3), b2 (3,); gradients and momentum buffers have the same names."""

FIELDS: dict[str, Field] = {
    "lr": Number(0.01, 1),
    "momentum": Number(0, 0.99),
    "batch_size": Number(8, 240, whole=True),
    "patience": Number(1, 50, whole=True),
    "hidden": Number(1, 128, whole=True),
    "most_epochs": Number(1, 300, whole=True),
    "seed": Number(0, 2**32 - 1, whole=True),
}


@dataclass(frozen=True)
class NumpyConfig:
    """Left alone, the lesson's run."""

    lr: float = 0.05
    momentum: float = 0.9
    batch_size: int = 32
    patience: int = 20
    hidden: int = 64
    most_epochs: int = 300
    seed: int = 42


@dataclass(frozen=True)
class NumpyRun:
    """Epochs are counted from 1; the lists have one number for each epoch that was trained."""

    train_losses: tuple[float, ...]
    """Weighted by batch size, measured while the weights move."""
    val_losses: tuple[float, ...]
    stopped: int
    early: bool
    """Whether patience ended the run, rather than `most_epochs`."""
    best: int
    """0 if no val loss was a number."""
    accuracy: float
    """On the validation points, of the best epoch's weights."""
    best_weights: Weights
    start_weights: Weights
    orders: tuple[np.ndarray, ...]
    """The permutation (240,) that each epoch went through."""
    data: Points

    @property
    def best_val_loss(self) -> float:
        return self.val_losses[self.best - 1] if self.best else math.nan


def start_weights(rng: np.random.Generator, hidden: int) -> Weights:
    first, second = rng.normal(0, 0.5, (2, hidden)), rng.normal(0, 0.3, (hidden, 3))
    return {"W1": first, "b1": np.zeros(hidden), "W2": second, "b2": np.zeros(3)}


def forward(weights: Weights, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hidden activations (N, hidden) and logits (N, 3)."""
    hidden = np.maximum(x @ weights["W1"] + weights["b1"], 0)
    return hidden, hidden @ weights["W2"] + weights["b2"]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def cross_entropy(logits: np.ndarray, y: np.ndarray) -> float:
    return float(-log_softmax(logits)[np.arange(len(y)), y].mean())


def backward(weights: Weights, x: np.ndarray, hidden: np.ndarray, logits: np.ndarray, y: np.ndarray) -> Weights:
    """d loss / d weights, in a dict made anew: nothing is left from before, so nothing needs zero_grad."""
    d_logits = np.exp(log_softmax(logits))
    d_logits[np.arange(len(y)), y] -= 1
    d_logits /= len(y)
    d_hidden = (d_logits @ weights["W2"].T) * (hidden > 0)
    return {"W1": x.T @ d_hidden, "b1": d_hidden.sum(axis=0), "W2": hidden.T @ d_logits, "b2": d_logits.sum(axis=0)}


def step(weights: Weights, gradients: Weights, buffers: Weights, lr: float, momentum: float) -> None:
    """SGD with momentum, in place."""
    for name in weights:
        buffers[name] = momentum * buffers[name] + gradients[name]
        weights[name] -= lr * buffers[name]


def _copy(weights: Weights) -> Weights:
    return {name: value.copy() for name, value in weights.items()}


@heavy(64)
@np.errstate(over="ignore", invalid="ignore")  # a rate too high diverges, and that may be looked at
def run_numpy(config: NumpyConfig = NumpyConfig()) -> NumpyRun:
    """Train until the val loss has not improved for `patience` epochs."""
    rng = numpy_generator(config.seed)
    data = three_class_points(rng)
    weights = start_weights(rng, config.hidden)
    start, buffers = _copy(weights), {name: np.zeros_like(value) for name, value in weights.items()}
    train_losses, val_losses, orders = [], [], []
    best_loss, best, best_weights = math.inf, 0, _copy(weights)
    for epoch in range(1, config.most_epochs + 1):
        orders.append(rng.permutation(len(data.x_train)))
        total = 0.0
        for chosen in _batches(orders[-1], config.batch_size):
            xb, yb = data.x_train[chosen], data.y_train[chosen]
            hidden, logits = forward(weights, xb)
            total += cross_entropy(logits, yb) * len(yb)
            gradients = backward(weights, xb, hidden, logits, yb)
            step(weights, gradients, buffers, config.lr, config.momentum)
        train_losses.append(total / len(data.x_train))
        val_losses.append(cross_entropy(forward(weights, data.x_val)[1], data.y_val))
        if val_losses[-1] < best_loss:
            best_loss, best, best_weights = val_losses[-1], epoch, _copy(weights)
        elif epoch - best >= config.patience:
            break
    predicted = forward(best_weights, data.x_val)[1].argmax(axis=1)
    return NumpyRun(
        train_losses=tuple(train_losses),
        val_losses=tuple(val_losses),
        stopped=epoch,
        early=epoch - best >= config.patience,
        best=best,
        accuracy=float((predicted == data.y_val).mean()),
        best_weights=best_weights,
        start_weights=start,
        orders=tuple(orders),
        data=data,
    )


def _batches(order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]


@dataclass(frozen=True)
class Twin:
    """PyTorch's losses of the same run, and the greatest distance of the two at each epoch."""

    train_losses: tuple[float, ...]
    val_losses: tuple[float, ...]
    differences: tuple[float, ...]
    best: int
    """The epoch of its own lowest val loss; 0 if none was a number."""
    accuracy: float
    """On the validation points, of that epoch's weights."""

    @property
    def largest(self) -> float:
        """The largest difference of all epochs; NaN where a run has diverged."""
        return math.nan if any(math.isnan(d) for d in self.differences) else max(self.differences)


def as_module(weights: Weights) -> nn.Sequential:
    """The net in float64 with a copy of these weights; `nn.Linear` keeps them transposed, (out, in)."""
    hidden = len(weights["b1"])
    with torch.device("meta"):  # no numbers yet, so none are drawn from the process's generator
        model = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 3))
    names = {"0.weight": weights["W1"].T, "0.bias": weights["b1"], "2.weight": weights["W2"].T, "2.bias": weights["b2"]}
    state = {name: torch.tensor(value, dtype=torch.float64) for name, value in names.items()}
    model.load_state_dict(state, assign=True)
    return model.requires_grad_()


@heavy(64)
def pytorch_twin(config: NumpyConfig = NumpyConfig()) -> Twin:
    """Train the same net through `TrainingLoop` for as many epochs, and compare."""
    run = run_numpy(config)
    model = as_module(run.start_weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=config.momentum)
    loop = TrainingLoop(model, F.cross_entropy, optimizer)
    x, y = torch.tensor(run.data.x_train), torch.tensor(run.data.y_train)
    x_val, y_val = torch.tensor(run.data.x_val), torch.tensor(run.data.y_val)
    train_losses, val_losses = [], []
    best, best_state = 0, copy.deepcopy(model.state_dict())
    for epoch, order in enumerate(run.orders, start=1):
        total = 0.0
        for chosen in _batches(order, config.batch_size):
            loop.batch(x[chosen], y[chosen])
            total += loop.loss_tensor.item() * len(chosen)
        train_losses.append(total / len(x))
        val_losses.append(evaluate(model, [(x_val, y_val)], F.cross_entropy)[0])
        if val_losses[-1] < (val_losses[best - 1] if best else math.inf):
            best, best_state = epoch, copy.deepcopy(model.state_dict())
    pairs = zip(train_losses, run.train_losses, val_losses, run.val_losses, strict=True)
    differences = tuple(max(abs(a - b), abs(c - d)) for a, b, c, d in pairs)
    model.load_state_dict(best_state)
    accuracy = evaluate(model, [(x_val, y_val)], F.cross_entropy)[1]
    return Twin(tuple(train_losses), tuple(val_losses), differences, best, accuracy)


@dataclass(frozen=True)
class Grid:
    """Which class the net sees where: `x` and `y` are the axes (n,), `classes` (n, n) has a row for each y."""

    x: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    confidence: np.ndarray
    """(n, n): the probability of the class."""


def decision_grid(config: NumpyConfig = NumpyConfig(), points: int = 120) -> Grid:
    """The best weights' answer on a grid that holds all points of the data with some room."""
    run = run_numpy(config)
    everything = np.concatenate([run.data.x_train, run.data.x_val])
    low, high = everything.min(axis=0) - 0.5, everything.max(axis=0) + 0.5
    x, y = np.linspace(low[0], high[0], points), np.linspace(low[1], high[1], points)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    probabilities = np.exp(log_softmax(forward(run.best_weights, places)[1]))
    shape = (points, points)
    return Grid(x, y, probabilities.argmax(axis=1).reshape(shape), probabilities.max(axis=1).reshape(shape))


@dataclass(frozen=True)
class LinePair:
    """A line of the script in NumPy, the PyTorch call that it stands for, and a sentence where they are not alike."""

    numpy: str
    pytorch: str
    note: str = ""


LINES = (
    LinePair("order = rng.permutation(240)", "DataLoader(..., shuffle=True, generator=g)"),
    LinePair("hidden = np.maximum(x @ W['W1'] + W['b1'], 0)", "nn.Linear(2, 64), nn.ReLU()"),
    LinePair("return hidden, hidden @ W['W2'] + W['b2']", "nn.Linear(64, 3)"),
    LinePair("hidden, logits = forward(xb)", "logits = model(xb)"),
    LinePair("loss = cross_entropy(logits, yb)", "loss = loss_fn(logits, yb)"),
    LinePair(
        "g = backward(xb, hidden, logits, yb)",
        "opt.zero_grad(); loss.backward()",
        N_("A new dict at every batch: there is no old gradient to clear."),
    ),
    LinePair("V = {k: np.zeros_like(W[k]) for k in W}", "opt = torch.optim.SGD(..., momentum=0.9)"),
    LinePair("W[k] -= 0.05 * V[k]", "opt.step()", N_("V is the optimizer's state, its momentum_buffer.")),
    LinePair("total += loss * len(yb)", "total += loss.item() * len(yb)"),
    LinePair(
        "val = cross_entropy(forward(x_val)[1], y_val)",
        "with torch.no_grad(): val = loss_fn(model(x_val), y_val).item()",
        N_("Only forward runs, and nothing is kept for a gradient: that is what no_grad says in PyTorch."),
    ),
    LinePair(
        "best, best_epoch, best_W = val, epoch, {k: W[k].copy() for k in W}",
        "best_state = copy.deepcopy(model.state_dict())",
        N_("Without the copy, both would go on changing with the weights."),
    ),
)
"""In the order of the lesson's loop; each `numpy` is a line of `script(NumpyConfig())`."""


def script(config: NumpyConfig = NumpyConfig()) -> str:
    """The whole run as one NumPy file, printing where it stopped, its best epoch and what that was worth."""
    return f"""\
import numpy as np

rng = np.random.default_rng({config.seed})
centres = np.array([[0, 2], [2, -1], [-2, -1]])
y = rng.integers(0, 3, 300)
x = rng.normal(0, 1.1, (300, 2)) + centres[y]
redrawn = rng.random(300) < 0.15
y = np.where(redrawn, rng.integers(0, 3, 300), y)
x_train, y_train, x_val, y_val = x[:240], y[:240], x[240:], y[240:]

W = {{'W1': rng.normal(0, 0.5, (2, {config.hidden})), 'b1': np.zeros({config.hidden})}}
W |= {{'W2': rng.normal(0, 0.3, ({config.hidden}, 3)), 'b2': np.zeros(3)}}
V = {{k: np.zeros_like(W[k]) for k in W}}

def forward(x):
    hidden = np.maximum(x @ W['W1'] + W['b1'], 0)
    return hidden, hidden @ W['W2'] + W['b2']

def log_softmax(logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

def cross_entropy(logits, y):
    return -log_softmax(logits)[np.arange(len(y)), y].mean()

def backward(x, hidden, logits, y):
    d_logits = np.exp(log_softmax(logits))
    d_logits[np.arange(len(y)), y] -= 1
    d_logits /= len(y)
    d_hidden = (d_logits @ W['W2'].T) * (hidden > 0)
    return {{'W1': x.T @ d_hidden, 'b1': d_hidden.sum(axis=0), 'W2': hidden.T @ d_logits, 'b2': d_logits.sum(axis=0)}}

best, best_epoch, best_W = np.inf, 0, None
for epoch in range(1, {config.most_epochs} + 1):
    order = rng.permutation(240)
    total = 0.0
    for begin in range(0, 240, {config.batch_size}):
        chosen = order[begin:begin + {config.batch_size}]
        xb, yb = x_train[chosen], y_train[chosen]
        hidden, logits = forward(xb)
        loss = cross_entropy(logits, yb)
        total += loss * len(yb)
        g = backward(xb, hidden, logits, yb)
        for k in W:
            V[k] = {config.momentum} * V[k] + g[k]
            W[k] -= {config.lr} * V[k]
    val = cross_entropy(forward(x_val)[1], y_val)
    if val < best:
        best, best_epoch, best_W = val, epoch, {{k: W[k].copy() for k in W}}
    elif epoch - best_epoch >= {config.patience}:
        break

print(f"stopped at epoch {{epoch}}, best epoch {{best_epoch}}, val loss {{best:.4f}}")
W = best_W
accuracy = (forward(x_val)[1].argmax(axis=1) == y_val).mean()
print(f"val accuracy {{accuracy:.3f}}, last train loss {{total / 240:.4f}}")
"""


def pytorch_script(config: NumpyConfig = NumpyConfig()) -> str:
    """The same run as one PyTorch file in float64, its random numbers drawn from NumPy in the same order."""
    return f"""\
import copy

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng({config.seed})
centres = np.array([[0, 2], [2, -1], [-2, -1]])
y = rng.integers(0, 3, 300)
x = rng.normal(0, 1.1, (300, 2)) + centres[y]
redrawn = rng.random(300) < 0.15
y = np.where(redrawn, rng.integers(0, 3, 300), y)
x, y = torch.tensor(x), torch.tensor(y)
x_train, y_train, x_val, y_val = x[:240], y[:240], x[240:], y[240:]

model = nn.Sequential(nn.Linear(2, {config.hidden}), nn.ReLU(), nn.Linear({config.hidden}, 3)).double()
with torch.no_grad():
    model[0].weight.copy_(torch.tensor(rng.normal(0, 0.5, (2, {config.hidden})).T))
    model[2].weight.copy_(torch.tensor(rng.normal(0, 0.3, ({config.hidden}, 3)).T))
    model[0].bias.zero_()
    model[2].bias.zero_()
opt = torch.optim.SGD(model.parameters(), lr={config.lr}, momentum={config.momentum})
loss_fn = nn.CrossEntropyLoss()

best, best_epoch = float("inf"), 0
for epoch in range(1, {config.most_epochs} + 1):
    order = rng.permutation(240)
    total = 0.0
    for begin in range(0, 240, {config.batch_size}):
        chosen = order[begin:begin + {config.batch_size}]
        xb, yb = x_train[chosen], y_train[chosen]
        logits = model(xb)
        loss = loss_fn(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
    with torch.no_grad():
        val = loss_fn(model(x_val), y_val).item()
    if val < best:
        best, best_epoch, best_state = val, epoch, copy.deepcopy(model.state_dict())
    elif epoch - best_epoch >= {config.patience}:
        break

print(f"stopped at epoch {{epoch}}, best epoch {{best_epoch}}, val loss {{best:.4f}}")
model.load_state_dict(best_state)
with torch.no_grad():
    accuracy = (model(x_val).argmax(1) == y_val).double().mean().item()
print(f"val accuracy {{accuracy:.3f}}, last train loss {{total / 240:.4f}}")
"""
