"""The home page."""

from __future__ import annotations

from pages.ui.loop_figure import loop_figure
from tests.pages.conftest import OpenPage, html


def test_it_opens_in_both_languages(open_page: OpenPage) -> None:
    assert "What does each call" in html(open_page("home"))
    assert "Training loop-এর" in html(open_page("home", lang="bn"))


def test_the_picture_links_only_to_pages_that_exist() -> None:
    assert loop_figure({"step"}).count('data-page="step"') == 3
    assert "data-page" not in loop_figure(set())
