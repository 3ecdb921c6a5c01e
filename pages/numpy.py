"""The whole loop in NumPy, beside the same net in PyTorch."""

from __future__ import annotations

import streamlit as st

from core.numpy_loop import FIELDS, NumpyConfig, decision_grid, pytorch_twin, run_numpy
from core.numpy_script import numpy_script, pytorch_script
from pages.ui import numpy_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, number, plain
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets

PAGE = "numpy"

settings = {**vars(NumpyConfig()), **read_settings(PAGE, FIELDS)}
write_settings(PAGE, settings)
config = NumpyConfig(**settings)

heading(
    _("Does PyTorch do anything that NumPy could not?"),
    _("300 points in three classes, 2 → {hidden} → 3, the same weights and batches, float64").format(
        hidden=plain(config.hidden)
    ),
)
widgets = SettingWidgets(PAGE, FIELDS, settings)
lr, momentum, batch, patience, menu = st.columns([1, 1, 1, 1, 0.8], vertical_alignment="bottom")
with lr:
    widgets.slider("lr", _("Learning rate"), step=0.01)
with momentum:
    widgets.slider("momentum", _("Momentum"), step=0.01)
with batch:
    widgets.slider("batch_size", _("Batch size"), step=1)
with patience:
    widgets.slider("patience", "patience", step=1)
with menu.popover(_("Settings"), width="stretch"):
    widgets.number("hidden", _("Hidden units"), step=1)
    widgets.number("most_epochs", _("Most epochs"), step=1)
    widgets.number("seed", _("Seed"), step=1)

run, twin = run_numpy(config), pytorch_twin(config)
st.html(f'<div class="fc-ready">{view.outcome(run, twin)}{view.outcome_say(run, twin)}</div>')
left, right = st.columns(2)
with left:
    words = _("Train loss from {first} to {last}; the best val loss is {best}, at epoch {epoch} of {epochs}.").format(
        first=number(run.train_losses[0]),
        last=number(run.train_losses[-1]),
        best=number(run.best_val_loss),
        epoch=plain(run.best),
        epochs=plain(run.stopped),
    )
    chart(view.curves(run), "curves", words=words, height=300)
with right:
    words = _("Three regions of the plane, one a class; {accuracy} of the validation points lie in their own.").format(
        accuracy=number(run.accuracy, 3)
    )
    chart(view.boundary(run, decision_grid(config, points=80)), "boundary", words=words, height=300)
copy_actions(numpy_script(config))
with st.expander(_("Each line of NumPy, and the PyTorch call that it stands for")):
    st.html(view.line_pairs())
with st.expander(_("Both losses at every epoch, to ten digits")):
    st.html(view.epochs(run, twin))
with st.expander(_("The same run as a PyTorch script")):
    st.code(pytorch_script(config))
