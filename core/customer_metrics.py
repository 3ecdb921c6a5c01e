"""What the customers' model makes of each validation customer, for `core.metrics` to average."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from core.fit import Run, fit
from core.fit_config import FitConfig
from core.metrics import FURTHER_WAYS, PerExample
from core.run_script import trained_lines
from core.turns import heavy


@heavy(16)
def customers(config: FitConfig | None = None) -> PerExample:
    """Train until early stopping, load the best weights, and measure each of the 200 in eval mode."""
    run = Run(config)
    while not run.done:
        run.epoch()
    run.model.load_state_dict(run.best_weights)
    run.model.eval()
    with torch.no_grad():
        logits = run.model(run.data.x_val)
    losses = F.cross_entropy(logits, run.data.y_val, reduction="none")
    correct = (logits.argmax(1) == run.data.y_val).double()
    return PerExample(tuple(losses.tolist()), tuple(correct.tolist()))


@heavy(1)
def val_losses() -> tuple[float, ...]:
    """The val loss of each epoch of the lesson's run: falling at first, then stalled until early stopping."""
    return tuple(record.val_loss for record in fit())


def script(size: int, *, drop_last: bool = False, seed: int = 0) -> str:
    """A file that trains the customers' model with early stopping and prints its means, to four digits."""
    return f"""\
{trained_lines(FitConfig(seed=seed))}
with torch.no_grad():
    logits = model(x[val])
losses = nn.functional.cross_entropy(logits, y[val], reduction="none").double()
correct = (logits.argmax(1) == y[val]).double()
size = {size}
starts = range(0, {"200 - 200 % size" if drop_last else "200"}, size)
for name, values in (("loss", losses), ("accuracy", correct)):
    batches = [values[start:start + size] for start in starts]
    naive = sum(batch.mean().item() for batch in batches) / len(batches)
    weighted = sum(batch.mean().item() * len(batch) for batch in batches) / sum(len(batch) for batch in batches)
    print(f"{{name:<8}} naive {{naive:.4f}}  weighted {{weighted:.4f}}  full set {{values.mean().item():.4f}}")
{FURTHER_WAYS}"""
