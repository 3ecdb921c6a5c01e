"""Axe-core finds no serious or critical fault of ours, on any page, in either language and either theme."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import ADDRESSES

# Streamlit's own shell, each by rule and selector: the sidebar puts its sections' list items into divs.
SHELL = {"list": '[data-testid="stSidebarNavItems"]', "listitem": '[data-testid="stSidebarNavItems"] li'}


def faults(page: Page) -> list[tuple[str, str, str]]:
    """Rule, element and what is wrong, of each serious fault outside the shell's known ones."""
    found = []
    for violation in Axe().run(page).response["violations"]:
        if violation["impact"] not in ("serious", "critical"):
            continue
        for node in violation["nodes"]:
            if not in_shell(page, violation["id"], node["target"]):
                found.append((violation["id"], node["html"][:100], node["failureSummary"][:160]))
    return found


def in_shell(page: Page, rule: str, target: list[str]) -> bool:
    if rule not in SHELL or len(target) != 1 or not isinstance(target[0], str):
        return False
    return page.evaluate("([target, shell]) => document.querySelector(target).matches(shell)", [target[0], SHELL[rule]])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_serious_fault(browser: Browser, app: str, address: str, theme: str) -> None:
    # Each page in one language by theme, the other way round for every second page: both are covered, in half the time.
    lang = ("en", "bn")[(ADDRESSES.index(address) + (theme == "dark")) % 2]
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{app}/{address}{'&' if '?' in address else '?'}lang={lang}")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("[data-testid=stStatusWidget]")).to_have_count(0)
    page.wait_for_timeout(700)
    found = faults(page)
    context.close()
    assert found == []
