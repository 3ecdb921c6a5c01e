"""The page of mistakes in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from core.mistake_code import script


def test_another_mistake_is_one_press_and_its_chart_comes_along(page: Page, app: str) -> None:
    page.goto(f"{app}/mistakes")
    expect(page.locator(".fc-say")).to_contain_text("times as high")
    page.get_by_role("radio", name="zero_grad forgotten").click()
    expect(page.locator(".fc-say")).to_contain_text("every backward was added")
    expect(page.locator(".js-plotly-plot")).to_contain_text("Gradient norm at each step")
    assert "mistake=no-zero-grad" in page.url
    page.get_by_role("button", name="Copy as a script").click()
    expect(page.get_by_role("status").filter(has_text="Script copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == script("no-zero-grad", wrong=True)


def test_nothing_scrolls_sideways_on_a_phone(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/mistakes?mistake=naive-mean")
    expect(page.locator(".fc-say")).to_contain_text("weighs as much")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
