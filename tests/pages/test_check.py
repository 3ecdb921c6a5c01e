"""The checker's page: what `core.check` finds is what it shows; any text gets an answer, and is only read."""

from __future__ import annotations

import json
import logging
import random
import time
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core import mistakes, trace
from core.check import RULES, Problem, check
from core.check.examples import EXAMPLES
from core.check.fixes import correct
from core.config import Choice, Flag, Names, Text, parse_settings
from core.glossary import TERMS
from core.loss_inputs import FIELDS as LOSS_FIELDS
from core.trace import StepConfig, replay
from core.turns import log
from pages.ui import check_view as view
from pages.ui.code import code_html
from pages.ui.optimizers_view import FIELDS as OPTIMIZER_FIELDS
from pages.ui.pages import addresses
from tests.pages.conftest import OpenPage, html
from tests.pages.strangers import ALPHABET

ADDRESS = {"example": Choice((*EXAMPLES, "own")), "shown": Names(view.SEVERITIES)}
LOOP = "for x, y in loader:\n    loss = F.cross_entropy(model(x), y)\n    loss.backward()\n    optimizer.step()\n"


def paste(app: AppTest, text: str) -> AppTest:
    return app.text_area(key="check_text").set_value(text).run()


@pytest.mark.parametrize("key", EXAMPLES)
def test_what_is_found_in_an_example_is_shown(open_page: OpenPage, key: str) -> None:
    app = open_page("check", example=key)
    assert not app.exception
    shown, report = html(app), check(EXAMPLES[key].source)
    assert ("Nothing found" in shown) == (not report.findings)
    for finding in report.findings:
        assert f'id="line-{finding.line}"' in shown
        assert f'href="#line-{finding.line}"' in shown
        assert f"· {finding.code}<" in shown
    tally = view.counts(report)
    assert sum(tally.values()) == len(report.findings)
    if report.findings:
        assert f"✗ errors <b>{tally['error']}</b> · ▲ warnings <b>{tally['warning']}</b>" in shown
    assert shown.count('class="fc-call"') == sum(min(len(loop.calls), view.MOST_CALLS) for loop in report.loops)
    links = [link.proto.query_string for link in app.get("page_link")]
    assert (f"calls={report.stepper_calls}" in links) == bool(report.stepper_calls)


def test_examples_are_faulty_and_right() -> None:
    clean = [key for key, one in EXAMPLES.items() if not check(one.source).findings]
    assert clean == ["right", "accumulation-right"]
    assert all(check(one.source).loop_found for one in EXAMPLES.values())


def test_the_corrected_text_is_offered_and_is_better(open_page: OpenPage) -> None:
    app = open_page("check", example="assistant")
    made = correct(EXAMPLES["assistant"].source)
    assert made.fixed
    assert app.code[0].value == made.text.rstrip()
    assert '<span class="fc-new">+        optimizer.zero_grad()</span>' in html(app)
    assert len(check(made.text).findings) < len(check(EXAMPLES["assistant"].source).findings)


def test_a_kind_can_be_hidden(open_page: OpenPage) -> None:
    app = open_page("check", example="assistant", shown="warning")
    assert "fc-finding fc-warning-found" in html(app)
    assert "fc-finding fc-error-found" not in html(app)
    app.button_group(key="check_shown").set_value(["error"]).run()
    assert app.query_params["shown"] == "error"
    assert "fc-finding fc-error-found" in html(app)


