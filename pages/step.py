"""The stepper: any of the five calls, in any order, with PyTorch's own answer after each."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from core.config import Flag, SettingError
from core.graph import graph
from core.scenes import SCENES
from core.stories import STORIES
from core.trace import FIELDS, StepConfig, replay
from pages.ui import stepper_view as view
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.drawing import parabola
from pages.ui.i18n import _, language, plain
from pages.ui.markup import heading
from pages.ui.settings import SettingWidgets
from pages.ui.stepper_controls import controls, controls_state

PAGE = "step"
CONTROLS = "stepper"
ADDRESS = {**FIELDS, "graph": Flag()}
CONFIG_FIELDS = tuple(name for name in FIELDS if name != "calls")

OPTIMIZER_NAMES = {"sgd": "SGD", "sgd-momentum": "SGD + momentum", "adamw": "AdamW"}


def scene_names() -> dict[str, str]:
    return {
        "linear": _("nn.Linear(2, 3), four examples"),
        "scalar": _("one weight, loss (3w)²/2"),
        "accumulate": _("two micro-batches, loss divided"),
        "accumulate-undivided": _("two micro-batches, loss not divided"),
    }


def new_revision() -> None:
    """Make the controls take the server's position instead of theirs."""
    st.session_state["step_revision"] = st.session_state.get("step_revision", 0) + 1


def tell(story_key: str) -> None:
    story = STORIES[story_key]
    new_revision()
    st.session_state[f"settings:{PAGE}"] = {"graph": st.session_state[f"settings:{PAGE}"].get("graph", False)}
    change_settings(PAGE, **vars(story.config.resolved()), calls=story.calls)


def settings_menu(config: StepConfig) -> None:
    widgets = SettingWidgets(
        PAGE,
        FIELDS,
        vars(config),
        # The optimizer's own settings start from its defaults; a scene brings its own optimizer.
        followers={"scene": ("optimizer", "momentum", "weight_decay"), "optimizer": ("momentum", "weight_decay")},
    )
    widgets.choice("scene", _("Scene"), scene_names())
    widgets.choice("optimizer", _("Optimizer"), OPTIMIZER_NAMES)
    widgets.number("lr", _("Learning rate"), step=0.01)
    if config.optimizer != "adamw":
        widgets.number("momentum", _("Momentum"), step=0.1)
    widgets.number("weight_decay", _("Weight decay"), step=0.01)
    widgets.number("seed", _("Seed"), step=1)
    widgets.flag("set_to_none", _("zero_grad sets None (`set_to_none`)"))


def subtitle(config: StepConfig) -> str:
    parts = [scene_names()[config.scene], f"{OPTIMIZER_NAMES[config.optimizer]}, lr {plain(config.lr)}"]
    if config.momentum:
        parts.append(_("momentum {value}").format(value=plain(config.momentum)))
    if config.weight_decay:
        parts.append(_("weight decay {value}").format(value=plain(config.weight_decay)))
    return " · ".join([*parts, _("seed {value}").format(value=plain(config.seed))])


@st.fragment
def stepper(config: StepConfig) -> None:
    settings = st.session_state[f"settings:{PAGE}"]
    revision = st.session_state.setdefault("step_revision", 0)
    state = controls_state(CONTROLS, revision)
    if state:
        with suppress(SettingError):  # what the browser sends is a stranger's word too
            settings["calls"] = FIELDS["calls"].parse("calls", state["calls"])
        settings["graph"] = bool(state["graph"])
    calls, show_graph = settings["calls"], settings["graph"]
    scene = SCENES[config.scene]
    snapshots = replay(config, calls)
    controls(CONTROLS, revision, scene, config, snapshots, calls, show_graph)
    guess = state["guess"] if state else None
    guess = tuple(name for name in ("w", "grad", "loss") if name in guess) if isinstance(guess, list) else None
    text, maps = view.shown(config, calls, guess, language())
    st.html(f'<div class="fc-stepper">{text}{view.folded(maps) if scene.is_classifier else ""}</div>')
    if not scene.is_classifier:
        numbers, picture = st.columns(2)
        numbers.html(f'<div class="fc-stepper">{maps}</div>')
        with picture:
            parabola([s.w for s in snapshots if s.call in ("start", "step")])
    if show_graph:
        st.html(view.graph_view(graph(config, calls)))


settings = read_settings(PAGE, ADDRESS)
if settings.get("calls") is not None and st.session_state.get("step_address_calls") != settings["calls"]:
    state = controls_state(CONTROLS, st.session_state.get("step_revision", 0))
    if not state or state["calls"] != settings["calls"]:
        new_revision()  # the address, not the controls, says where we are
st.session_state["step_address_calls"] = settings.get("calls")
config = StepConfig(**{name: settings[name] for name in CONFIG_FIELDS if name in settings}).resolved()
write_settings(PAGE, {"calls": "", "graph": False, **settings, **vars(config)})

question, menus = st.columns([8, 2.6], vertical_alignment="center")
with question:
    heading(_("Does `backward` change the weights?"), subtitle(config))
row = menus.container(horizontal=True)
with row.popover(_("Stories"), width="stretch"):
    for key, story in STORIES.items():
        st.button(_(story.title), key=f"story_{key}", on_click=tell, args=(key,), width="stretch")
with row.popover(_("Settings"), width="stretch"):
    settings_menu(config)
stepper(config)
