"""In front of a class: large text without scrolling, everything from the keyboard, and something to take home."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

FITS = "(() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollHeight - m.clientHeight; })()"


@pytest.mark.parametrize("lang", ["en", "bn"])
def test_the_stepper_fits_the_wall_at_22_pixels(page: Page, app: str, lang: str) -> None:
    page.goto(f"{app}/step?present=1&calls=flzbs&lang={lang}")
    expect(page.locator(".fc-stepper")).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.querySelector('.fc-state td')).fontSize") == "22px"
    assert page.evaluate(FITS) <= 2


def test_a_list_of_keys_opens_and_closes_from_the_keyboard(page: Page, app: str) -> None:
    page.goto(f"{app}/step?present=1")
    expect(page.locator(".fc-stepper")).to_be_visible()
    expect(page.locator("dialog dt").first).to_be_attached()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("the next call")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_run_is_driven_from_the_keyboard(page: Page, app: str) -> None:
    page.goto(f"{app}/train?hide=menus")
    expect(page.locator(".fc-chart .main-svg").first).to_be_visible()
    expect(page.locator("[data-testid=stPopover]")).to_have_count(2)
    expect(page.locator("[data-testid=stPopover]:visible")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(page.locator('td[data-epoch="1"]').first).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator(".fc-say")).to_contain_text("Stopped early")


@pytest.mark.parametrize("address", ["step?calls=flzb", "train?epochs=12"])
def test_a_hand_out_is_one_file_that_opens_offline(page: Page, app: str, context, tmp_path, address: str) -> None:
    page.goto(f"{app}/{address}")
    expect(page.locator(".fc-ready, .fc-stepper").first).to_be_visible()
    page.wait_for_timeout(1000)
    with page.expect_download() as download:
        page.get_by_role("button", name="Hand-out").click()
    file = tmp_path / "hand-out.html"
    download.value.save_as(file)
    context.set_offline(True)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("pre.script")).to_contain_text("import torch")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    if "train" in address:
        assert page.locator("img").evaluate("(image) => image.complete && image.naturalWidth") > 100
    else:
        expect(page.locator('[data-call="backward"][data-field="grad"]')).to_contain_text("0.1648")


def test_embedded_it_is_only_the_page(page: Page, app: str) -> None:
    page.goto(f"{app}/step?embed=true&calls=f")
    expect(page.locator(".fc-stepper")).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
