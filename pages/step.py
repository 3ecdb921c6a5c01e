"""The stepper: any of the five calls, in any order, with PyTorch's own answer after each."""

from __future__ import annotations

import streamlit as st

from core.arithmetic import derive
from core.config import Flag, SettingError
from core.graph import graph
from core.scenes import SCENES
from core.stories import STORIES, right_order
from core.trace import FIELDS, OPTIMIZERS, StepConfig, replay
from pages.ui import stepper_view as view
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.drawing import parabola
from pages.ui.explain import explain
from pages.ui.i18n import _, plain
from pages.ui.markup import rich
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
    given = {name: value for name, value in vars(story.config.resolved()).items()}
    change_settings(PAGE, **given, calls=story.calls)


def on_setting(name: str) -> None:
    """A widget changed. The optimizer's own settings start from its defaults; a scene brings its own optimizer."""
    settings = st.session_state[f"settings:{PAGE}"]
    for follower in {"scene": ("optimizer", "momentum", "weight_decay"), "optimizer": ("momentum", "weight_decay")}.get(
        name, ()
    ):
        settings.pop(follower, None)
    change_settings(PAGE, **{name: st.session_state[f"step_{name}"]})


def setting(widget, label: str, name: str, value, *args, **kwargs) -> None:
    st.session_state[f"step_{name}"] = value
    widget(label, *args, key=f"step_{name}", on_change=on_setting, args=(name,), **kwargs)


def settings_menu(config: StepConfig) -> None:
    setting(st.selectbox, _("Scene"), "scene", config.scene, list(SCENES), format_func=scene_names().get)
    setting(st.selectbox, _("Optimizer"), "optimizer", config.optimizer, OPTIMIZERS, format_func=OPTIMIZER_NAMES.get)
    setting(st.number_input, _("Learning rate"), "lr", config.lr, 0.0, 100.0, step=0.01, format="%.4g")
    if config.optimizer != "adamw":
        setting(st.number_input, _("Momentum"), "momentum", config.momentum, 0.0, 1.0, step=0.1, format="%.4g")
    setting(st.number_input, _("Weight decay"), "weight_decay", config.weight_decay, 0.0, 1.0, step=0.01, format="%.4g")
    setting(st.number_input, _("Seed"), "seed", config.seed, 0, 2**32 - 1, step=1)
    setting(st.toggle, _("zero_grad sets None (`set_to_none`)"), "set_to_none", config.set_to_none)


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
        try:
            settings["calls"] = FIELDS["calls"].parse("calls", state["calls"])
        except SettingError:  # not from our own controls
            pass
        settings["graph"] = bool(state["graph"])
    calls, show_graph = settings["calls"], settings["graph"]
    scene = SCENES[config.scene]
    snapshots = replay(config, calls)
    now, before = snapshots[-1], snapshots[-2] if calls else None

    controls(CONTROLS, revision, scene, config, snapshots, calls, show_graph)
    guess = state["guess"] if state and before else None
    says = (view.verdict(guess, now, scene) if guess is not None else "") + view.sentence(explain(scene, before, now))
    says += view.comparison(scene, now, right_order(config, calls), calls.count("s")) + view.raised(now)
    st.html(
        '<div class="fc-stepper">'
        f"{view.program(scene, config, calls)}{view.state_table(scene, snapshots)}"
        f'<div class="fc-says">{says}</div>{view.derivation(derive(config, before, now), now)}'
        f"{view.matrices(scene, before, now)}</div>"
    )
    if not scene.is_classifier:
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

heading, stories, menu = st.columns([8, 1.25, 1.25], vertical_alignment="center")
heading.html(
    f'<h1 class="fc-question">{rich(_("Does `backward` change the weights?"))}</h1><p class="fc-sub">{rich(subtitle(config))}</p>'
)
with stories.popover(_("Stories"), width="stretch"):
    for key, story in STORIES.items():
        st.button(_(story.title), key=f"story_{key}", on_click=tell, args=(key,), width="stretch")
with menu.popover(_("Settings"), width="stretch"):
    settings_menu(config)
stepper(config)
