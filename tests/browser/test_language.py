"""The language of a first visit comes from the browser; a choice stays through every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect


@pytest.mark.parametrize(("locale", "title"), [("bn-BD", "পাঁচটি কাজ"), ("de-DE", "The five calls")])
def test_a_first_visit_is_in_the_browsers_language(browser: Browser, app: str, locale: str, title: str) -> None:
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(f"{app}/")
    expect(page.get_by_role("link", name=title)).to_be_visible()
    expect(page).to_have_url(f"{app}/?lang={'bn' if locale == 'bn-BD' else 'en'}")
    context.close()


def test_a_choice_stays_when_the_page_changes(page: Page, app: str) -> None:
    page.goto(f"{app}/")
    page.get_by_text("বাংলা").click()
    page.get_by_role("link", name="চোখের সামনে train").click()
    expect(page.get_by_role("heading", name="Training কখন থামবে?")).to_be_visible()
    assert "lang=bn" in page.url
    assert "/train" in page.url
