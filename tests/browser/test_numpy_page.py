"""The NumPy page as a visitor uses it."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_both_runs_are_told_and_drawn(page: Page, app: str) -> None:
    page.goto(f"{app}/numpy?lang=bn")
    expect(page.locator('[data-name="numpy-val"]')).to_have_text("০.৪২৯১")
    expect(page.locator('[data-name="pytorch-val"]')).to_have_text("০.৪২৯১")
    expect(page.locator(".fc-chart .scatterlayer .trace")).to_have_count(8, timeout=15_000)
    expect(page.locator(".fc-chart .heatmaplayer image")).to_have_count(1, timeout=15_000)
