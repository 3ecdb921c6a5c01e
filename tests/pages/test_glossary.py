"""The glossary, and its terms on other pages."""

from __future__ import annotations

import random
import re
import string

import pytest

from core.glossary import TAKEAWAYS, TERMS
from pages.ui.markup import rich
from pages.ui.terms import term, with_terms
from tests.pages.conftest import OpenPage, html


def test_it_opens_in_both_languages(open_page: OpenPage) -> None:
    app = open_page("glossary", find="softmax")
    assert not app.exception
    assert app.query_params["find"] == "softmax"
    assert rich(TAKEAWAYS[3]) in html(app)
    assert "এই শব্দটির মানে কী?" in html(open_page("glossary", lang="bn"))


def test_a_term_carries_its_definition_in_the_visitors_language(open_page: OpenPage) -> None:
    assert TERMS["grad-norm"].definition.replace("`", "") in html(open_page("mistakes", mistake="no-zero-grad"))
    assert "vector ধরলে তার দৈর্ঘ্য" in html(open_page("mistakes", mistake="no-zero-grad", lang="bn"))


def test_the_first_mention_is_explained_and_no_tag_is_touched() -> None:
    explained = with_terms('<p title="logits">Give it <b>logits</b>, not softmax of logits.</p>', "logits", "softmax")
    assert explained.count('class="fc-term"') == 2
    assert '<p title="logits">' in explained
    assert re.sub(r"<[^>]*>", "", explained) == "Give it logits, not softmax of logits."


def test_a_word_in_another_word_or_in_code_is_not_the_term() -> None:
    assert "fc-term" not in with_terms("stepper, step_size, optimizer.step() and step(1)", "step")
    assert "fc-term" not in with_terms("nothing of the sort", "step")


@pytest.mark.parametrize("key", TERMS)
def test_every_term_can_be_shown(key: str) -> None:
    shown = term(key, "<b>")
    assert "&lt;b&gt;" in shown
    assert shown.count("<span") == shown.count("</span>")


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    for length in (0, 1, 5, 60, 61, 500):
        app = open_page("glossary", find="".join(dice.choices(string.printable + "ক<&", k=length)))
        assert not app.exception
