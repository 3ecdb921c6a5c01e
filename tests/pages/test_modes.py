"""The mode grid without a browser: what it shows is what `core.modes` measured."""

from __future__ import annotations

import random
import re
import string

import pytest
from streamlit.testing.v1 import AppTest

from core.model import LAYERS
from core.modes import FIELDS, ModeConfig, grid
from pages.ui.i18n import LANGUAGES
from tests.pages.conftest import OpenPage, html


def cells(app: AppTest) -> dict[tuple[str, str, str], str]:
    """(mode, context, field) -> the text shown."""
    found = {}
    for mode, grad, row in re.findall(r'<tr[^>]*data-mode="(\w+)" data-grad="(\w+)">(.*?)</tr>', html(app), re.S):
        for field, inner in re.findall(r'<td data-field="(\w+)"[^>]*>(.*?)</td>', row, re.S):
            found[mode, grad, field] = re.sub(r"<[^>]+>|●", "", inner).strip()
    return found


@pytest.mark.parametrize("layers", LAYERS)
def test_every_number_is_the_measured_one(open_page: OpenPage, layers: str) -> None:
    shown = cells(open_page("modes", layers=layers, again="2"))
    for cell in grid(ModeConfig(layers, again=2)):
        place = (cell.mode, cell.grad)
        assert shown[*place, "loss"] == f"{cell.losses[0]:.4f}"
        assert shown[*place, "again"] == f"{'=' if cell.steady else '≠'} {cell.losses[1]:.4f}"
        assert shown[*place, "requires_grad"] == str(cell.requires_grad)
        assert shown[*place, "grad_fn"] == str(cell.grad_fn)
        assert shown[*place, "kept"] == f"{cell.saved_bytes:,}"
        assert shown[*place, "moved"] == {None: "–", True: "yes", False: "no"}[cell.statistics_moved]
        assert shown[*place, "left"] == cell.mode


def test_all_three_facts_show_at_once_and_the_right_cells_are_marked(open_page: OpenPage) -> None:
    text = html(open_page("modes"))
    train, evaluate = (grid(ModeConfig("both"))[index] for index in (1, 4))
    assert f"{train.losses[0]:.4f}, then {train.losses[1]:.4f}" in text
    assert "412,016 bytes are kept" in text
    assert "measuring changed the model" in text
    assert f"{evaluate.losses[0]:.4f} both times, 0 bytes kept" in text
    good = re.findall(r'<tr class="fc-good[^"]*" data-mode="(\w+)" data-grad="(\w+)"', text)
    assert good == [("eval", "no_grad"), ("eval", "inference_mode")]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"layers": "batchnorm"}, "This model has no dropout"),
        ({"layers": "dropout"}, "This model has no BatchNorm"),
        ({"dropout": "0"}, "At this rate no unit is dropped"),
    ],
)
def test_what_cannot_be_seen_is_not_claimed(open_page: OpenPage, query: dict[str, str], said: str) -> None:
    assert said in html(open_page("modes", **query))


def test_measure_again_draws_other_masks_and_the_address_remembers(open_page: OpenPage) -> None:
    app = open_page("modes")
    before = cells(app)
    app.button(key="modes_again").click().run()
    after = cells(app)
    assert app.query_params["again"] == "1"
    assert before["train", "no_grad", "loss"] != after["train", "no_grad", "loss"]
    assert before["eval", "no_grad", "loss"] == after["eval", "no_grad", "loss"]


def test_bangla_digits_in_the_table_and_pytorchs_own_words(open_page: OpenPage) -> None:
    shown = cells(open_page("modes", lang="bn"))
    assert re.fullmatch("[০-৯.]+", shown["eval", "no_grad", "loss"])
    assert shown["eval", "grad", "grad_fn"] == "AddmmBackward0"


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    values = ["", "nan", "-inf", "1e309", "0", "0.9", "999", "both", "<b>", *LAYERS]
    for _ in range(8):
        query = {name: dice.choice([*values, "".join(dice.choices(string.printable, k=9))]) for name in FIELDS}
        query["seed"] = dice.choice(["0", "-1", "x", "4294967295"])  # every good seed is a run to train
        app = open_page("modes", **query, lang=dice.choice([*LANGUAGES, "xx"]))
        assert not app.exception, query
        assert len(cells(app)) == 48
        assert "nan" not in " ".join(cells(app).values()).lower(), query
