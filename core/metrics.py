"""Means over batches of unequal size: the naive one, the weighted one, and further ways to report a wrong number.

Everything works on one number for each example (its loss, or 1 and 0 for right and wrong), so any model's will do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.config import Choice, Field, Flag, Number
from core.rng import numpy_generator

FIELDS: dict[str, Field] = {
    "size": Number(1, 200, whole=True),
    "drop_last": Flag(),
    "source": Choice(("block", "customers")),
}
"""What the address may say; "block" is `validation_block()`, "customers" is `core.customer_metrics.customers()`."""

Values = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class PerExample:
    """What a model made of each validation example: `loss` (N,) floats, `correct` (N,) of 1.0 and 0.0."""

    loss: tuple[float, ...]
    correct: tuple[float, ...]


def validation_block(seed: int = 42) -> PerExample:
    """The lesson's 200 validation examples, whose last 8 are easy: that is what leads the naive mean astray."""
    rng = numpy_generator(seed)
    loss = rng.exponential(0.55, 200)
    correct = rng.random(200) < 0.80
    loss[192:] *= 0.3
    correct[192:] = True
    return PerExample(tuple(loss.tolist()), tuple(correct.astype(float).tolist()))


def batch_sizes(examples: int, size: int, *, drop_last: bool = False) -> tuple[int, ...]:
    """How a DataLoader cuts `examples` into batches of `size`, the last one smaller or dropped."""
    whole, rest = divmod(examples, size)
    return (size,) * whole + ((rest,) if rest and not drop_last else ())


def batch_means(values: Values, size: int, *, drop_last: bool = False) -> tuple[float, ...]:
    """The mean of each batch, what `reduction="mean"` gives for it."""
    means, start = [], 0
    for n in batch_sizes(len(values), size, drop_last=drop_last):
        means.append(math.fsum(values[start : start + n]) / n)
        start += n
    return tuple(means)


def naive_mean(means: Sequence[float], sizes: Sequence[int]) -> float:
    """Every batch weighs the same; wrong as soon as the sizes differ. NaN without batches."""
    return math.fsum(means) / len(sizes) if sizes else math.nan


def weighted_mean(means: Sequence[float], sizes: Sequence[int]) -> float:
    """Every example weighs the same: sum of n_b m_b over sum of n_b. NaN without batches."""
    return math.fsum(m * n for m, n in zip(means, sizes, strict=True)) / sum(sizes) if sizes else math.nan


@dataclass(frozen=True)
class MeanReport:
    """One metric over one validation set, by every road. Without any batch (all dropped) the means are NaN."""

    sizes: tuple[int, ...]
    means: tuple[float, ...]
    """The mean of each batch."""
    full: float
    """The whole set at once: what is to be reported."""
    naive: float
    weighted: float
    """Equal to `full`, unless drop_last left examples out."""
    last_batch: float
    """What a loop reports that prints its loss variable after the last batch."""
    means_over_dataset: float
    """The sum of the batch means divided by `len(dataset)`: too small by about the batch size."""
    totals_over_loader: float
    """The sum over all examples divided by `len(loader)`: too large by about the batch size."""
    dropped: int
    """Examples that drop_last left unmeasured."""


def report_means(values: Values, size: int, *, drop_last: bool = False) -> MeanReport:
    """Average `values`, one for each example, in batches of `size`."""
    sizes = batch_sizes(len(values), size, drop_last=drop_last)
    means = batch_means(values, size, drop_last=drop_last)
    total = math.fsum(m * n for m, n in zip(means, sizes, strict=True))
    return MeanReport(
        sizes=sizes,
        means=means,
        full=math.fsum(values) / len(values),
        naive=naive_mean(means, sizes),
        weighted=weighted_mean(means, sizes),
        last_batch=means[-1] if means else math.nan,
        means_over_dataset=math.fsum(means) / len(values),
        totals_over_loader=total / len(sizes) if sizes else math.nan,
        dropped=len(values) - sum(sizes),
    )


def naive_bias(values: Values, size: int) -> float:
    """Naive mean minus full mean, as one sum of what each example weighs too much or too little.

    An example in a batch of n_b, one of k, weighs 1/(k n_b), not 1/N. The difference is (N - k n_b)/(k n_b N), whose
    numerator is a whole number: it is zero, not merely small, where all batches are of one size.
    """
    sizes = batch_sizes(len(values), size)
    total, k = len(values), len(sizes)
    excess = (((total - k * n) / (k * n * total), n) for n in sizes)
    weights = (weight for weight, n in excess for _ in range(n))
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True))


def bias_curve(values: Values) -> tuple[float, ...]:
    """`naive_bias` for every batch size from 1 to N; the first entry is that of size 1."""
    return tuple(naive_bias(values, size) for size in range(1, len(values) + 1))


def drop_last_curve(values: Values) -> tuple[float, ...]:
    """Weighted mean under drop_last minus full mean, for every batch size from 1 to N."""
    full = math.fsum(values) / len(values)
    curve = []
    for size in range(1, len(values) + 1):
        kept = len(values) - len(values) % size
        curve.append(math.fsum(values[:kept]) / kept - full if kept < len(values) else 0.0)
    return tuple(curve)


FURTHER_WAYS = """\
    over_dataset = sum(batch.mean() for batch in batches) / len(values)
    over_loader = sum(batch.sum() for batch in batches) / len(batches)
    print(f"  last batch {batches[-1].mean():.4f}  means over dataset {over_dataset:.4f}"
          f"  totals over loader {over_loader:.4f}")
"""
"""The end of both scripts: what `last_batch`, `means_over_dataset` and `totals_over_loader` report."""


def script(size: int, *, drop_last: bool = False, seed: int = 42) -> str:
    """A NumPy file that prints naive, weighted and full means of the lesson's block, to four digits."""
    stop = "len(loss) - len(loss) % size" if drop_last else "len(loss)"
    return f"""\
import numpy as np

rng = np.random.default_rng({seed})
loss = rng.exponential(0.55, 200)
correct = rng.random(200) < 0.80
loss[192:] *= 0.3
correct[192:] = True

size = {size}
starts = range(0, {stop}, size)
for name, values in (("loss", loss), ("accuracy", correct)):
    batches = [values[start:start + size] for start in starts]
    naive = np.mean([batch.mean() for batch in batches])
    weighted = sum(batch.mean() * len(batch) for batch in batches) / sum(len(batch) for batch in batches)
    print(f"{{name:<8}} naive {{naive:.4f}}  weighted {{weighted:.4f}}  full set {{values.mean():.4f}}")
{FURTHER_WAYS}"""
