"""The page of mistakes: the numbers are those of the two runs, and the difference is marked."""

from __future__ import annotations

import random

import pytest

from core.mistakes import MISTAKES, run_mistake
from tests.pages.conftest import OpenPage, html


@pytest.mark.parametrize("key", MISTAKES)
def test_the_numbers_of_both_loops_are_shown(open_page: OpenPage, key: str) -> None:
    app = open_page("mistakes", mistake=key)
    assert not app.exception
    right, wrong = run_mistake(key, False), run_mistake(key, True)
    shown = html(app)
    for run in (right, wrong):
        for value in (f"{run.val_loss:.4f}", f"{run.val_acc:.3f}", f"{run.kept_val_loss:.4f}"):
            assert f">{value}" in shown or f" {value}" in shown
    assert "fc-changed" in shown
    assert shown.count('class="hll"') >= 2
    assert "Why accuracy alone" in shown


def test_the_warning_is_pytorchs_own(open_page: OpenPage) -> None:
    assert "Detected call of `lr_scheduler.step()`" in html(open_page("mistakes", mistake="scheduler-first"))
    assert "Detected call" not in html(open_page("mistakes", mistake="softmax"))


def test_another_seed_trains_again(open_page: OpenPage) -> None:
    app = open_page("mistakes", mistake="naive-mean", seed="4")
    app.button[0].click().run()
    assert app.query_params["seed"] == "5"
    assert f"{run_mistake('naive-mean', True, 5).val_loss:.4f}" in html(app)


def test_a_mistake_brings_its_own_chart(open_page: OpenPage) -> None:
    app = open_page("mistakes")
    assert app.query_params["chart"] == "confidence"
    app.button_group(key="mistakes_mistake").set_value("no-zero-grad").run()
    assert (app.query_params["mistake"], app.query_params["chart"]) == ("no-zero-grad", "norm")


def test_bangla_digits_in_the_table_and_none_in_the_code(open_page: OpenPage) -> None:
    shown = html(open_page("mistakes", mistake="no-eval", lang="bn"))
    code, table = shown.split("<table")[0], shown.split("<table")[1].split("</table>")[0]
    assert not set("০১২৩৪৫৬৭৮৯") & set(code.split("fc-loops")[1].split("fc-say")[0])
    assert not set("0123456789") & set(table.replace("fc-", "").split("<tbody>")[1])


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    odd = ["", "nan", "-1", "1e9", "<b>", "softmax", "00", "ক", "val", "right"]
    for _ in range(8):
        app = open_page("mistakes", **{name: dice.choice(odd) for name in ("mistake", "seed", "chart", "copy")})
        assert not app.exception
        assert "nan" not in html(app).split("<table")[1].split("</table>")[0]