def test_what_is_pasted_is_only_read(
    open_page: OpenPage, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    before = code_html.cache_info().currsize
    app = paste(open_page("check"), f"import this\nopen({str(tmp_path / 'ran')!r}, 'w')\nsecret_word = 1\n{LOOP}")
    assert not app.exception
    assert "secret_word" in html(app)
    assert "FC201" in html(app)
    assert not (tmp_path / "ran").exists()
    assert dict(app.query_params) == {"lang": "en", "example": "own", "shown": "error,warning,info"}
    printed = capfd.readouterr()
    assert "secret_word" not in caplog.text + printed.out + printed.err
    assert code_html.cache_info().currsize == before


def test_a_fault_of_ours_logs_nothing_of_the_text(
    open_page: OpenPage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_badly(source: str) -> None:
        raise KeyError(source)

    monkeypatch.setattr(log, "propagate", True)
    monkeypatch.setattr(view, "check", check_badly)
    app = paste(open_page("check"), "secret_word = 1\n")
    assert not app.exception
    assert "could not be followed" in html(app)
    assert "KeyError in" in caplog.text
    assert "secret_word" not in caplog.text


def test_html_is_shown_as_text(open_page: OpenPage) -> None:
    nasty = '"<script>alert(1)</script>"  # </code><img src=x onerror=alert(1)> `a` **b**\n'
    app = paste(open_page("check"), f"x = {nasty}{LOOP.replace('optimizer', 'o')}")
    assert "<script" not in html(app)
    assert "<img" not in html(app)
    assert "&lt;script&gt;" in html(app)


def test_any_text_gets_an_answer(open_page: OpenPage) -> None:
    app = open_page("check")
    for text, said in (
        ("", "Paste a loop above"),
        (" \n\t\n", "Paste a loop above"),
        ("a\x00b", "null bytes"),
        ("x = 1\n" * 200_000, "larger than 1 MB"),
        ("(" * 5000, "Line 1 nests deeper"),
        ("for x in y:\n  if", "Line 2 is not Python"),
        ("def area(r):\n    return r * r\n", "no training loop in these 2 lines"),
        (">>> x = 1\n>>> y = 2\n", "Read in spite of: prompts"),
        ("লস = ১\n\u202e\u2066\n", "is not Python"),
    ):
        paste(app, text)
        assert not app.exception
        assert said in html(app)
        assert not set(html(app)) & {"\x00", "\u202e", "\u2066"}


def test_a_megabyte_is_answered_with_the_lines_that_matter(open_page: OpenPage) -> None:
    text = LOOP + "x = 1  # a longer line that holds little\n" * 12_000 + "value = compute(value, 3)\n" * 19_000
    begun = time.thread_time()
    given = view.answer(text)  # of processor time: other tests may run beside this one
    shown = view.listing(given, given.report.findings)
    assert time.thread_time() - begun < 4
    assert [f.code for f in given.report.findings] == ["FC201"]
    assert "optimizer" in shown
    assert len(shown) < 20_000


def test_random_texts_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    app = open_page("check", lang="bn")
    for _ in range(6):
        text = "".join(dice.choices([*ALPHABET, "\n", "    ", "loss.backward()\n", "for x in y:\n"], k=300))
        assert not paste(app, text).exception


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    odd = ["", "nan", "own", "gan", "error", "error,x", "<b>", "ক"]
    for _ in range(4):
        assert not open_page("check", example=dice.choice(odd), shown=dice.choice(odd)).exception


def test_a_notebook_is_told_by_cell() -> None:
    cells = [{"cell_type": "code", "source": "%matplotlib inline\nx = 1"}, {"cell_type": "code", "source": [LOOP]}]
    text, starts = view.from_file("a.ipynb", json.dumps({"cells": cells}).encode())
    given = view.answer(text, starts)
    assert [view.place(f.line, starts) for f in given.report.findings] == ["cell 2, line 4"]
    assert "cell 2, line 1" in view.understood(given)
    assert isinstance(view.from_file("a.ipynb", b"{}"), Problem)
    assert view.from_file("a.py", b"\xef\xbb\xbfx = '\xff'") == ("x = '�'", ())


def test_of_many_loops_the_first_are_shown_and_the_others_folded() -> None:
    given = view.answer(
        "\n".join(
            f"def train_{i}(model, loader, optimizer):\n" + "".join(f"    {line}\n" for line in LOOP.splitlines())
            for i in range(5)
        )
    )
    shown, folded = view.understood(given).split("<details>")
    assert (shown.count('class="fc-strip"'), folded.count('class="fc-strip"')) == (2, 3)
    assert "and 3 more loops" in folded


def test_calls_say_whose_they_are_where_a_loop_has_two_optimizers(open_page: OpenPage) -> None:
    two = """optimizers = {"<b>": torch.optim.SGD(a.parameters(), 0.1), "<i>": torch.optim.SGD(b.parameters(), 0.1)}
for x in loader:
    loss_a = F.mse_loss(a(x), x)
    loss_a.backward()
    optimizers["<b>"].step()
    loss_b = F.mse_loss(b(x), x)
    loss_b.backward()
    optimizers["<i>"].step()
"""
    shown = html(paste(open_page("check"), two))
    for name in ("loss_a", "loss_b", "optimizers[&#x27;&lt;b&gt;&#x27;]", "optimizers[&#x27;&lt;i&gt;&#x27;]"):
        assert f'<code class="fc-of">{name}</code>' in shown
    assert 'class="fc-of"' not in html(open_page("check", example="assistant"))
    assert 'class="fc-of">opt_g</code>' in html(open_page("check", example="gan", lang="bn"))


def test_bangla_has_its_digits_in_sentences_and_not_in_code(open_page: OpenPage) -> None:
    shown = html(open_page("check", example="assistant", lang="bn"))
    assert "লাইন ১৪" in shown
    assert "optimizer.zero_grad()</code>" in shown
    assert "<b>14</b>" in shown


def test_every_rule_leads_to_a_page_where_its_fault_can_be_seen() -> None:
    fields = {
        "step": {**trace.FIELDS, "graph": Flag()},
        "mistakes": mistakes.FIELDS,
        "losses": {"view": Choice(("twice", "logit", "takes")), **LOSS_FIELDS},
        "optimizers": OPTIMIZER_FIELDS,
        "glossary": {"find": Text(60)},
    }
    names = {term.name for term in TERMS.values()}
    for rule in RULES:
        parts = urlsplit(rule.link)
        address, query = parts.path.strip("/"), dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        assert address in addresses(), rule.code
        if query:
            values, errors = parse_settings(fields[address], query)
            assert not errors, rule.code
            assert set(values) == set(query), rule.code
            if address == "glossary":
                assert query["find"] in names, rule.code
            if address == "step":
                config = StepConfig(**{k: v for k, v in values.items() if k not in ("calls", "graph")}).resolved()
                assert len(replay(config, values["calls"])) == len(values["calls"]) + 1, rule.code
