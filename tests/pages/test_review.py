"""The review page: the checklist is the learner's to tick, and overfitting one batch is run as asked."""

from __future__ import annotations

import pytest

from core.mistakes import MISTAKES
from core.review import CHECKLIST, overfit_one_batch
from pages.ui.pages import addresses as all_addresses
from tests.pages.conftest import OpenPage, html, words
from tests.pages.strangers import addresses, copied_script


def test_an_item_is_ticked_and_the_address_says_so(open_page: OpenPage) -> None:
    app = open_page("review", item="3", ticked="logits")
    assert "1 of 14 items ticked" in html(app)
    assert CHECKLIST[2].test in words(app)
    app.checkbox[0].check().run()
    assert app.query_params["ticked"] == "logits,eval"
    assert "2 of 14 items ticked" in html(app)
    app.checkbox[0].uncheck().run()
    assert app.query_params["ticked"] == "logits"


@pytest.mark.parametrize("place", range(1, len(CHECKLIST) + 1))
def test_every_item_has_its_test_and_its_page(open_page: OpenPage, place: int) -> None:
    app = open_page("review", item=str(place), lang="bn" if place % 2 else "en")
    assert not app.exception
    assert CHECKLIST[place - 1].page in all_addresses()


def test_the_next_item_is_one_press(open_page: OpenPage) -> None:
    app = open_page("review")
    next(button for button in app.button if "Next item" in button.label).click().run()
    assert app.query_params["item"] == "2"


def test_the_right_loop_and_the_chosen_one_are_trained(open_page: OpenPage) -> None:
    app = open_page("review", part="overfit", loop="softmax")
    assert str(overfit_one_batch("softmax").verdict) in words(app)
    assert f"{overfit_one_batch('').final:.4f}" in html(app)
    assert "softmax" in copied_script(app).lower()


def test_every_mistake_at_one_press(open_page: OpenPage) -> None:
    app = open_page("review", part="overfit")
    next(button for button in app.button if "every mistake" in button.label).click().run(timeout=120)
    shown = html(app)
    caught = sum(overfit_one_batch(key).caught for key in MISTAKES)
    assert f"catches {caught} of these {len(MISTAKES)} mistakes" in words(app)
    assert shown.count("✗ not caught") == len(MISTAKES) - caught


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    from core.config import Choice, Names, Number

    fields = {"part": Choice(("list",)), "item": Number(1, 14, whole=True), "ticked": Names(("eval",))}
    for query in addresses(fields, 10):
        assert not open_page("review", **query).exception, query
