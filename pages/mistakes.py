"""The page of mistakes: the right loop and the wrong one, both trained here, and what tells them apart."""

from __future__ import annotations

from html import escape

import streamlit as st

from core.config import Choice
from core.data import bazarghar
from core.mistake_code import code_pair, script
from core.mistakes import EPOCHS, FIELDS, MISTAKES, run_mistake
from pages.ui import mistakes_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, localise, plain
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets
from pages.ui.terms import sentence

PAGE = "mistakes"
ADDRESS = {**FIELDS, "chart": Choice(tuple(view.CHARTS)), "copy": Choice(("right", "wrong"))}

settings = read_settings(PAGE, ADDRESS)
values = {"mistake": "softmax", "seed": 0, "copy": "wrong", **settings}
values.setdefault("chart", view.FIRST_CHART.get(values["mistake"], "val"))
write_settings(PAGE, values)
mistake, seed = MISTAKES[values["mistake"]], values["seed"]
widgets = SettingWidgets(PAGE, ADDRESS, values, followers={"mistake": ("chart",)})

question, again = st.columns([8, 2.6], vertical_alignment="center")
with question:
    heading(
        _("What gives a mistake away when nothing raises?"),
        _("Both loops trained here on {customers} customers, {epochs} epochs · seed {seed}").format(
            customers=plain(len(bazarghar().y)), epochs=plain(EPOCHS), seed=localise(str(seed))
        ),
    )
again.button(
    _("Train both with another seed"),
    on_click=change_settings,
    args=(PAGE,),
    kwargs={"seed": (seed + 1) % (2**32)},
    width="stretch",
)
widgets.choice(
    "mistake",
    _("Mistake"),
    {key: _(one.title) for key, one in MISTAKES.items()},
    widget=lambda *args, **kwargs: st.pills(*args, label_visibility="collapsed", required=True, **kwargs),
)
with st.spinner(_("Training both loops …")):
    right, wrong = (run_mistake(mistake.key, fault, seed) for fault in (False, True))
pair = code_pair(mistake.key, EPOCHS)
st.html(view.code_side_by_side(pair))
st.html(f'<div class="fc-two-lines">{sentence(view.take_away(mistake, right, wrong), ready=True)}</div>')

numbers, picture = st.columns([1.3, 1])
with numbers:
    st.html(view.numbers_table(mistake, right, wrong))
with picture:
    figure, words = view.CHARTS[values["chart"]](mistake, right, wrong)
    chart(figure, "mistakes_figure", words=words, height=236)
    widgets.choice(
        "chart",
        _("Chart"),
        {"val": _("Val loss"), "norm": _("Gradient norm"), "confidence": _("Confidence"), "lr": _("Learning rate")},
        widget=lambda *args, **kwargs: st.segmented_control(
            *args, label_visibility="collapsed", required=True, **kwargs
        ),
    )
st.html(view.why_not_accuracy(mistake, right, wrong))
if wrong.warning:
    st.html(f'<pre class="fc-error">{escape(wrong.warning)}</pre>')
with st.expander(_("Both loops from end to end, and the seed")):
    widgets.number("seed", _("Seed"), step=1)
    st.html(view.code_side_by_side(pair, whole=True))
which, actions = st.columns([1, 3], vertical_alignment="center")
with which:
    widgets.choice(
        "copy",
        _("Script of"),
        {"right": _("the right loop"), "wrong": _("the wrong loop")},
        widget=lambda *args, **kwargs: st.segmented_control(
            *args, label_visibility="collapsed", required=True, **kwargs
        ),
    )
with actions:
    copy_actions(script(mistake.key, wrong=values["copy"] == "wrong", seed=seed))
