"""The review page in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def test_a_tick_stays_and_the_link_leads_to_the_fault(page: Page, app: str) -> None:
    page.goto(f"{app}/review?item=7")
    expect(page.locator(".fc-item")).to_contain_text("The best weights are a copy")
    page.get_by_text("It holds in my loop").click()
    expect(page.locator(".fc-sub")).to_contain_text("1 of 14 items ticked")
    page.reload()
    expect(page.locator(".fc-sub")).to_contain_text("1 of 14 items ticked")
    page.get_by_role("link", name="See it live").click()
    expect(page).to_have_url(re.compile("/mistakes.*mistake=best-by-reference"))
    expect(page.locator(".fc-say").first).to_contain_text("kept as the best")


def test_overfitting_one_batch_fits_a_phone(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/review?part=overfit&loop=softmax")
    expect(page.locator(".fc-say").first).to_contain_text("Caught", timeout=30_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
