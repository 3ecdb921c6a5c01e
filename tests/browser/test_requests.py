"""What the pages ask for: nothing of any other host, whatever page it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from pages.ui.pages import addresses

QUERIES = {"step": "?calls=flzb", "train": "?epochs=3"}


@pytest.mark.parametrize("address", sorted(addresses()))
def test_a_page_asks_nothing_of_any_other_host(page: Page, app: str, address: str) -> None:
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto(f"{app}/{'' if address == 'home' else address}{QUERIES.get(address, '')}")
    expect(page.locator("[data-testid='stApp'][data-test-script-state='notRunning']")).to_be_visible(timeout=30_000)
    expect(page.locator("h1, .fc-question").first).to_be_visible(timeout=20_000)
    page.wait_for_timeout(200)  # what comes after the script's end: charts, fonts
    own = (f"{app}/", f"{app.replace('http', 'ws', 1)}/", "data:", f"blob:{app}/")
    assert any(url.startswith("ws") for url in asked)
    assert [url for url in asked if not url.startswith(own)] == []
