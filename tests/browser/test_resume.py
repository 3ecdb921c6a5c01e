"""The resume page as a visitor uses it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from core.checkpoint import load
from core.fit import Run


def open_resume(page: Page, app: str, query: str = "") -> None:
    page.goto(f"{app}/resume{query}")
    expect(page.locator(".fc-say").first).to_be_visible()
    expect(page.locator(".fc-chart .main-svg").first).to_be_visible()


def test_leaving_a_part_out_turns_the_verdict_and_moves_nothing_on_the_page(page: Page, app: str) -> None:
    open_resume(page, app)
    say, chart = page.locator(".fc-say"), page.locator(".fc-chart")
    expect(say).to_contain_text("Equal to the bit")
    before = chart.bounding_box()
    assert before["y"] < 500  # the verdict, the step and most of the chart without scrolling
    page.get_by_role("button", name="torch's RNG").click()
    expect(say).to_contain_text("They part at epoch 7, batch 1")
    expect(page.locator('tr[data-side="resumed"] [data-field="loss"]')).to_contain_text("≠")
    assert chart.bounding_box() == before
    assert "skip=torch_rng" in page.url


def test_the_checkpoint_is_downloaded_uploaded_and_resumed_from(page: Page, app: str, tmp_path: Path) -> None:
    open_resume(page, app, "?epoch=5&batch=3")
    idle = page.locator("[data-testid='stApp'][data-test-script-state='notRunning']")
    expect(idle).to_be_visible()
    page.get_by_text("What is in the file").click()
    expect(page.get_by_role("button", name="Download the checkpoint")).to_be_visible()
    page.wait_for_timeout(500)  # the fold opens gently, and the button moves with it
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the checkpoint").click()
    file = tmp_path / "last.pt"
    download.value.save_as(file)
    run = Run.resume(load(file))
    assert (run.epochs, run.batch) == (5, 3)
    page.get_by_text("Upload a checkpoint").click()
    page.locator("input[type=file]").set_input_files(file)
    choice = page.get_by_text("Resume from this file")
    expect(choice).to_be_visible()
    expect(idle).to_be_visible()  # a press while the page is still being laid out would land beside it
    choice.click()
    expect(page.locator('[data-exact="1"]')).to_have_count(2)


def test_on_a_phone_nothing_is_cut(page: Page, app: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_resume(page, app, "?lang=bn&skip=optimizer&batch=3")
    cut = page.evaluate(
        "[...document.querySelectorAll('.fc-resume *, .fc-epochs *')]"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.textContent)"
    )
    assert cut == []
