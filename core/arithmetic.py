"""Where a number comes from: the watched weight's logit, loss, gradient and step, with the numbers in place.

Every result is worked out here from the terms shown, in Python's floats, from the float32 values of the snapshots; that
it equals what PyTorch computed is for the tests to hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from core.scenes import SCENES
from core.trace import Snapshot, StepConfig

Line = tuple[str | float, ...]


@dataclass(frozen=True)
class Derivation:
    """`lines` of text and numbers, to be set in a row each; the last line ends with `result`."""

    lines: tuple[Line, ...]
    result: float


def derive(config: StepConfig, before: Snapshot | None, now: Snapshot) -> Derivation | None:
    """How the number that the call `now` has just made comes about; None where it made none."""
    if before is None or now.outcome in ("error", "nothing"):
        return None
    classifier = SCENES[config.scene].is_classifier
    if now.call == "forward":
        return _logit(config, now) if classifier else _output(now)
    if now.call == "loss":
        return _cross_entropy(config, now) if classifier else _half_square(now)
    if now.call == "backward":
        return _with_old(before, _class_gradient(config, now) if classifier else _scalar_gradient(now))
    if now.call == "step":
        return _adamw(config, before, now) if config.resolved().optimizer == "adamw" else _sgd(config, before, now)
    return None


def _examples(config: StepConfig, batch: int) -> tuple[list[list[float]], list[int]]:
    x, y = SCENES[config.scene].batches()[batch]
    return x.tolist(), y.tolist()


def _logit(config: StepConfig, now: Snapshot) -> Derivation:
    x = _examples(config, now.batch)[0][0]
    weight, bias = now.parameters["weight"][0].tolist(), now.parameters["bias"][0].item()
    result = sum(w * xi for w, xi in zip(weight, x, strict=True)) + bias
    terms = ("(", weight[0], ")(", x[0], ") + (", weight[1], ")(", x[1], ") + (", bias, ") = ", result)
    return Derivation((("w[0,0]·x₁ + w[0,1]·x₂ + b[0]",), terms), result)


def _output(now: Snapshot) -> Derivation:
    return Derivation((("3 · ", now.w, " = ", 3 * now.w),), 3 * now.w)


def _cross_entropy(config: StepConfig, now: Snapshot) -> Derivation:
    _, targets = _examples(config, now.loss_batch)
    probabilities = torch.softmax(now.loss_logits.double(), dim=1)
    chosen = [probabilities[i, y].item() for i, y in enumerate(targets)]
    terms = [-math.log(p) if p > 0 else math.inf for p in chosen]
    lines: list[Line] = [("−log ", p, " = ", term) for p, term in zip(chosen, terms, strict=True)]
    divisor = SCENES[config.scene].loss_divisor
    result = sum(terms) / len(terms) / divisor
    total = f") ÷ {len(terms)}" + (f" ÷ {divisor}" if divisor > 1 else "") + " = "
    lines.append(("(", *_joined(terms, " + "), total, result))
    return Derivation(tuple(lines), result)


def _half_square(now: Snapshot) -> Derivation:
    output = now.loss_logits.item()
    return Derivation((("(", output, ")² ÷ 2 = ", output**2 / 2),), output**2 / 2)


def _class_gradient(config: StepConfig, now: Snapshot) -> Derivation:
    x, targets = _examples(config, now.loss_batch)
    p = torch.softmax(now.loss_logits.double(), dim=1)[:, 0].tolist()
    products = [(pi - (y == 0)) * xi[0] for pi, y, xi in zip(p, targets, x, strict=True)]
    terms: list[str | float] = []
    for pi, y, xi in zip(p, targets, x, strict=True):
        terms += [" + " if terms else "", "(", pi, " − 1)(" if y == 0 else ")(", xi[0], ")"]
    divisor = len(p) * SCENES[config.scene].loss_divisor
    result = sum(products) / divisor
    symbols = " + ".join("(p − 1)·x₁" if y == 0 else "p·x₁" for y in targets)
    return Derivation(
        ((f"({symbols}) ÷ {divisor}",), (*terms, " = ", sum(products)), (sum(products), f" ÷ {divisor} = ", result)),
        result,
    )


def _scalar_gradient(now: Snapshot) -> Derivation:
    output = now.loss_logits.item()
    return Derivation((("3 · 3w",), ("3 · ", output, " = ", 3 * output)), 3 * output)


def _with_old(before: Snapshot, new: Derivation) -> Derivation:
    """Add what was in `.grad` already: backward adds, it does not replace."""
    if not before.grad:
        return new
    result = before.grad + new.result
    return Derivation((*new.lines, (".grad: ", before.grad, " + ", new.result, " = ", result)), result)


def _state(snapshot: Snapshot, key: str) -> float | None:
    tensors = next(iter(snapshot.optimizer_state.values()), {})
    return tensors[key].reshape(-1)[0].item() if key in tensors else None


def _sgd(config: StepConfig, before: Snapshot, now: Snapshot) -> Derivation | None:
    if now.grad is None:
        return None
    config = config.resolved()
    lines: list[Line] = []
    direction = now.grad
    if config.weight_decay:
        decayed = direction + config.weight_decay * before.w
        lines.append(("g = ", direction, f" + {config.weight_decay:g} · ", before.w, " = ", decayed))
        direction = decayed
    if config.momentum:
        old = _state(before, "momentum_buffer")
        if old is None:
            lines.append(("buffer = g = ", direction))
        else:
            buffer = config.momentum * old + direction
            lines.append((f"buffer = {config.momentum:g} · ", old, " + ", direction, " = ", buffer))
            direction = buffer
    result = before.w - config.lr * direction
    lines.append(("w = ", before.w, f" − {config.lr:g} · ", direction, " = ", result))
    return Derivation(tuple(lines), result)


def _adamw(config: StepConfig, before: Snapshot, now: Snapshot) -> Derivation | None:
    if now.grad is None:
        return None
    config = config.resolved()
    beta1, beta2, eps = 0.9, 0.999, 1e-8  # torch.optim.AdamW's defaults, which make_optimizer leaves alone
    g, m, v = now.grad, _state(before, "exp_avg") or 0.0, _state(before, "exp_avg_sq") or 0.0
    t = int(_state(before, "step") or 0) + 1
    shrunk = before.w * (1 - config.lr * config.weight_decay)
    m_new, v_new = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    m_hat, v_hat = m_new / (1 - beta1**t), v_new / (1 - beta2**t)
    result = shrunk - config.lr * m_hat / (math.sqrt(v_hat) + eps)
    lines: list[Line] = []
    if config.weight_decay:
        lines.append(("w·(1 − lr·wd) = ", before.w, f" · (1 − {config.lr:g} · {config.weight_decay:g}) = ", shrunk))
    lines += [
        (f"m = {beta1} · ", m, f" + {1 - beta1:.1f} · ", g, " = ", m_new),
        (f"v = {beta2} · ", v, f" + {1 - beta2:.3f} · ", g, "² = ", v_new),
        (f"m̂ = m ÷ (1 − {beta1}^{t}) = ", m_hat),
        (f"v̂ = v ÷ (1 − {beta2}^{t}) = ", v_hat),
        ("w = ", shrunk, f" − {config.lr:g} · ", m_hat, " ÷ (√", v_hat, f" + {eps:g}) = ", result),
    ]
    return Derivation(tuple(lines), result)


def _joined(numbers: list[float], between: str) -> list[str | float]:
    joined: list[str | float] = []
    for number in numbers:
        joined += [between, number] if joined else [number]
    return joined
