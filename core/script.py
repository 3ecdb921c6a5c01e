"""The state on the screen as a script to take home: plain PyTorch, no import of this project, the same numbers."""

from __future__ import annotations

from core.loop import CALLS
from core.scenes import SCENES
from core.trace import StepConfig, replay

_SHOW = """\
def show(call):
    grad = "None" if w.grad is None else f"{w.grad.flatten()[0].item():.4f}"
    now = f"{loss.item():.4f}" if "loss" in globals() else "-"
    print(f"{call:<10} {watched} = {w.flatten()[0].item():.4f}   grad = {grad}   loss = {now}")"""


def script(config: StepConfig, calls: str) -> str:
    """A file that makes `calls` and prints the watched weight, its gradient and the loss after each, to four digits."""
    config = config.resolved()
    scene = SCENES[config.scene]
    lines = scene.lines if config.set_to_none else {**scene.lines, "z": "opt.zero_grad(set_to_none=False)"}
    parts = [
        *(["import itertools"] if "itertools" in scene.setup else []),
        "import torch",
        *(["from torch import nn"] if scene.is_classifier else []),
        "",
        f"torch.manual_seed({config.seed})",
        scene.setup,
        f"opt = {optimizer_line(config)}",
        "",
        "",
        _SHOW.replace("{watched}", scene.watched),
        "",
        "",
        'show("start")',
    ]
    for code, snapshot in zip(calls, replay(config, calls)[1:], strict=True):
        if snapshot.error is None:
            parts.append(lines[code])
        else:
            parts += [
                "try:",
                *(f"    {line}" for line in lines[code].split("; ")),
                f"except {type(snapshot.error).__name__} as error:",
                '    print(type(error).__name__ + ":", error)',
            ]
        parts.append(f'show("{CALLS[code]}")')
    return "\n".join(parts) + "\n"


def optimizer_line(config: StepConfig) -> str:
    """The line of a script that makes the optimizer of `config`."""
    config = config.resolved()
    parameters = "model.parameters()" if SCENES[config.scene].is_classifier else "[w]"
    if config.optimizer == "adamw":
        return f"torch.optim.AdamW({parameters}, lr={config.lr}, weight_decay={config.weight_decay})"
    momentum = f", momentum={config.momentum}" if config.momentum else ""
    decay = f", weight_decay={config.weight_decay}" if config.weight_decay else ""
    return f"torch.optim.SGD({parameters}, lr={config.lr}{momentum}{decay})"
