"""Exact resume: a run interrupted anywhere and gone on with, beside the same run left alone."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.checkpoint import SKIPPABLE, CheckpointError, load
from core.config import Number
from core.fit_config import FIELDS as FIT_FIELDS
from core.fit_config import FitConfig
from core.resume import FIELDS, Comparison, ResumeConfig, compare, compare_file, extent
from core.resume_script import resume_script
from pages.ui import resume_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, plain
from pages.ui.markup import heading
from pages.ui.presenting import presentation
from pages.ui.resume_chart import figure
from pages.ui.settings import SettingWidgets

PAGE = "resume"
RUN_FIELDS = ("seed", "lr", "dropout", "optimizer", "scheduler")
# A shorter patience than elsewhere, so that no address asks for a comparison that takes long.
ADDRESS = {**FIELDS, **{name: FIT_FIELDS[name] for name in RUN_FIELDS}, "patience": Number(1, 20, whole=True)}
OPTIMIZERS = {"adamw": "AdamW", "sgd": "SGD", "sgd-momentum": "SGD + momentum"}


def order_names() -> dict[str, str]:
    return {
        "right": _("the right order"),
        "rng-before-skip": _("RNG restored before the skip"),
        "stopper-before-update": _("stopper saved before its update"),
    }


def scheduler_names() -> dict[str, str]:
    return {"none": _("none"), "step": "StepLR", "cosine": "CosineAnnealingLR", "plateau": "ReduceLROnPlateau"}


def read_config() -> ResumeConfig:
    """What the address asks for, kept within the run that it is about."""
    asked = read_settings(PAGE, ADDRESS)
    fit = FitConfig(**{name: asked[name] for name in (*RUN_FIELDS, "patience") if name in asked})
    skip = tuple(part for part in SKIPPABLE if part in asked.get("skip", ()))
    start = ResumeConfig(fit)
    epochs, batches = extent(fit)
    epoch, batch = min(asked.get("epoch", start.epoch), epochs), min(asked.get("batch", start.batch), batches)
    config = ResumeConfig(fit, epoch, batch, skip, asked.get("order", start.order))
    run = {name: getattr(fit, name) for name in (*RUN_FIELDS, "patience")}
    write_settings(PAGE, {"epoch": epoch, "batch": batch, "skip": skip, "order": config.order, **run})
    return config


def controls(config: ResumeConfig) -> None:
    epochs, batches = extent(config.fit)
    widgets = SettingWidgets(PAGE, ADDRESS, {**vars(config.fit), **vars(config)})
    where, within, order, run = st.columns([3, 2.4, 3, 1.7], vertical_alignment="bottom")
    with where:
        widgets.slider("epoch", _("Interrupt after epoch"), step=1, high=epochs)
    with within:
        widgets.slider("batch", _("and batches of the next"), step=1, high=batches)
    with order:
        widgets.choice("order", _("Saved and restored in"), order_names())
    with run.popover(_("Settings"), width="stretch"):
        widgets.choice("optimizer", _("Optimizer"), OPTIMIZERS)
        widgets.choice("scheduler", _("Scheduler"), scheduler_names())
        widgets.number("lr", _("Learning rate"), step=0.001)
        widgets.number("dropout", _("Dropout rate"), step=0.05)
        widgets.number("patience", _("Patience"), step=1)
        widgets.number("seed", _("Seed"), step=1)
    names = view.part_names()
    if config.fit.scheduler == "none":
        names.pop("scheduler")
    if not config.batch:
        names.pop("position")
    widgets.several("skip", _("Leave out of the checkpoint"), names)


def curves_and_table(result: Comparison, key: str) -> None:
    left, right = st.columns(2)
    with left:
        chart(figure(result), key, words=view.words(result), height=252)
    right.html(view.differences(result))


def upload(config: ResumeConfig) -> None:
    st.caption(_("It is read with `weights_only=True` after a look at its pickle: no code in it runs."))
    file = st.file_uploader(_("A checkpoint of yours, at most 1 MB"), key="resume_upload", max_upload_size=1)
    if file is None:
        return
    try:
        data = file.getvalue()
        checkpoint = load(data)
        st.html(view.contents_table(checkpoint))
        if st.toggle(_("Resume from this file, leaving out what is chosen above"), key="resume_from"):
            result = compare_file(data, config.skip, config.order)
            st.html(f'<div class="fc-resume">{view.verdict(result, replace(config, batch=checkpoint["batch"]))}</div>')
            curves_and_table(result, "curves_of_upload")
    except CheckpointError as error:
        st.html(view.refusal(error))


config = read_config()
result = compare(config)
heading(
    _("What must a checkpoint hold so that a resume matches to the bit?"),
    _("One run left alone, one interrupted, saved, loaded and resumed · {optimizer}, lr {lr}, seed {seed}").format(
        optimizer=OPTIMIZERS[config.fit.optimizer], lr=plain(config.fit.lr), seed=plain(config.fit.seed)
    ),
)
controls(config)
st.html(f'<div class="fc-resume fc-ready">{view.verdict(result, config)}</div>')
if presentation().present:  # the verdict and the step are for the wall; the rest is a press away
    with st.expander(_("Curves and differences")):
        curves_and_table(result, "curves")
else:
    curves_and_table(result, "curves")
with st.expander(_("What is in the file, key by key")):
    st.html(view.contents_table(load(result.file)))
    st.download_button(
        _("Download the checkpoint"), result.file, "last.pt", "application/octet-stream", on_click="ignore", key="last"
    )
with st.expander(_("What each part is for, and the two wrong orders")):
    st.html(view.parts_explained())
with st.expander(_("Upload a checkpoint: look inside, resume from it")):
    upload(config)
copy_actions(resume_script(config))
