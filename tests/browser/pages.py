"""The pages as the browser tests open them: each in a state that shows something."""

from __future__ import annotations

ADDRESSES = [
    "",
    "step?calls=flzbs&graph=1",
    "train?epochs=12",
    "modes",
    "resume",
    "losses",
    "optimizers",
    "metrics",
    "numpy",
    "mistakes",
    "review",
    "practice",
    "glossary?find=mean",
    "check",
    "class",
]
