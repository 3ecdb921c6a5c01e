"""The two loops of each mistake as text: one template, of which the wrong loop fills one place differently.

What is shown is what is run: the script to take home is the shown loop between a head that makes data and model and a
foot that prints the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.customers_script import customers_lines

_LOOP = """\
model = nn.Sequential(
    nn.Linear(5, 128), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.2),
    {last_layer},
)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3){make_scheduler}

def validate():
    {eval_mode}
    total, n = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_loader:
            loss = loss_fn(model(xb), yb)
            weight = {weight}
            total += loss.item() * weight
            n += weight
    return total / n

best = float("inf")
for epoch in range({epochs}):
    model.train(){scheduler_before}
{train_epoch}{scheduler_after}
    val_loss = validate()
    if val_loss < best:
        best = val_loss
        best_weights = {keep}"""

_EPOCH = """\
    for xb, yb in train_loader:
        logits = model(xb)
        loss = loss_fn(logits, yb)
        {zero_grad}
        loss.backward()
        note()  # gradient norm, lr
        opt.step()"""

_ACCUMULATING_EPOCH = """\
    opt.zero_grad()
    for i, (xb, yb) in enumerate(train_loader):
        window = min(4, len(train_loader) - i // 4 * 4)
        loss = {window_loss}
        loss.backward()
        if {window_full}:
            note()  # gradient norm, lr
            opt.step()
            opt.zero_grad()"""

_RIGHT = {
    "last_layer": "nn.Linear(128, 3)",
    "make_scheduler": "",
    "eval_mode": "model.eval()",
    "weight": "len(yb)",
    "scheduler_before": "",
    "scheduler_after": "",
    "zero_grad": "opt.zero_grad()",
    "keep": "copy.deepcopy(model.state_dict())",
    "window_loss": "loss_fn(model(xb), yb) / window",
    "window_full": "(i + 1) % 4 == 0 or i + 1 == len(train_loader)",
}
_SCHEDULER = "\nscheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)"
_STEP_SCHEDULER = "\n    scheduler.step()"

_DIFFERENT: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "softmax": ({}, {"last_layer": "nn.Linear(128, 3), nn.Softmax(dim=1)"}),
    "no-zero-grad": ({}, {"zero_grad": ""}),
    "no-eval": ({}, {"eval_mode": ""}),
    "naive-mean": ({}, {"weight": "1"}),
    "scheduler-first": (
        {"make_scheduler": _SCHEDULER, "scheduler_after": _STEP_SCHEDULER, "scheduler_before": "\n"},
        {"make_scheduler": _SCHEDULER, "scheduler_after": "\n", "scheduler_before": _STEP_SCHEDULER},
    ),
    "best-by-reference": ({}, {"keep": "model.state_dict()"}),
    "undivided": ({}, {"window_loss": "loss_fn(model(xb), yb)"}),
    "window-dropped": ({}, {"window_full": "(i + 1) % 4 == 0"}),
}
"""Key of a mistake -> what the right and the wrong loop put into the template's places."""

ACCUMULATING = ("undivided", "window-dropped")


@dataclass(frozen=True)
class CodePair:
    """Two loops of equally many lines; a line that one of them lacks is empty there."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    marked: tuple[int, ...]
    """Where they differ, counted from 0."""


def code_pair(key: str, epochs: int = 15) -> CodePair:
    right, wrong = (tuple(_fill(key, fault, epochs)) for fault in (False, True))
    marked = tuple(i for i, (a, b) in enumerate(zip(right, wrong, strict=True)) if a != b)
    return CodePair(right, wrong, marked)


def _fill(key: str, wrong: bool, epochs: int) -> list[str]:
    places = _RIGHT | _DIFFERENT[key][wrong]
    epoch = _ACCUMULATING_EPOCH if key in ACCUMULATING else _EPOCH
    text = _LOOP.format(train_epoch=epoch.format(**places), epochs=epochs, **places)
    return [line.rstrip() for line in text.split("\n")]


_NOTES = """\
norms, rates = [], []

def note():
    # The gradient norm and the learning rate that the next step will use.
    norms.append(torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item())
    rates.append(opt.param_groups[0]["lr"])
"""

_FOOT = """\

print("the loop's own val loss, three times:", *(f"{{validate():.4f}}" for _ in range(3)))
logits_of = {logits_of}

def true_val():
    model.eval()
    with torch.no_grad():
        logits = logits_of(x[val])
        loss = loss_fn(logits, y[val]).item()
        return f"{{loss:.4f}}, accuracy {{(logits.argmax(1) == y[val]).float().mean().item():.3f}}"

print("val loss of the logits:", true_val())
print("mean confidence:", f"{{logits_of(x[val]).softmax(1).amax(1).mean().item():.3f}}")
print(f"gradient norm: first {{norms[0]:.2f}}, median {{statistics.median(norms):.2f}}, last {{norms[-1]:.2f}}")
print(f"steps {{len(norms)}}, at the first rate {{rates.count(rates[0])}}")
model.load_state_dict(best_weights)
print("with the best weights:", true_val())
"""


def overfit_lines(key: str, wrong: bool, steps: int) -> str:
    """The loop's training part without validation, `steps` passes long, noting each loss in `losses`."""
    places = _RIGHT | _DIFFERENT[key][wrong]
    accumulating = key in ACCUMULATING
    scheduler = places["make_scheduler"].replace("step_size=4", f"step_size={max(steps // 3, 1)}")
    undivided = " * window" if accumulating and "/ window" in places["window_loss"] else ""
    epoch = (_ACCUMULATING_EPOCH if accumulating else _EPOCH).format(**places)
    epoch = "\n".join(line.rstrip() for line in epoch.split("\n") if "note()" not in line)
    epoch = epoch.replace("loss.backward()", f"loss.backward()\n        losses.append(loss.item(){undivided})")
    return f"""\
model = nn.Sequential(
    nn.Linear(5, 128), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.2),
    {places["last_layer"]},
)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3){scheduler}
losses = []
for epoch in range({steps}):
    model.train(){places["scheduler_before"].rstrip()}
{epoch}{places["scheduler_after"].rstrip()}"""


def head(seed: int, batch_size: int) -> str:
    """The lines of a script that make the customers, the loaders, the loss and the list of norms, before any model."""
    return f"import copy\nimport statistics\n\n{customers_lines(seed, batch_size)}{_NOTES}"


def script(key: str, *, wrong: bool, seed: int = 0, epochs: int = 15) -> str:
    """The shown loop as a file that makes the customers, trains, and prints the numbers of the page."""
    foot = _FOOT.format(logits_of="model[:-1]" if key == "softmax" and wrong else "model")
    loop = "\n".join(_fill(key, wrong, epochs))
    return f"{head(seed, batch_size=16 if key in ACCUMULATING else 64)}\n{loop}\n{foot}"
