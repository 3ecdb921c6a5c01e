"""The stepper page as a visitor uses it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from playwright.sync_api import BrowserContext, Page, expect


def cell(page: Page, position: int, field: str):
    return page.locator(f'td[data-position="{position}"][data-field="{field}"] .fc-value')


def open_step(page: Page, app: str, query: str = "") -> None:
    page.goto(f"{app}/step{query}")
    expect(cell(page, 0, "w")).to_have_text("-0.0053" if "scene=scalar" not in query else "1.0000")
    expect(page.get_by_role("button", name="forward")).to_be_visible()


def press(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()


def test_the_five_calls_give_the_lessons_numbers(page: Page, app: str) -> None:
    open_step(page, app)
    press(page, "forward", "loss", "zero_grad", "backward", "step")
    expect(cell(page, 5, "w")).to_have_text("-0.0218")
    expect(cell(page, 3, "grad")).to_have_text("None")
    expect(cell(page, 4, "grad")).to_have_text("0.1648")
    expect(cell(page, 4, "w")).to_have_text("-0.0053")
    expect(cell(page, 2, "loss")).to_have_text("1.3007")
    expect(page.locator(".fc-say")).to_contain_text("1.2371")
    expect(page.locator('[data-call="backward"][data-field="grad"]')).to_contain_text("▲")


def test_a_link_restores_the_state_in_a_fresh_browser(page: Page, app: str, context: BrowserContext, browser) -> None:
    open_step(page, app)
    press(page, "forward", "loss", "backward")
    expect(cell(page, 3, "grad")).to_have_text("0.1648")
    page.get_by_role("button", name="Copy link to this state").click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert "calls=flb" in link
    other = browser.new_context(locale="bn-BD").new_page()
    other.goto(link)
    expect(cell(other, 3, "grad")).to_have_text("0.1648")  # lang=en travels too
    other.context.close()


def test_backward_twice_shows_pytorchs_own_error_and_goes_on(page: Page, app: str) -> None:
    open_step(page, app)
    press(page, "forward", "loss", "backward", "backward")
    expect(page.locator(".fc-error")).to_contain_text("Trying to backward through the graph a second time")
    press(page, "step")
    expect(cell(page, 5, "w")).to_have_text("-0.0218")


def test_no_click_is_lost(page: Page, app: str) -> None:
    open_step(page, app)
    page.get_by_role("button", name="Next").evaluate(
        "async (b) => { for (let i = 0; i < 20; i++) { b.click(); await new Promise((r) => setTimeout(r, 30)); } }"
    )
    expect(cell(page, 20, "w")).to_be_attached()
    assert "calls=" + "flzbs" * 4 in page.url


def test_keys_step_back_and_forth(page: Page, app: str) -> None:
    open_step(page, app)
    for key in ("ArrowRight", "ArrowRight", "4", "5"):
        page.keyboard.press(key)
    expect(cell(page, 4, "w")).to_have_text("-0.0218")
    page.keyboard.press("ArrowLeft")
    expect(cell(page, 4, "w")).to_have_count(0)
    expect(page.locator("output")).to_have_text("call 3 of 4")
    page.keyboard.press("ArrowRight")  # along what was already made: 5, not the right order's zero_grad
    expect(cell(page, 4, "w")).to_have_text("-0.0218")


def test_the_slider_goes_to_an_earlier_position_and_reset_to_the_start(page: Page, app: str) -> None:
    open_step(page, app, "?calls=flzbs")
    page.get_by_role("slider", name="Position").fill("2")
    expect(cell(page, 2, "loss")).to_have_text("1.3007")
    expect(cell(page, 3, "w")).to_have_count(0)
    page.get_by_role("button", name="Reset").click()
    expect(cell(page, 1, "w")).to_have_count(0)


def test_play_makes_calls_until_paused(page: Page, app: str) -> None:
    open_step(page, app)
    page.get_by_label("Speed").select_option(label="4×")
    page.get_by_role("button", name="Play").click()
    expect(cell(page, 5, "w")).to_have_text("-0.0218")
    page.get_by_role("button", name="Pause").click()
    count = page.locator("output").inner_text()
    page.wait_for_timeout(900)
    assert page.locator("output").inner_text() == count


def test_predict_first_asks_then_judges(page: Page, app: str) -> None:
    open_step(page, app, "?calls=flz")
    page.get_by_label("Predict first").check()
    press(page, "backward")
    expect(page.get_by_text("What will backward change?")).to_be_visible()
    expect(cell(page, 4, "w")).to_have_count(0)
    page.get_by_role("checkbox", name="w[0,0]", exact=True).check()
    page.get_by_role("button", name="Run it").click()
    expect(page.locator(".fc-verdict")).to_contain_text("Not quite")
    expect(page.locator(".fc-verdict")).to_contain_text("w.grad[0,0]")


@pytest.mark.parametrize("query", ["?calls=xyz", "?lr=much&scene=moon&seed=-1", "?momentum=NaN", "?calls=" + "f" * 999])
def test_nonsense_in_the_address_is_said_and_replaced(page: Page, app: str, query: str) -> None:
    open_step(page, app, query)
    expect(page.get_by_text("which is not possible").first).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_stories_end_where_they_go_wrong(page: Page, app: str) -> None:
    open_step(page, app)
    page.get_by_role("button", name="Stories").click()
    page.get_by_role("button", name="Exercise 3: one weight, no zero_grad").click()
    expect(cell(page, 12, "w")).to_have_text("-1.0790")
    expect(cell(page, 12, "grad")).to_have_text("1.8900")
    expect(page.locator(".fc-compare")).to_contain_text("0.0010")
    expect(page.get_by_role("img", name="Loss 4.5w²")).to_be_visible()


def test_changing_language_keeps_place_and_settings(page: Page, app: str) -> None:
    open_step(page, app, "?lr=0.2&calls=fl")
    press(page, "zero_grad", "backward")
    expect(cell(page, 4, "grad")).to_have_text("0.1648")
    page.get_by_text("বাংলা").click()
    expect(cell(page, 4, "grad")).to_have_text("০.১৬৪৮")
    assert "lr=0.2" in page.url
    assert "calls=flzb" in page.url
    assert "lang=bn" in page.url


def test_the_graph_is_freed_by_backward(page: Page, app: str) -> None:
    open_step(page, app, "?calls=fl&graph=1")
    expect(page.locator(".fc-graph")).to_contain_text("NllLossBackward0")
    expect(page.locator(".fc-graph")).to_contain_text("mat1: (4, 2)")
    press(page, "backward")
    expect(page.locator(".fc-graph .fc-freed").first).to_contain_text("freed")


def test_the_copied_script_runs_and_prints_the_table(page: Page, app: str, tmp_path) -> None:
    open_step(page, app, "?calls=flzbs")
    page.get_by_role("button", name="Copy as a script").click()
    expect(page.get_by_text("Script copied")).to_be_visible()
    file = tmp_path / "take_home.py"
    file.write_text(page.evaluate("navigator.clipboard.readText()"))
    printed = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "step       w[0,0] = -0.0218   grad = 0.1648   loss = 1.3007"


def test_nothing_is_asked_of_any_other_host(page: Page, app: str) -> None:
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_step(page, app)
    press(page, "forward")
    expect(cell(page, 1, "w")).to_be_visible()
    assert [url for url in asked if not url.startswith((app, "data:", f"blob:{app}"))] == []
