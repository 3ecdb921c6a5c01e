"""Means over batches: naive against weighted, at every batch size."""

from __future__ import annotations

from functools import lru_cache, partial

import streamlit as st

from core import customer_metrics, metrics
from core.metrics import FIELDS, PerExample, bias_curve, drop_last_curve, report_means
from pages.ui import metrics_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, number, plain
from pages.ui.links import see_the_mistake
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets

PAGE = "metrics"
DEFAULTS = {"size": 64, "drop_last": False, "source": "block"}
SEGMENTS = partial(st.segmented_control, required=True)


@lru_cache(maxsize=1)
def block() -> PerExample:
    return metrics.validation_block()


def set_size(size: int) -> None:
    change_settings(PAGE, size=size)


settings = {**DEFAULTS, **read_settings(PAGE, FIELDS)}
write_settings(PAGE, settings)
size, drop_last, from_block = settings["size"], settings["drop_last"], settings["source"] == "block"
examples = block() if from_block else customer_metrics.customers()
loss = report_means(examples.loss, size, drop_last=drop_last)
accuracy = report_means(examples.correct, size, drop_last=drop_last)

heading(
    _("Is the mean of the batch means the mean?"),
    _("{total} validation examples in {count} batches of {size}").format(
        total=plain(len(examples.loss)), count=plain(len(loss.sizes)), size=plain(size)
    ),
)
widgets = SettingWidgets(PAGE, FIELDS, settings)
slider, source, drop = st.columns([2.4, 1.5, 0.9], vertical_alignment="bottom")
with slider:
    widgets.slider("size", _("Batch size"), step=1)
with source:
    names = {"block": _("The lesson's 200"), "customers": _("The customers' model")}
    widgets.choice("source", _("Losses from"), names, widget=SEGMENTS)
with drop:
    widgets.flag("drop_last", "`drop_last`")
row = st.container(horizontal=True)
for preset in (32, 50, 64, 128, 199, 200):
    row.button(plain(preset), key=f"metrics_size_{preset}", on_click=set_size, args=(preset,))
st.html(
    f'<div class="fc-ready">{view.means(loss, accuracy)}{view.weights(loss)}'
    f"{view.takeaway(size, loss, accuracy, drop_last=drop_last)}</div>"
)
copy_actions((metrics if from_block else customer_metrics).script(size, drop_last=drop_last))
curve = drop_last_curve if drop_last else bias_curve
curves = curve(examples.loss), curve(examples.correct)
words = _("The bias at every batch size from 1 to {total}; at {size}: loss {loss}, accuracy {accuracy}.").format(
    total=plain(len(examples.loss)),
    size=plain(size),
    loss=number(curves[0][size - 1]),
    accuracy=number(curves[1][size - 1]),
)
chart(view.bias_figure(*curves, size, drop_last=drop_last), "bias", words=words, height=250)
with st.expander(_("Three more ways to report a wrong loss")):
    st.html(view.further_ways(loss))
see_the_mistake("naive-mean")
