"""The checker in a browser: pasting, uploading, and from the code it was given to the stepper and back."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

PASTED = """\
note = "<img src=x onerror=window.ran=1><script>window.ran=1</script>"
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    optimizer.step()
    loss.backward()
"""


def test_a_pasted_loop_is_marked_stepped_and_still_there_on_return(page: Page, app: str) -> None:
    page.goto(f"{app}/check")
    page.get_by_role("textbox", name="A training loop").fill(PASTED)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".fc-say")).to_contain_text("To mend first: step() before backward(), line 5")
    expect(page.locator(".fc-error-line")).to_contain_text("optimizer.step()")
    assert page.evaluate("window.ran") is None
    assert parse_qs(urlsplit(page.url).query) == {"lang": ["en"], "example": ["own"], "shown": ["error,warning,info"]}
    page.get_by_role("link", name="Step this very order").click()
    expect(page.locator(".fc-scroll tbody tr")).to_have_count(6)
    assert "calls=flzsb" in page.url
    page.get_by_role("link", name="Check a loop").click()
    expect(page.locator(".fc-say")).to_contain_text("step() before backward(), line 5")


def test_an_uploaded_notebook_is_told_by_cell(page: Page, app: str) -> None:
    page.goto(f"{app}/check?example=right")
    expect(page.locator(".fc-say")).to_contain_text("Nothing found")
    cells = [{"cell_type": "code", "source": "import torch"}, {"cell_type": "code", "source": PASTED}]
    file = {"name": "a.ipynb", "mimeType": "application/json", "buffer": json.dumps({"cells": cells}).encode()}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".fc-say")).to_contain_text("cell 2, line 5")


def test_nothing_scrolls_sideways_on_a_phone(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/check?example=gan&lang=bn")
    expect(page.locator(".fc-finding")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_in_front_of_a_class_the_checked_code_is_on_the_screen(page: Page, app: str) -> None:
    page.goto(f"{app}/check?present=1")
    page.get_by_role("button", name="Paste or upload").click()
    page.get_by_role("textbox", name="A training loop").fill(PASTED)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".fc-say")).to_contain_text("To mend first: step() before backward(), line 5")
    page.keyboard.press("Escape")
    marked = page.locator(".fc-error-line").bounding_box()
    assert marked["y"] + marked["height"] < page.viewport_size["height"]
