"""The stepper's controls as one component: buttons, slider, keys, playing and copying happen in the browser."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.loop import CALLS
from core.order import automaton, this_batch
from core.scenes import Scene
from core.script import script
from core.trace import MOST_CALLS, Snapshot, StepConfig
from pages.ui.actions import copy_texts
from pages.ui.component import component
from pages.ui.i18n import _, localise
from pages.ui.presenting import presentation

_component = component("stepper_controls")


def controls_state(key: str, revision: int) -> dict[str, Any] | None:
    """What the controls last sent: `calls`, `graph` and `guess`; None if that was before the server's last change."""
    state = (st.session_state.get(key) or {}).get("state")
    return state if state and state["rev"] == revision else None


def controls(
    key: str, revision: int, scene: Scene, config: StepConfig, snapshots: tuple[Snapshot, ...], calls: str, graph: bool
) -> None:
    """Draw the controls at `calls`; they take that position only when `revision` is new to them."""
    data = {
        "rev": revision,
        "calls": calls,
        "graph": graph,
        "names": CALLS,
        "marks": _marks(scene, calls, snapshots),
        "order": automaton(scene.order),
        "most": MOST_CALLS,
        "watched": scene.watched,
        "script": script(config, calls),
        "text": _texts(),
        "hide": presentation().hide,
        "digits": [localise(str(digit)) for digit in range(10)],
    }
    # In a list, since Streamlit asks of each value of a dict whether it is a data frame: a tenth of a click.
    _component(key=key, data=[data], on_state_change=lambda: None)


def _marks(scene: Scene, calls: str, snapshots: tuple[Snapshot, ...]) -> dict[str, str]:
    made, _rest = this_batch(scene.order, calls)
    recent = snapshots[len(snapshots) - len(made) :] if made else ()
    return {code: "failed" if s.error else "done" for code, s in zip(made, recent, strict=True)}


def _texts() -> dict[str, str]:
    return {
        **copy_texts(),
        "calls": _("The five calls"),
        "back": _("← Back"),
        "next": _("Next: {call} →"),
        "nextName": _("Next"),
        "play": _("▶ Play"),
        "pause": _("❚❚ Pause"),
        "reset": _("Reset"),
        "speed": _("Speed"),
        "position": _("Position"),
        "count": _("call {at} of {total}"),
        "predict": _("Predict first"),
        "graph": _("Show the graph"),
        "question": _("What will {call} change?"),
        "run": _("Run it"),
        "cancel": _("Cancel"),
    }
