"""What the optimizers page shows: the state laid open, two rates, schedules; and the sentence to take from each."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from core import schedules
from core.config import Choice, Field, Number
from core.optimizers import TWO_RATES_FIELDS, OptimizerView, TwoLayerStep
from core.schedules import ScheduleConfig, ScheduleRun
from core.trace import FIELDS as STEP_FIELDS
from core.trace import StepConfig
from pages.ui.chart import COLOURS, layout
from pages.ui.code import code_html
from pages.ui.i18n import _, number, plain
from pages.ui.markup import heat_map, rich
from pages.ui.stepper_view import arithmetic
from pages.ui.tables import meter, table, value
from pages.ui.terms import sentence

_OF_SCHEDULE = ("schedule", "epochs", "batches", "planned", "step_size", "gamma", "warmup", "patience")
FIELDS: dict[str, Field] = {
    "view": Choice(("state", "layers", "schedule")),
    **{name: STEP_FIELDS[name] for name in ("optimizer", "lr", "momentum", "weight_decay", "seed")},
    "taken": Number(0, 20, whole=True),
    **{name: TWO_RATES_FIELDS[name] for name in ("first_lr", "second_lr", "steps")},
    "layers_optimizer": TWO_RATES_FIELDS["optimizer"],
    **{name: schedules.FIELDS[name] for name in _OF_SCHEDULE},
    "rate": schedules.FIELDS["lr"],
    "compare": Choice(("order", "per")),
}
"""What the address may say. `rate` is the schedule's lr; `taken`, the steps before the state is opened."""

SCHEDULE_CLASSES = {
    "steplr": "StepLR",
    "cosine": "CosineAnnealingLR",
    "onecycle": "OneCycleLR",
    "plateau": "ReduceLROnPlateau",
    "warmup-cosine": "warm-up + cosine",
}


def schedule_config(values: Mapping[str, Any], **changes: Any) -> ScheduleConfig:
    return ScheduleConfig(**{"lr": values["rate"], **{name: values[name] for name in _OF_SCHEDULE}, **changes})


def state(opened: OptimizerView) -> str:
    """Counts, the arithmetic of the next step, and every tensor, the parameter first."""
    parameters = sum(tensor.numel() for tensor in opened.parameters.values())
    counted = next((tensors["step"].item() for tensors in opened.state.values() if "step" in tensors), 0)
    counts = "".join(
        f'<div class="fc-figure"><span>{escape(text)}</span><b>{value(count, 0, name=name)}</b>'
        f"{meter(count, 20, kind)}</div>"
        for name, text, count, kind in (
            ("parameters", _("numbers in the model"), parameters, "weight"),
            ("state", _("numbers in the state"), opened.state_numbers, "state"),
            *([("step", "step", counted, "state")] * bool(counted)),
        )
    )
    if opened.next_step is None:
        nothing = _("The next step will move nothing.")
        sum_ = f'<div class="fc-where fc-quiet"><p>{rich(nothing)}</p></div>'
    else:
        title = _("The next step takes w[0,0] from {old} to {number}").format(
            number=number(opened.next_w), old=number(opened.w)
        )
        sum_ = arithmetic(opened.next_step, title)
    rows = []
    for name, parameter in opened.parameters.items():
        tensors = opened.state.get(name, {})
        maps = [heat_map(name, parameter, "weight", empty="")]
        maps += [heat_map(f"{key} ({name})", t, "state", empty="") for key, t in tensors.items() if key != "step"]
        if not tensors:
            maps.append(heat_map(f"state ({name})", None, "state", empty=_("none yet")))
        rows.append(f'<div class="fc-maps">{"".join(maps)}</div>')
    return f'<div class="fc-pair"><div>{counts}</div>{sum_}</div>{"".join(rows)}'


