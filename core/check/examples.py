"""Training loops to begin with, faulty and right, written for this page: only ever read, never run."""

from __future__ import annotations

from dataclasses import dataclass

from core.messages import N_


@dataclass(frozen=True)
class Example:
    """A loop and its name."""

    title: str
    source: str


EXAMPLES: dict[str, Example] = {
    "assistant": Example(
        N_("An assistant's loop"),
        """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(20, 64)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(64, 3)

    def forward(self, x):
        x = self.drop(torch.relu(self.hidden(x)))
        return torch.softmax(self.out(x), dim=1)


model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    model.train()
    for xb, yb in train_loader:
        logits = model(xb)
        loss = criterion(logits, yb)
        loss.backward()
        optimizer.step()  # one step a batch

    val_loss = 0.0
    for xb, yb in val_loader:
        val_loss += criterion(model(xb), yb).item()
    print(epoch, val_loss / len(val_loader))
""",
    ),
    "right": Example(
        N_("A right loop"),
        """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(20):
    model.train()
    for xb, yb in train_loader:
        logits = model(xb)
        loss = criterion(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    model.eval()
    total, seen = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_loader:
            total += criterion(model(xb), yb).item() * len(xb)
            seen += len(xb)
    print(epoch, total / seen)
""",
    ),
    "gan": Example(
        N_("GAN"),
        """\
import torch
from torch import nn

generator = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
opt_c = torch.optim.Adam(critic.parameters(), lr=2e-4)
bce = nn.BCEWithLogitsLoss()

for epoch in range(50):
    for real in loader:
        real_label = torch.ones(len(real), 1)
        fake_label = torch.zeros(len(real), 1)
        fake = generator(torch.randn(len(real), 16))

        # the generator wants its points taken for real ones
        g_loss = bce(critic(fake), real_label)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()

        # the critic learns to tell them apart
        c_loss = bce(critic(real), real_label) + bce(critic(fake.detach()), fake_label)
        c_loss.backward()
        opt_c.step()
        opt_c.zero_grad()
""",
    ),
    "accumulation": Example(
        N_("Accumulation"),
        """\
import torch
from torch import nn

model = nn.Linear(20, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 4

for epoch in range(10):
    optimizer.zero_grad()
    for i, (xb, yb) in enumerate(train_loader):
        loss = criterion(model(xb), yb)
        loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    ),
    "accumulation-right": Example(
        N_("Accumulation, right"),
        """\
import torch
from torch import nn

model = nn.Linear(20, 3)
criterion = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 4

for epoch in range(10):
    optimizer.zero_grad()
    held = 0
    for i, (xb, yb) in enumerate(train_loader):
        loss = criterion(model(xb), yb)
        loss.backward()
        held += len(xb)
        if (i + 1) % accumulate == 0 or i + 1 == len(train_loader):
            for p in model.parameters():
                p.grad /= held  # a mean over the examples this window holds
            optimizer.step()
            optimizer.zero_grad()
            held = 0
""",
    ),
    "amp": Example(
        N_("Mixed precision"),
        """\
import torch
from torch import nn

model = nn.LSTM(32, 64, batch_first=True).cuda()
head = nn.Linear(64, 10).cuda()
parameters = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-4)
scaler = torch.amp.GradScaler("cuda")
loss_fn = nn.CrossEntropyLoss()

for xb, yb in train_loader:
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        out, _ = model(xb.cuda())
        loss = loss_fn(head(out[:, -1]), yb.cuda())
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
    ),
    "stopping": Example(
        N_("Early stopping"),
        """\
import torch


def fit(model, train_loader, test_loader, loss_fn, optimizer, patience=5):
    best, best_state, bad = float("inf"), None, 0
    for epoch in range(100):
        model.train()
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()

        model.eval()
        total, seen = 0.0, 0
        with torch.no_grad():
            for xb, yb in test_loader:
                total += loss_fn(model(xb), yb).item() * len(xb)
                seen += len(xb)
        test_loss = total / seen
        if test_loss < best:
            best, best_state = test_loss, model.state_dict()
        else:
            bad += 1
            if bad >= patience:
                break
    model.load_state_dict(best_state)
    return best
""",
    ),
    "schedule": Example(
        N_("Schedule, resume"),
        """\
import os

import torch
from torch import nn

model = nn.Linear(20, 3)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
start = 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt")
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    start = saved["epoch"]

for epoch in range(start, 90):
    for xb, yb in train_loader:
        scheduler.step()
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(state, "last.pt")
""",
    ),
}
