"""The optimizers page as a visitor uses it."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_the_parts_and_their_widgets_follow_the_address(page: Page, app: str) -> None:
    page.goto(f"{app}/optimizers?taken=5")
    expect(page.locator('[data-name="step"]')).to_have_text("5")
    page.get_by_role("slider", name="Steps taken").press("ArrowRight")
    expect(page.locator('[data-name="step"]')).to_have_text("6")
    page.get_by_role("radio", name="Schedules").click()
    expect(page.locator(".fc-warned")).to_contain_text("Detected call of `lr_scheduler.step()`")
    expect(page.locator(".fc-chart .scatterlayer .trace")).to_have_count(2, timeout=15_000)
    page.wait_for_url("**view=schedule**")
    assert "taken=6" in page.url
