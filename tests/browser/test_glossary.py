"""The glossary in a browser: found while typing, in either language."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from core.glossary import TERMS


def test_terms_are_found_while_typing_either_language(page: Page, app: str) -> None:
    page.goto(f"{app}/glossary")
    names = page.locator("dt b")
    expect(names).to_have_count(len(TERMS))
    page.get_by_role("searchbox").press_sequentially("ধৈর্য", delay=20)
    expect(names).to_have_text(["patience"])
    page.wait_for_url("**find=**")
    page.get_by_role("searchbox").fill("no such word")
    expect(page.get_by_label("Terms")).to_contain_text("No term has that")
    page.get_by_role("searchbox").fill("zero_grad")
    expect(names.first).to_have_text("zero_grad")
    page.locator("dt a").first.click()
    expect(page).to_have_url(re.compile("/step"))


def test_a_link_restores_what_was_looked_for_and_a_tip_opens_by_keyboard(page: Page, app: str) -> None:
    page.goto(f"{app}/glossary?find=momentum")
    expect(page.get_by_role("searchbox")).to_have_value("momentum")
    expect(page.locator("dt b").first).to_have_text("momentum")
    page.goto(f"{app}/mistakes?mistake=no-zero-grad")
    term = page.locator(".fc-term").first
    expect(term).to_be_visible()
    shown = "(term) => getComputedStyle(term, '::after').visibility"
    assert term.evaluate(shown) == "hidden"
    term.focus()
    assert term.evaluate(shown) == "visible"


def test_no_tip_widens_the_page_and_one_at_the_edge_opens_where_there_is_room(page: Page, app: str) -> None:
    page.goto(f"{app}/modes")
    term = page.locator(".fc-cards .fc-term", has_text="BatchNorm")
    expect(term).to_be_visible()
    wider = "(main) => main.scrollWidth - main.clientWidth"
    assert page.get_by_test_id("stMain").evaluate(wider) == 0
    term.hover()
    left = term.evaluate("(term) => parseFloat(getComputedStyle(term, '::after').left)")
    width = term.evaluate("(term) => parseFloat(getComputedStyle(term, '::after').width)")
    assert left >= 0
    assert left + width <= page.viewport_size["width"]
    assert page.get_by_test_id("stMain").evaluate(wider) == 0
