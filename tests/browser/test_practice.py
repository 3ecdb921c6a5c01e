"""The practice page in a browser: lines are put into order with buttons and with keys."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from core.questions import ORDER


def lines(page: Page) -> list[int]:
    texts = [str(item) for item in ORDER.items]
    return [texts.index(text) for text in page.locator("li .text").all_inner_texts()]


def test_lines_are_moved_by_keys_and_buttons_and_judged(page: Page, app: str) -> None:
    page.goto(f"{app}/practice")
    expect(page.locator("li .text")).to_have_count(6)
    before = lines(page)
    page.locator("li:has(.place)").nth(0).focus()
    page.keyboard.press("ArrowDown")
    assert lines(page) == [before[1], before[0], *before[2:]]
    page.keyboard.press("ArrowUp")  # the focus went along
    assert lines(page) == before
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".fc-told")).to_contain_text("✗ Not yet")
    expect(page.locator("li.first-wrong")).to_have_count(1)
    for place in range(6):
        for at in range(lines(page).index(place), place, -1):
            page.locator("li:has(.place)").nth(at).get_by_role("button", name="Up:").click()
    assert lines(page) == list(range(6))
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".fc-told")).to_contain_text("✓ Right")
    expect(page.locator(".fc-sub[role=status]")).to_contain_text("1 right of 1 tried, 0 of them at the first try")
    expect(page.locator("li.good")).to_have_count(6)


def test_a_number_is_checked_by_enter_and_the_page_fits_a_phone(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/practice?part=exercises&q=2&lang=bn")
    page.get_by_role("textbox").fill("০.৫৮৩৭")
    page.keyboard.press("Enter")
    expect(page.locator(".fc-told")).to_contain_text("✓ ঠিক")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
