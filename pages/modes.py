"""The mode grid: the val loss of one model measured in every combination of mode and gradient context."""

from __future__ import annotations

import streamlit as st

from core.modes import FIELDS, ModeConfig, best_epoch, grid
from core.modes_script import modes_script
from pages.ui import modes_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.i18n import _, plain
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets
from pages.ui.terms import sentence

PAGE = "modes"


def layer_names() -> dict[str, str]:
    return {"dropout": "dropout", "batchnorm": "BatchNorm", "both": _("both")}


def measure_again() -> None:
    again = st.session_state[f"settings:{PAGE}"]["again"]
    change_settings(PAGE, again=(again + 1) % 1000)


# Both layers, unless asked otherwise: each of the three facts shows at once.
settings = {"layers": "both", **read_settings(PAGE, FIELDS)}
config = ModeConfig(**settings)
write_settings(PAGE, vars(config))

cells = grid(config)
heading(
    _("Why does validation need both `eval()` and `no_grad()`?"),
    _("The best model of a real run (epoch {epoch}), its val loss over the same 200 customers, each way twice").format(
        epoch=plain(best_epoch(config))
    ),
)
widgets = SettingWidgets(PAGE, FIELDS, vars(config))
layers, rate, seed, press = st.columns([3, 3, 1.6, 2.2], vertical_alignment="bottom")
with layers:
    widgets.choice("layers", _("Layers after each hidden one"), layer_names(), widget=st.segmented_control)
with rate:
    widgets.slider("dropout", _("Dropout rate"), step=0.05)
with seed:
    widgets.number("seed", _("Seed"), step=1)
press.button(_("Measure again"), on_click=measure_again, type="primary", width="stretch", key="modes_again")

st.html(
    f'<div class="fc-modes fc-ready">{view.table(cells)}'
    f"{sentence(view.takeaway(cells), 'eval-mode', 'no-grad', 'train-mode')}{view.facts(cells, config)}</div>"
)
with st.expander(_("What each column says")):
    st.html(view.columns_explained())
with st.expander(_("`no_grad` or `inference_mode`?")):
    st.html(view.inference_explained(cells))
copy_actions(modes_script(config))
