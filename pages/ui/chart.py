"""Charts that do not blink: Plotly's own `react`, with the plotly.js of the installed package.

`st.plotly_chart` blanks when it is redrawn often. A colour may be written `light-dark(#abc, #def)`; the browser takes
the one for its theme.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plotly

from pages.ui.component import component
from pages.ui.i18n import localise
from pages.ui.presenting import presentation

PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

COLOURS = {
    "train": "light-dark(#1f55d6, #8fb2ff)",
    "val": "light-dark(#a8450a, #ffb27a)",
    "best": "light-dark(#0b6b33, #8be8ae)",
    "stop": "light-dark(#a01212, #ffb3b3)",
    "weight": "light-dark(#5f3dc4, #b79cff)",
    "gradient": "light-dark(#a8450a, #ffb27a)",
    "loss": "light-dark(#1f55d6, #8fb2ff)",
    "quiet": "light-dark(#5a6579, #a3aec4)",
    "line": "light-dark(#dfe4ee, #2e3850)",
    "text": "light-dark(#1a2233, #e7ebf4)",
    "paper": "light-dark(#ffffff, #10141d)",
}
"""The same colour for the same thing on every page."""

_component = component("chart", isolate_styles=False)


def chart(
    figure: dict[str, Any], key: str, *, words: str, height: int = 340, address: dict[str, Any] | None = None
) -> None:
    """Draw `figure`, a dict of Plotly's `data` and `layout`; `words` say for a screen reader what it shows.

    `address` goes into the page's query as the figure is drawn, without an entry in the browser's history.
    """
    digits = [localise(str(digit)) for digit in range(10)]
    data = {"figure": figure, "words": words, "height": height, "address": address or {}, "digits": digits}
    _component(key=key, data=data)


def layout(title: str, x: str, y: str, **more: Any) -> dict[str, Any]:
    """The look of every chart: a title that says what it shows, both axes named with their units."""
    larger = 1.4 if presentation().present else 1

    def size(pixels: int) -> dict[str, float]:
        return {"size": pixels * larger}

    axis = {"gridcolor": COLOURS["line"], "zerolinecolor": COLOURS["line"], "automargin": True, "fixedrange": False}
    base = {
        "title": {"text": title, "x": 0, "xanchor": "left", "font": size(16), "pad": {"l": 4}},
        "xaxis": {**axis, "title": {"text": x, "font": size(14)}, **more.pop("xaxis", {})},
        "yaxis": {
            **axis,
            "ticklabelstandoff": 5,  # clear of the grid, whose lines would strike through Bangla digits
            "title": {"text": y, "font": size(14)},
            **more.pop("yaxis", {}),
        },
        "font": {"family": "'Source Sans', 'Noto Sans Bengali', sans-serif", **size(14), "color": COLOURS["text"]},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 60, "r": 24, "t": 44, "b": 48},
        "showlegend": False,
        "uirevision": "keep",
        "template": {},
    }
    return {**base, **more}
