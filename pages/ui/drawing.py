"""Drawings that are SVG: `st.html` strips it, so a small component sets it. Colours come from the theme."""

from __future__ import annotations

from html import escape

from pages.ui.component import component
from pages.ui.i18n import _, number

_component = component("drawing")


def draw(svg: str, key: str, *, width: int | str = "stretch") -> str | None:
    """Show `svg`, which must be this project's own. The `data-page` of a link that was just pressed, if one was."""
    return _component(key=key, data={"svg": svg}, width=width, on_page_change=lambda: None).page


def parabola(weights: list[float]) -> None:
    """The scalar scene's loss 4.5w² over w, with a numbered point where each step left the weight."""
    finite = [w for w in weights if abs(w) < 1e6]
    reach = max(1.25, *(abs(w) * 1.15 for w in finite))
    wide, high, top, left = 460, 165, 12, 40

    def x(w: float) -> float:
        return left + (w / reach + 1) / 2 * (wide - left - 10)

    def y(w: float) -> float:
        return top + (1 - (w / reach) ** 2) * (high - top - 34)

    curve = " ".join(f"{x(reach * i / 40):.1f},{y(reach * i / 40):.1f}" for i in range(-40, 41))
    points = "".join(
        f'<circle cx="{x(w):.1f}" cy="{y(w):.1f}" r="9" fill="light-dark(#6741d9, #b79cff)"/>'
        f'<text x="{x(w):.1f}" y="{y(w) + 4:.1f}" text-anchor="middle" font-size="11" font-weight="700"'
        f' style="fill:light-dark(#fff, #1a1030)">{number(i, 0)}</text>'
        for i, w in enumerate(finite)
    )
    words = _("Loss 4.5w² over w; where each step left w: {points}").format(points=", ".join(number(w) for w in finite))
    ticks = "".join(
        f'<text x="{x(w):.1f}" y="{high - 20}" text-anchor="middle" font-size="12">{number(w, 1)}</text>'
        for w in (-reach, 0, reach)
    ).replace('text-anchor="middle"', 'text-anchor="start"', 1)
    axis = "light-dark(#9aa4b8, #5b6784)"
    svg = (
        f'<svg viewBox="0 0 {wide + 20} {high}" role="img" aria-label="{escape(words)}" style="max-width:500px">'
        f'<path d="M{left} {y(0):.1f}H{wide}" stroke="{axis}"/>'
        f'<path d="M{x(0):.1f} {top}V{y(0):.1f}" stroke="{axis}" stroke-dasharray="3 4"/>'
        f'<polyline points="{curve}" fill="none" stroke="light-dark(#1f55d6, #7fa6ff)" stroke-width="2"/>'
        f"{points}{ticks}"
        f'<text x="{wide / 2 + 20}" y="{high - 4}" text-anchor="middle" font-size="12">w</text>'
        f'<text x="4" y="{top + 8}" font-size="12">loss</text></svg>'
    )
    draw(svg, "parabola")
