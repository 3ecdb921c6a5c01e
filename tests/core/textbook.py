"""The loop as anyone would write it, with DataLoaders and no part of `core` but the data: the judge of `core.fit`."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from core.data import Dataset

History = list[tuple[float, float, float, float]]


def train(data: Dataset, epochs: int, seed: int = 0, batch_size: int = 64) -> tuple[History, nn.Module]:
    """Train loss and accuracy, val loss and accuracy of each epoch; and the model. Uses the default generator."""
    torch.manual_seed(seed)
    shuffle = torch.Generator().manual_seed(seed)
    train_loader = DataLoader(TensorDataset(data.x, data.y), batch_size=batch_size, shuffle=True, generator=shuffle)
    val_loader = DataLoader(TensorDataset(data.x_val, data.y_val), batch_size=batch_size)
    model = nn.Sequential(
        nn.Linear(5, 128), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(128, 3),
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    loss_fn = nn.CrossEntropyLoss()
    history = []
    for _ in range(epochs):
        means = []
        for loader in (train_loader, val_loader):
            training = loader is train_loader
            model.train(training)
            total, correct, n = 0.0, 0, 0
            with torch.set_grad_enabled(training):
                for xb, yb in loader:
                    logits = model(xb)
                    loss = loss_fn(logits, yb)
                    if training:
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
                    total += loss.item() * len(yb)
                    correct += (logits.argmax(1) == yb).sum().item()
                    n += len(yb)
            means += [total / n, correct / n]
        history.append(tuple(means))
    return history, model
