"""Optimizers: the state laid open, a rate for each layer, and learning-rate schedules."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core import customer_metrics, schedules
from core.optimizers import state_script, two_rates, two_rates_script, view_optimizer
from core.schedules import compare_orders, compare_script, run_schedule
from core.trace import StepConfig
from pages.ui import optimizers_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, number, plain
from pages.ui.links import see_the_mistake
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets

PAGE = "optimizers"
DEFAULTS = {
    **{"view": "state", "optimizer": "adamw", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01, "seed": 0, "taken": 3},
    **{"first_lr": 0.1, "second_lr": 0.5, "steps": 20, "layers_optimizer": "sgd"},
    **{"schedule": "steplr", "rate": 0.1, "epochs": 12, "batches": 7, "planned": "epoch", "step_size": 4},
    **{"gamma": 0.5, "warmup": 3, "patience": 2, "compare": "order"},
}
SEGMENTS = partial(st.segmented_control, required=True)
SWITCH = partial(st.segmented_control, required=True, label_visibility="collapsed")


def opened_state(values: dict[str, Any], widgets: SettingWidgets) -> None:
    """The state after so many steps, and the arithmetic of the next."""
    slider, choice, menu = st.columns([2, 1.7, 0.9], vertical_alignment="bottom")
    with slider:
        widgets.slider("taken", _("Steps taken"), step=1)
    with choice:
        names = {"sgd": "SGD", "sgd-momentum": "SGD + momentum", "adamw": "AdamW"}
        widgets.choice("optimizer", _("Optimizer"), names, widget=SEGMENTS)
    with menu.popover(_("Settings"), width="stretch"):
        widgets.number("lr", _("Learning rate"), step=0.01)
        if values["optimizer"] == "sgd-momentum":
            widgets.number("momentum", _("Momentum"), step=0.1)
        widgets.number("weight_decay", _("Weight decay"), step=0.01)
        widgets.number("seed", _("Seed"), step=1)
    momentum = values["momentum"] if values["optimizer"] == "sgd-momentum" else None
    config = StepConfig("linear", values["optimizer"], values["lr"], momentum, values["weight_decay"])
    config = StepConfig(**{**vars(config), "seed": values["seed"]}).resolved()
    opened = view_optimizer(config, values["taken"])
    st.html(f'<div class="fc-ready">{view.state_say(config, opened)}{view.state(opened)}</div>')
    copy_actions(state_script(config, values["taken"]))
    with st.expander(_("`param_groups`: the settings, as PyTorch keeps them")):
        st.html(view.groups(opened))


def two_layers(values: dict[str, Any], widgets: SettingWidgets) -> None:
    """A rate for each of two layers."""
    first, second, steps, choice = st.columns([1.2, 1.2, 1, 0.9])
    with first:
        widgets.slider("first_lr", _("lr of the first layer"), step=0.01)
    with second:
        widgets.slider("second_lr", _("lr of the second layer"), step=0.01)
    with steps:
        widgets.slider("steps", _("Steps"), step=1)
    with choice:
        widgets.choice("layers_optimizer", _("Optimizer"), {"sgd": "SGD", "adamw": "AdamW"}, widget=SEGMENTS)
    given = [values[name] for name in ("first_lr", "second_lr", "steps", "layers_optimizer", "seed")]
    rows = two_rates(*given)
    code = view.layers_code(values["first_lr"], values["second_lr"], values["layers_optimizer"])
    st.html(
        f'<div class="fc-ready"><div class="fc-pair">{code}{view.layers(rows[-1])}</div>'
        f"{view.layers_say(rows, values['layers_optimizer'])}</div>"
    )
    copy_actions(two_rates_script(*given))
    last = rows[-1]
    words = _("How far each layer moved at every step; at step {step}: {first} and {second}.").format(
        step=plain(last.step), first=number(last.layers[0].moved), second=number(last.layers[1].moved)
    )
    chart(view.layers_figure(rows), "layers", words=words, height=260)


def schedule(values: dict[str, Any], widgets: SettingWidgets) -> None:
    """A schedule in the right order and the wrong one, or called once an epoch and after every batch."""
    name, by_order = values["schedule"], values["compare"] == "order"
    planned_shows = not by_order and name not in ("steplr", "plateau")  # whose length is not planned
    choice, slider, compare, planned, menu = st.columns([1.25, 1.2, 1.35, 1.05, 0.75], vertical_alignment="bottom")
    with choice:
        widgets.choice("schedule", _("Schedule"), view.SCHEDULE_CLASSES)
    knobs = {"steplr": ("step_size", "step_size"), "plateau": ("patience", "patience")}
    knob, label = knobs.get(name, ("warmup", _("Warm-up")) if name == "warmup-cosine" else ("epochs", _("Epochs")))
    with slider:
        widgets.slider(knob, label, step=1)
    with compare:
        names = {"order": _("order"), "per": _("epoch, batch")}
        widgets.choice("compare", _("Compare"), names, widget=SEGMENTS)
    if planned_shows:
        with planned:
            units = {"epoch": _("epochs"), "batch": _("batches")}
            widgets.choice("planned", _("Planned in"), units, widget=SEGMENTS)
    with menu.popover(_("Settings"), width="stretch"):
        widgets.number("rate", "lr", step=0.01)
        if knob != "epochs":
            widgets.number("epochs", _("Epochs"), step=1)
        widgets.number("batches", _("Batches in an epoch"), step=1)
        if name in ("steplr", "plateau"):
            widgets.number("gamma", "gamma", step=0.1)
    losses = customer_metrics.val_losses() if name == "plateau" else ()
    if by_order:
        config = view.schedule_config(values, planned="epoch")
        report = compare_orders(config, losses)
        wrong = view.schedule_config(values, planned="epoch", scheduler_first=True)
        configs = {"right order": config, "wrong order": wrong}
        runs, right = {_("✓ scheduler last"): report.right, _("✗ scheduler first"): report.wrong}, 0
        sentence = view.order_say(report.right, report.wrong, report.skipped)
    else:
        configs = {f"once per {per}": view.schedule_config(values, per=per) for per in ("epoch", "batch")}
        once, every = (run_schedule(config, losses) for config in configs.values())
        right = ("epoch", "batch").index(values["planned"]) if planned_shows else None
        runs = {_("once an epoch"): once, _("after every batch"): every}
        sentence = view.per_say(configs["once per epoch"], once, every)
    table = view.rates(runs, values["batches"], right=right)
    warned = view.warned(list(runs.values())[1]) if (by_order and name != "plateau") or name == "onecycle" else ""
    st.html(f'<div class="fc-ready">{table}{sentence}{warned}</div>')
    copy_actions(compare_script(configs, losses))
    words = " ".join(
        _("{name}: the rate starts at {first} and ends at {last}.").format(
            name=title, first=number(run.used[0]), last=number(run.used[-1])
        )
        for title, run in runs.items()
    )
    chart(view.rates_figure(runs, right=right), "rates", words=words, height=240)
    if by_order:
        see_the_mistake("scheduler-first")


settings = {**DEFAULTS, **read_settings(PAGE, view.FIELDS)}
write_settings(PAGE, settings)
questions = {
    "state": (_("What does an optimizer remember?"), _("`nn.Linear(2, 3)`, four examples, the right order of calls.")),
    "layers": (
        _("Can two layers learn at two rates?"),
        _("`nn.Linear(2, 8)`, `nn.Tanh()`, `nn.Linear(8, 3)`: each Linear in a `param_group` of its own."),
    ),
    "schedule": (
        _("What if the scheduler steps first?")
        if settings["compare"] == "order"
        else _("Once an epoch, or after every batch?"),
        _(schedules.NAMES[settings["schedule"]]),
    ),
}
parts = {
    "state": (_("The state"), opened_state),
    "layers": (_("Two layers"), two_layers),
    "schedule": (_("Schedules"), schedule),
}
heading(*questions[settings["view"]])
widgets = SettingWidgets(PAGE, view.FIELDS, settings)
widgets.choice("view", _("Part"), {name: title for name, (title, _draw) in parts.items()}, widget=SWITCH)
parts[settings["view"]][1](settings, widgets)
