"""The losses page as a visitor uses it."""

from __future__ import annotations

import subprocess
import sys

from playwright.sync_api import Page, expect


def figure(page: Page, name: str):
    return page.locator(f'[data-name="{name}"]')


def test_a_slider_moves_the_numbers_and_the_address(page: Page, app: str, tmp_path) -> None:
    page.goto(f"{app}/losses")
    expect(figure(page, "twice-norm")).to_have_text("0.0374")
    page.get_by_role("slider", name="Logit of class 1").press("ArrowRight")
    expect(figure(page, "right-loss")).to_have_text("4.5220")
    page.wait_for_url("**z1=4.5**")
    page.get_by_role("button", name="Copy as a script").click()
    expect(page.get_by_text("Script copied")).to_be_visible()
    file = tmp_path / "take_home.py"
    file.write_text(page.evaluate("navigator.clipboard.readText()"))
    printed = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("right loss = 4.5220 ")


def test_both_curves_are_drawn_and_nothing_overflows_on_a_phone(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/losses?view=logit")
    expect(page.locator(".fc-chart .scatterlayer .trace")).to_have_count(4, timeout=15_000)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