def state_say(config: StepConfig, opened: OptimizerView) -> str:
    numbers = {
        "steps": plain(opened.steps),
        "state": plain(opened.state_numbers),
        "parameters": plain(sum(tensor.numel() for tensor in opened.parameters.values())),
        "momentum": plain(config.momentum or 0),
    }
    if config.optimizer == "sgd":
        text = _(
            "After {steps} steps plain SGD remembers **nothing**: the next step depends on the new gradient alone."
        )
    elif opened.steps == 0:
        text = _("No step yet, so the state is empty: the optimizer makes its tensors at the first `step()`.")
    elif config.optimizer == "adamw":
        text = _(
            "AdamW keeps **{state} numbers beside {parameters} parameters**: two averages each, and a count for each "
            "tensor. Weights alone do not bring a run back; save `opt.state_dict()` too."
        )
    else:
        text = _(
            "Momentum keeps **{state} numbers beside {parameters} parameters**: the next step takes {momentum} of the "
            "old direction along. Weights alone do not bring a run back; save `opt.state_dict()` too."
        )
    return sentence(text.format(**numbers), "adamw", "momentum", "sgd", "state-dict")


def groups(opened: OptimizerView) -> str:
    lines = [f"# opt.param_groups[{i}]\n" + repr(dict(group)) for i, group in enumerate(opened.param_groups)]
    return f'<div class="fc-box fc-wrap">{code_html(chr(10).join(lines))}</div>'


def layers_code(first: float, second: float, optimizer: str) -> str:
    name = {"sgd": "SGD", "adamw": "AdamW"}[optimizer]
    return (
        '<div class="fc-box">'
        + code_html(
            f"opt = torch.optim.{name}([\n"
            f'    {{"params": model[0].parameters(), "lr": {first:g}}},\n'
            f'    {{"params": model[2].parameters(), "lr": {second:g}}},\n])'
        )
        + "</div>"
    )


def layers(row: TwoLayerStep) -> str:
    """What the last step did to each layer."""
    rows = [
        (
            name,
            value(layer.lr, name=f"lr{i}"),
            value(layer.gradient, name=f"gradient{i}"),
            value(layer.moved, name=f"moved{i}"),
        )
        for i, (name, layer) in enumerate(zip(("`model[0]`", "`model[2]`"), row.layers, strict=True))
    ]
    head = [_("at step {step}").format(step=plain(row.step)), "lr", _("length of the gradient"), _("moved by")]
    return table(head, rows, label=_("What the last step did to each layer"))


def layers_say(rows: tuple[TwoLayerStep, ...], optimizer: str) -> str:
    first, second = rows[-1].layers
    numbers = {
        "lr": number(first.lr),
        "gradient": number(first.gradient),
        "moved": number(first.moved),
        "other": number(second.moved),
        "start": number(rows[0].loss),
        "loss": number(rows[-1].loss),
    }
    if first.lr == second.lr == 0:
        text = _("Both layers are frozen: gradients arrive, nothing moves, and the loss stays at {loss}.")
    elif 0 in (first.lr, second.lr):
        text = _(
            "A layer at lr 0 is **frozen**: its gradient arrives, yet it moves by nothing. The other alone brings the "
            "loss from {start} to {loss}."
        )
    elif optimizer == "sgd":
        text = _(
            "Each layer moves by **its own lr times its own gradient**: {lr} × {gradient} = {moved} for the first, "
            "{other} for the second. Loss {start} → {loss}."
        )
    else:
        text = _(
            "AdamW divides each gradient by its own size, so **the lr alone says how far a layer moves**: {moved} and "
            "{other}, whatever the gradients. Loss {start} → {loss}."
        )
    return sentence(text.format(**numbers))


def layers_figure(rows: tuple[TwoLayerStep, ...]) -> dict[str, Any]:
    """How far each layer moved at every step."""
    steps = [row.step for row in rows]
    lines = (("model[0]", 0, COLOURS["weight"], "solid"), ("model[2]", 1, COLOURS["val"], "dash"))
    data = [_line(name, steps, [row.layers[i].moved for row in rows], colour, dash) for name, i, colour, dash in lines]
    figure = {
        "data": data,
        "layout": layout(_("How far each layer moves"), _("optimizer step"), _("length of the move")),
    }
    figure["layout"]["annotations"] = [
        _named(name, steps[0], rows[0].layers[i].moved, colour, 14) for name, i, colour, _dash in lines
    ]
    return figure


def _line(name: str, x: list[int], y: list[float], colour: str, dash: str, shape: str = "linear") -> dict[str, Any]:
    line = {"color": colour, "dash": dash, "width": 3, "shape": shape}
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line}


def _named(text: str, x: float, y: float, colour: str, shift: int) -> dict[str, Any]:
    return {
        "x": x, "y": y, "text": text, "showarrow": False, "xanchor": "left", "xshift": 8, "yshift": shift,
        "font": {"color": colour, "size": 14}, "bgcolor": COLOURS["paper"],
    }  # fmt: skip


