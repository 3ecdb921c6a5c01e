"""Training live: the curves grow as the epochs are computed, and early stopping ends the run."""

from __future__ import annotations

import streamlit as st

from core.config import Number
from core.fit_config import FIELDS, FitConfig
from core.live import LiveRun, is_over
from core.notice import first_epoch
from core.run_script import run_script
from core.spread import spread
from core.table import MOST_BYTES, TableError, columns, read_table
from pages.ui import train_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.i18n import _, localise, plain
from pages.ui.markup import heading
from pages.ui.pages import just_arrived
from pages.ui.presenting import hidden
from pages.ui.settings import SettingWidgets
from pages.ui.terms import sentence

PAGE = "train"
CHOSEN = ("lr", "patience", "dropout", "batch_size", "optimizer", "scheduler", "seed")
ADDRESS = {**{name: FIELDS[name] for name in CHOSEN}, "epochs": Number(0, 100, whole=True)}
PACES = {1: "1×", 4: "4×", 16: "16×"}
"""Epochs a second."""


def scheduler_names() -> dict[str, str]:
    return {
        "none": _("none"),
        "step": _("StepLR: half every 4 epochs"),
        "cosine": _("cosine, to 0 by epoch 20"),
        "plateau": _("ReduceLROnPlateau: half after 2 bad epochs"),
    }


def start_over() -> None:
    st.session_state["train_playing"] = False
    change_settings(PAGE, epochs=0)


def settings_menu(config: FitConfig) -> None:
    widgets = SettingWidgets(PAGE, ADDRESS, vars(config), on_change=start_over)
    widgets.number("lr", _("Learning rate"), step=0.001)
    widgets.slider("patience", _("Patience (epochs)"), step=1, high=30)
    widgets.slider("dropout", _("Dropout"), step=0.05)
    widgets.number("batch_size", _("Batch size"), step=16)
    widgets.choice("optimizer", _("Optimizer"), view.OPTIMIZER_NAMES)
    widgets.choice("scheduler", _("Scheduler"), scheduler_names())
    widgets.number("seed", _("Seed"), step=1)


def table_menu() -> None:
    """A visitor's own CSV in place of the customers; it stays with this visit, and no link carries it."""
    file = st.file_uploader(_("A CSV with numbers and one column of labels"), type="csv", key="train_table")
    data = None
    if file is not None:
        try:
            names = columns(file.getvalue())
            label = st.selectbox(_("Label column"), names, index=len(names) - 1)
            data = read_table(file.getvalue(), label)
        except TableError as error:
            st.error(localise(_(error.template).format(**error.parts)))
    st.caption(_("At most {size} MB, 5,000 rows and 50 columns of numbers.").format(size=plain(MOST_BYTES / 1e6)))
    key = None if data is None else data.digest
    if key != st.session_state.get("train_data_digest"):
        st.session_state["train_data_digest"], st.session_state["train_data"] = key, data
        start_over()


def live_run(config: FitConfig) -> LiveRun:
    """This visit's run; a new one when the settings or the data have changed."""
    data = st.session_state.get("train_data")
    run = st.session_state.get("train_run")
    if run is None or run.config != config or (data is not None) != run.own_table or (data and run.data is not data):
        run = st.session_state["train_run"] = LiveRun(config, data)
    return run


def play(on: bool) -> None:
    st.session_state["train_playing"] = on


def go_on(epochs: int) -> None:
    """Train that much further than the run has come by now, which may be further than when the button was drawn."""
    change_settings(PAGE, epochs=min(st.session_state[f"settings:{PAGE}"]["epochs"] + epochs, 100))
    st.session_state["train_playing"] = False


def buttons(config: FitConfig, epochs: int, over: bool, playing: bool) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    label = _("❚❚ Pause") if playing else (_("▶ Go on") if epochs else _("▶ Start"))
    presses = (
        ("play", label, "Space", play, (not playing,), over),
        ("one", _("One epoch"), "Right", go_on, (1,), over),
        ("end", _("To the end"), "End", go_on, (config.max_epochs,), over),
        ("reset", _("Reset"), "Home", start_over, (), not epochs),
    )
    for key, text, shortcut, call, args, disabled in presses:
        kind = "primary" if key == "play" else "secondary"
        row.button(text, key=f"train_{key}", type=kind, on_click=call, args=args, disabled=disabled, shortcut=shortcut)
    if not hidden("play"):
        row.segmented_control(
            _("Epochs a second"),
            PACES,
            format_func=PACES.get,
            default=4,
            key="train_pace",
            required=True,
            persist_state="session",
        )


def results(config: FitConfig) -> None:
    """The run as far as it has come. While it plays, each tick trains the epochs the pace asks for, and returns."""
    settings = st.session_state[f"settings:{PAGE}"]
    playing = st.session_state["train_playing"]
    pace = st.session_state.get("train_pace") or 4
    if playing:
        settings["epochs"] = min(settings["epochs"] + max(1, pace // 4), 100)
    records = live_run(config).upto(settings["epochs"])
    settings["epochs"] = len(records)
    if playing and is_over(config, records):
        st.session_state["train_playing"] = False
        st.rerun()
    left, right = st.columns([1.35, 1])
    with left:
        words = view.in_words(config, records)
        chart(view.curves(config, records), "train_curves", words=words, height=330, address={"epochs": len(records)})
    right.html(view.epoch_table(records))
    st.html(sentence(words, "epoch", "patience", ready=True))


settings = read_settings(PAGE, ADDRESS)
config = FitConfig(**{name: settings[name] for name in CHOSEN if name in settings})
if just_arrived():
    st.session_state["train_playing"] = False
records = live_run(config).upto(settings.get("epochs", 0))
write_settings(PAGE, {name: getattr(config, name) for name in CHOSEN} | {"epochs": len(records)})
playing = st.session_state["train_playing"] and not is_over(config, records)

question, menus = st.columns([8, 2.9], vertical_alignment="center")
row = menus.container(horizontal=True)
with row.popover(_("Settings"), width="stretch"):
    settings_menu(config)
with row.popover(_("Your own table"), width="stretch"):
    table_menu()
run = live_run(config)  # a new one, if the menu has just taken another table
with question:
    heading(_("When should training stop?"), view.subtitle(config, run.data, own=run.own_table))
buttons(config, len(records), is_over(config, records), playing)
pace = st.session_state.get("train_pace") or 4
st.fragment(results, run_every=max(0.25, 1 / pace) if playing else None)(config)

if not playing:
    if len(records) > 1:
        st.html(view.notices_html(records, first_epoch(config, st.session_state.get("train_data"))))
    with st.container(horizontal=True, vertical_alignment="center"):
        copy_actions(None if run.own_table else run_script(config, len(records)))
        st.download_button(_("Epochs as CSV"), view.as_csv(records), "epochs.csv", "text/csv", type="tertiary")
        st.download_button(_("Log as text"), view.as_log(config, records), "train.log", "text/plain", type="tertiary")
    with st.expander(_("Is it luck? The same settings from ten seeds")):
        if st.toggle(_("Train all ten"), key="train_seeds") and not run.own_table:
            here, default = spread(FitConfig(**{**vars(config), "seed": 0})), None
            if FitConfig(**{**vars(config), "seed": 0}) != FitConfig():
                default = spread(FitConfig())
            chart(view.band(here, default), "train_band", words=view.band_in_words(here, default), height=300)
            st.html(sentence(view.band_in_words(here, default)))
    st.caption(
        _("The customers are made up, and their seed was picked, among thousands, so that one run tells the story.")
    )
