"""Losses on logits: softmax once and twice, one logit fused and apart, and what each loss takes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import loss_inputs
from core.config import Choice
from core.losses import FIELDS, at_logit, logit_script, logits_script, report_logits, sweep_logit
from pages.ui import losses_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, number, plain
from pages.ui.links import see_the_mistake
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets

PAGE = "losses"
ADDRESS = {"view": Choice(("twice", "logit", "takes")), **FIELDS, **loss_inputs.FIELDS}
DEFAULTS = {
    "view": "twice",
    **{"z0": 0.0, "z1": 4.0, "z2": 0.0, "target": "0"},
    **{"logit": 200.0, "label": "0", "dtype": "float32"},
    **{"loss": "crossentropyloss", "input_shape": "4x3", "input_dtype": "float32"},
    **{"target_shape": "4", "target_dtype": "float32"},
}
SEGMENTS = partial(st.segmented_control, required=True)
SWITCH = partial(st.segmented_control, required=True, label_visibility="collapsed")


def set_logits(logits: tuple[float, float, float]) -> None:
    change_settings(PAGE, **dict(zip(("z0", "z1", "z2"), logits, strict=True)), target="0")


def softmax_twice(values: dict, widgets: SettingWidgets) -> None:
    """Three logits, both ways."""
    *sliders, target = st.columns([1, 1, 1, 0.9])
    for i, column in enumerate(sliders):
        with column:
            widgets.slider(f"z{i}", _("Logit of class {i}").format(i=plain(i)), step=0.5)
    with target:
        widgets.choice("target", _("True class ●"), {str(i): plain(i) for i in range(3)}, widget=SEGMENTS)
    presets = {
        _("Sure and wrong"): (0.0, 4.0, 0.0),
        _("Sure and right"): (4.0, 0.0, 0.0),
        _("No idea"): (0.0, 0.0, 0.0),
        _("A little right"): (2.0, 0.5, -1.0),
    }
    row = st.container(horizontal=True)
    for i, (text, logits) in enumerate(presets.items()):
        row.button(text, key=f"losses_preset_{i}", on_click=set_logits, args=(logits,))
    logits, y = tuple(values[f"z{i}"] for i in range(3)), int(values["target"])
    report = report_logits(logits, y)
    st.html(f'<div class="fc-ready">{view.both_ways(report)}{view.both_ways_say(report)}</div>')
    copy_actions(logits_script(logits, y))
    see_the_mistake("softmax")
    with st.expander(_("Three spellings of the loss on logits, one number")):
        st.html(view.spellings(report))


def one_logit(values: dict, widgets: SettingWidgets) -> None:
    """One logit, fused and apart."""
    slider, label, dtype = st.columns([2.2, 0.6, 1.6])
    with slider:
        widgets.slider("logit", _("Logit"), step=1)
    with label:
        widgets.choice("label", _("Label"), {"0": plain(0), "1": plain(1)}, widget=SEGMENTS)
    with dtype:
        widgets.choice("dtype", _("Type"), {name: name for name in ADDRESS["dtype"].names}, widget=SEGMENTS)
    logit, y, kind = values["logit"], int(values["label"]), values["dtype"]
    at, sweep = at_logit(logit, y, kind), sweep_logit(y, kind)
    st.html(f'<div class="fc-ready">{view.one_logit(at)}{view.one_logit_say(at)}</div>')
    copy_actions(logit_script(logit, y, kind))
    for column, of in zip(st.columns(2), ("loss", "gradient"), strict=True):
        words = _("{what} from logit −200 to 200 by both ways; at {logit}: {fused} fused, {split} apart.").format(
            what=of,
            logit=plain(logit),
            fused=number(getattr(at, f"fused_{of}")[0]),
            split=number(getattr(at, f"split_{of}")[0]),
        )
        with column:
            chart(view.sweep_figure(sweep, logit, of), f"sweep_{of}", words=words, height=270)


def what_it_takes(values: dict, widgets: SettingWidgets) -> None:
    """A loss, and shapes and types to try on it."""
    names = {
        "loss": (_("Loss"), {name.lower(): name for name in loss_inputs.LOSSES}),
        "input_shape": (_("Input shape"), {loss_inputs.shape_code(s): str(s) for s in loss_inputs.INPUT_SHAPES}),
        "input_dtype": (_("Input type"), {name: name for name in loss_inputs.INPUT_DTYPES}),
        "target_shape": (_("Target shape"), {loss_inputs.shape_code(s): str(s) for s in loss_inputs.TARGET_SHAPES}),
        "target_dtype": (_("Target type"), {name: name for name in loss_inputs.TARGET_DTYPES}),
    }
    for column, (name, (label, options)) in zip(st.columns([1.5, 1, 1, 1, 1]), names.items(), strict=True):
        with column:
            widgets.choice(name, label, options)
    case = loss_inputs.case_of(values)
    found = loss_inputs.what_does_it_take(*case)
    st.html(f'<div class="fc-ready">{view.call_code(case)}{view.answer(found)}</div>')
    copy_actions(loss_inputs.script(*case))
    with st.expander(_("Three wrong calls that raise nothing")):
        st.html(view.silent(loss_inputs.silent_cases()))


settings = {**DEFAULTS, **read_settings(PAGE, ADDRESS)}
write_settings(PAGE, settings)
questions = {
    "twice": (_("What does a second softmax cost?"), _("`CrossEntropyLoss` does its own softmax, on logits.")),
    "logit": (
        _("Why `BCEWithLogitsLoss`, and not `sigmoid` then `BCELoss`?"),
        _("One logit z, label y, and the type it is computed in."),
    ),
    "takes": (_("What does each loss take?"), _("Choose shapes and types; PyTorch answers.")),
}
parts = {
    "twice": (_("Softmax twice"), softmax_twice),
    "logit": (_("One logit"), one_logit),
    "takes": (_("What does it take?"), what_it_takes),
}
heading(*questions[settings["view"]])
widgets = SettingWidgets(PAGE, ADDRESS, settings)
widgets.choice("view", _("Part"), {name: title for name, (title, _draw) in parts.items()}, widget=SWITCH)
parts[settings["view"]][1](settings, widgets)