def rates(runs: Mapping[str, ScheduleRun], every: int, *, right: int | None) -> str:
    """The rate used in each of the first eight epochs, a row a run; what is not as in the `right` run is marked."""
    first = list(runs.values())[right or 0].used[::every][:8]
    rows = []
    for k, (name, run) in enumerate(runs.items()):
        shown = run.used[::every][: len(first)]
        cells = ["–"] * len(first)
        for i, rate in enumerate(shown):
            cells[i] = value(rate, name=f"rate-{k}-{i}")
            if right is not None and rate != first[i]:
                cells[i] = f'<span class="fc-wrong">✗ {cells[i]}</span>'
        rows.append((name, *cells))
    head = [_("lr used in"), *(_("epoch {i}").format(i=plain(i + 1)) for i in range(len(first)))]
    return table(head, rows, label=_("Learning rates used"))


def warned(run: ScheduleRun) -> str:
    """PyTorch's own words on this run, in room that is kept for them."""
    said = run.error or (run.warning and f"UserWarning: {run.warning}")
    body = f'<pre class="fc-error">{escape(said)}</pre>' if said else ""
    return f'<div class="fc-warned">{body}</div>'


def order_say(right: ScheduleRun, wrong: ScheduleRun, skipped: float | None) -> str:
    if wrong.warning is None and right.used != wrong.used:
        text = _(
            "`ReduceLROnPlateau` gives no warning, but called first it sees each val loss **before the step that it "
            "should judge**, and cuts the rate earlier."
        )
    elif skipped is not None and wrong.used[0] != skipped:
        text = _("Called first, the scheduler **skipped {skipped}**: the very first step used {second}.")
        text = text.format(skipped=number(skipped), second=number(wrong.used[0]))
    elif skipped is not None:
        text = _(
            "Called first, the scheduler cut the first value short: {skipped} lasted **{wrong} steps, not {right}**."
        )
        lasted = {"wrong": schedules.leading(wrong.used, skipped), "right": schedules.leading(right.used, skipped)}
        text = text.format(skipped=number(skipped), **{name: plain(count) for name, count in lasted.items()})
    else:
        text = _("Here both orders used the same rates. The right order is still the same: optimizer, then scheduler.")
    return sentence(text, "scheduler", "reduce-on-plateau")


def per_say(config: ScheduleConfig, once: ScheduleRun, every: ScheduleRun) -> str:
    """`config` is either of the two: they differ in `per` alone."""
    numbers = {
        "length": plain(config.length),
        "epochs": plain(config.epochs),
        "steps": plain(len(every.used)),
        "once": number(once.used[-1]),
        "every": number(every.used[-1]),
    }
    if every.error:
        text = _(
            "Planned in epochs, called after every batch: the schedule was used up, and **raised at step {steps}**."
        )
    elif config.schedule in ("steplr", "plateau"):
        text = _(
            "A schedule counts **calls of `scheduler.step()`**, not epochs: {epochs} of them leave the rate at {once}, "
            "{steps} of them at {every}."
        )
    else:
        text = _(
            "A schedule counts **calls of `scheduler.step()`**, not epochs: this one is planned for {length}. Once an "
            "epoch makes {epochs} calls, after every batch {steps}."
        )
    return sentence(text.format(**numbers))


def rates_figure(runs: Mapping[str, ScheduleRun], *, right: int | None) -> dict[str, Any]:
    """The rate that every optimizer step really used, in both ways."""
    data, names = [], []
    for k, (name, run) in enumerate(runs.items()):
        colour = COLOURS[("train", "val")[k] if right is None else "best" if k == right else "stop"]
        dash = "solid" if k == (right or 0) else "dash"
        data.append(_line(name, list(range(1, len(run.used) + 1)), list(run.used), colour, dash, shape="hv"))
        i = (len(run.used) - 1) * (3 if k else 2) // 4
        names.append(_named(name, i + 1, run.used[i], colour, 14))
    figure = {"data": data, "layout": layout(_("Learning rate that each step used"), _("optimizer step"), "lr")}
    figure["layout"]["annotations"] = names
    figure["layout"]["yaxis"]["rangemode"] = "tozero"
    return figure
