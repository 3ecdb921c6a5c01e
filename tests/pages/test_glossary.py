"""The glossary, and its terms on other pages."""

from __future__ import annotations

import random
import re
import string
from html import unescape

import pytest

from core.glossary import TERMS
from core.takeaways import TAKEAWAYS
from pages.ui.i18n import catalogue
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


PLACES = (
    ("modes", {}, ("eval-mode", "no-grad", "train-mode", "dropout", "graph", "batchnorm", "autograd")),
    ("numpy", {}, ("epoch", "no-grad", "optimizer")),
    ("numpy", {"most_epochs": "3"}, ("epoch", "patience")),
    ("resume", {}, ("checkpoint", "early-stopping", "scheduler")),
    ("resume", {"skip": "torch_rng"}, ("rng-state", "dropout")),
    ("review", {"item": "3"}, ("eval-mode", "train-mode")),
    ("review", {"item": "9"}, ("checkpoint", "rng-state", "resume")),
    ("review", {"part": "overfit", "loop": "no-eval"}, ("validation",)),
    ("practice", {"part": "think", "q": "4"}, ("logits", "softmax")),
    ("check", {"example": "assistant"}, ("softmax", "cross-entropy")),
)


@pytest.mark.parametrize("lang", ["en", "bn"])
@pytest.mark.parametrize(("page", "query", "terms"), PLACES)
def test_a_pages_sentences_explain_their_terms(
    open_page: OpenPage, page: str, query: dict[str, str], terms: tuple[str, ...], lang: str
) -> None:
    app = open_page(page, lang=lang, **query)
    assert not app.exception
    shown = unescape(html(app))
    for key in terms:
        definition = TERMS[key].definition
        definition = catalogue("bn")[definition] if lang == "bn" else definition
        assert f'data-tip="{TERMS[key].name}: {definition.replace("`", "")}"' in shown, key


def test_the_first_mention_is_explained_and_no_tag_is_touched() -> None:
    explained = with_terms('<p title="logits">Give it <b>logits</b>, not softmax of logits.</p>', "logits", "softmax")
    assert explained.count('class="fc-term"') == 2
    assert '<p title="logits">' in explained
    assert re.sub(r"<[^>]*>", "", explained) == "Give it logits, not softmax of logits."


def test_a_word_in_another_word_or_in_code_is_not_the_term() -> None:
    assert "fc-term" not in with_terms("stepper, step_size, optimizer.step() and step(1)", "step")
    assert "fc-term" not in with_terms("nothing of the sort", "step")
    assert "fc-term" not in with_terms("<code>model.eval()</code>, eval(x), retrain()", "eval-mode", "train-mode")


@pytest.mark.parametrize(
    ("key", "text", "mention"),
    [
        ("epoch", "After 12 epochs", "epochs"),
        ("epoch", "১২ epoch-এর পরে", "epoch"),
        ("no-grad", "Measure under <code>no_grad()</code>.", "no_grad()"),
        ("naive-mean", "চারটি batch-এর সরল গড়ের মান", "সরল গড়ের"),
        ("patience", "ধৈর্য শেষ", "ধৈর্য"),
        ("overfit-one-batch", "Overfitting one batch catches it", "Overfitting one batch"),
    ],
)
def test_a_term_is_known_in_either_language_by_its_forms_and_by_its_call(key: str, text: str, mention: str) -> None:
    assert f">{mention}</span>" in with_terms(text, key)


def test_a_word_that_only_begins_like_the_term_is_not_the_term() -> None:
    assert "fc-term" not in with_terms("বীজগণিত, ধৈর্যশীল", "seed", "patience")


def test_the_longer_of_two_terms_is_explained_whole() -> None:
    assert ">gradient norm</span>" in with_terms("Print the gradient norm.", "gradient", "grad-norm")


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
