"""The mode grid as a visitor uses it."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_measure_again_changes_the_noisy_cells_and_moves_nothing_on_the_page(page: Page, app: str) -> None:
    page.goto(f"{app}/modes")
    noisy = page.locator('tr[data-mode="train"][data-grad="no_grad"] [data-field="loss"]')
    steady = page.locator('tr[data-mode="eval"][data-grad="no_grad"] [data-field="loss"]')
    say = page.locator(".fc-say")
    expect(page.get_by_role("button", name="Copy as a script")).to_be_visible()  # the last thing drawn
    before = noisy.inner_text(), steady.inner_text(), say.bounding_box()
    page.get_by_role("button", name="Measure again").click()
    expect(noisy).not_to_have_text(before[0])
    assert (steady.inner_text(), say.bounding_box()) == before[1:]
    assert "again=1" in page.url
    bottom = page.locator(".fc-cards").bounding_box()
    assert bottom["y"] + bottom["height"] <= 720  # question, control, numbers and sentence without scrolling


def test_on_a_phone_every_row_is_a_card_and_nothing_is_cut(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/modes?lang=bn")
    expect(page.locator(".fc-say")).to_be_visible()
    cut = page.evaluate(
        "[...document.querySelectorAll('.fc-modes *')].filter((e) => e.getBoundingClientRect().right > innerWidth)"
        ".map((e) => e.textContent)"
    )
    assert cut == []
