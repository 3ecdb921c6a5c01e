"""The training page as a visitor uses it: it runs live, does not blink, and survives leaving."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

# Every animation frame for two seconds: are both curves drawn, and is the chart as large as it was?
FRAMES = """async () => {
  const frames = [];
  const end = performance.now() + 2000;
  while (performance.now() < end) {
    const box = document.querySelector('.fc-chart');
    frames.push([box?.querySelectorAll('.scatterlayer .trace').length ?? 0, box?.getBoundingClientRect().height ?? 0,
                 box ? getComputedStyle(box.closest('[data-testid=stElementContainer]') ?? box).opacity : '0']);
    await new Promise(requestAnimationFrame);
  }
  return frames;
}"""


def cell(page: Page, epoch: int, field: str):
    return page.locator(f'td[data-epoch="{epoch}"][data-field="{field}"]')


def open_train(page: Page, app: str, query: str = "") -> None:
    page.goto(f"{app}/train{query}")
    expect(page.locator(".fc-chart .main-svg").first).to_be_visible()


def test_it_runs_until_it_stops_early_and_marks_the_best_epoch(page: Page, app: str) -> None:
    open_train(page, app)
    page.get_by_text("16×").click()
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".fc-say")).to_contain_text("Stopped early at epoch 12", timeout=15_000)
    expect(page.get_by_text("best: epoch 4")).to_be_visible()
    expect(page.get_by_text("early stop", exact=True)).to_be_visible()
    assert "epochs=12" in page.url


def test_no_frame_is_blank_while_it_runs(page: Page, app: str) -> None:
    open_train(page, app, "?epochs=2&patience=30")
    page.get_by_role("button", name="Go on").click()
    frames = page.evaluate(FRAMES)
    assert len(frames) > 20
    assert [frame for frame in frames if frame[0] != 2 or frame[1] < 300 or frame[2] != "1"] == []
    expect(cell(page, 6, "val_loss")).to_be_attached()


def test_a_link_opens_at_its_epoch_and_pausing_keeps_it(page: Page, app: str) -> None:
    open_train(page, app, "?epochs=3")
    expect(cell(page, 3, "val_loss")).to_be_visible()
    expect(cell(page, 4, "val_loss")).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    expect(cell(page, 5, "val_loss")).to_be_attached()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    reached = int(re.search(r"epochs=(\d+)", page.url).group(1))
    page.wait_for_timeout(800)
    assert f"epochs={reached}" in page.url


def test_leaving_pauses_and_coming_back_finds_it(page: Page, app: str) -> None:
    open_train(page, app)
    page.get_by_role("button", name="Start").click()
    expect(cell(page, 2, "val_loss")).to_be_attached()
    page.get_by_role("link", name="The five calls").click()
    expect(page.locator(".fc-stepper")).to_be_visible()
    page.get_by_role("link", name="Train live").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    expect(cell(page, 2, "val_loss")).to_be_attached()
