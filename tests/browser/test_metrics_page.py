"""The metrics page as a visitor uses it."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_the_slider_moves_the_means_and_the_curve_is_drawn(page: Page, app: str) -> None:
    page.goto(f"{app}/metrics")
    expect(page.locator('[data-name="loss-naive"]')).to_have_text("0.4372")
    expect(page.locator(".fc-chart .scatterlayer .trace")).to_have_count(4, timeout=15_000)
    page.get_by_role("slider", name="Batch size").press("ArrowRight")
    page.wait_for_url("**size=65**")
    expect(page.locator('[data-name="loss-naive"]')).not_to_have_text("0.4372")
    expect(page.locator(".fc-share.fc-odd").first).to_have_text("5")
