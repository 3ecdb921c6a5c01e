"""The NumPy loop and its PyTorch twin as scripts to take home, and which line of one stands for which of the other."""

from __future__ import annotations

from dataclasses import dataclass

from core.messages import N_
from core.numpy_loop import NumpyConfig

DEFAULT = NumpyConfig()


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
"""In the order of the lesson's loop; each `numpy` is a line of `numpy_script(NumpyConfig())`."""


_POINTS = """\
rng = np.random.default_rng({seed})
centres = np.array([[0, 2], [2, -1], [-2, -1]])
y = rng.integers(0, 3, 300)
x = rng.normal(0, 1.1, (300, 2)) + centres[y]
redrawn = rng.random(300) < 0.15
y = np.where(redrawn, rng.integers(0, 3, 300), y)"""
"""Three clouds of points; 15% of the labels drawn anew."""


def numpy_script(config: NumpyConfig = DEFAULT) -> str:
    """The whole run as one NumPy file, printing where it stopped, its best epoch and what that was worth."""
    return f"""\
import numpy as np

{_POINTS.format(seed=config.seed)}
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


def pytorch_script(config: NumpyConfig = DEFAULT) -> str:
    """The same run as one PyTorch file in float64, its random numbers drawn from NumPy in the same order."""
    return f"""\
import copy

import numpy as np
import torch
from torch import nn

{_POINTS.format(seed=config.seed)}
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
