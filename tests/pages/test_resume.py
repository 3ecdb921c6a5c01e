"""The resume page without a browser: verdict, first step apart, differences, and files of strangers."""

from __future__ import annotations

import os
import random
import re
import string
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.checkpoint import load, to_bytes
from core.fit_config import FIELDS as FIT_FIELDS
from core.fit_config import FitConfig
from core.resume import ORDERS, ResumeConfig, compare, interrupt
from pages.ui.i18n import LANGUAGES
from pages.ui.resume_chart import figure
from pages.ui.resume_view import contents_table
from tests.pages.conftest import OpenPage, html, words

FILE = to_bytes(interrupt(FitConfig(seed=3), 4, 2)[1])


def verdicts(app: AppTest) -> list[bool]:
    return [found == "1" for found in re.findall(r'data-exact="(\d)"', html(app))]


def apart(app: AppTest) -> list[str]:
    return re.findall(r'data-side="apart"[^>]*>([^<]*)<', html(app))


def test_with_everything_in_the_file_the_runs_are_equal(open_page: OpenPage) -> None:
    app = open_page("resume")
    assert verdicts(app) == [True]
    assert "6 of 6 tensors" in html(app)
    assert set(apart(app)) == {"0"}
    assert app.query_params["epoch"] == "6"
    assert app.query_params["skip"] == ""


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"skip": "optimizer"}, ("at epoch 7, batch 1", "running means", "0 of 6 tensors")),
        ({"skip": "torch_rng", "batch": "3"}, ("at epoch 7, batch 4", "other dropout masks")),
        ({"skip": "loader_rng", "batch": "3"}, ("at epoch 8, batch 1", "other rows")),
        ({"skip": "loop"}, ("One run is longer", "begins again at epoch 1")),
        ({"skip": "scheduler", "scheduler": "step"}, ("the learning rate is another", "counts from 0")),
        ({"skip": "position", "batch": "3"}, ("at epoch 7, batch 4", "takes rows twice")),
        ({"order": "rng-before-skip", "batch": "3"}, ("at epoch 7, batch 4", "should have come later")),
        ({"order": "stopper-before-update"}, ("One run is longer", "one epoch old")),
    ],
)
def test_it_names_where_they_part_and_why(open_page: OpenPage, query: dict[str, str], said: tuple[str, ...]) -> None:
    app = open_page("resume", **query)
    assert verdicts(app) == [False]
    for text in said:
        assert text in words(app)
    assert set(apart(app)) != {"0"}


def test_both_sides_of_the_first_step_apart_are_shown(open_page: OpenPage) -> None:
    config = ResumeConfig(FitConfig(scheduler="step"), batch=3, skip=("optimizer",))
    parting = compare(config).parting
    shown = html(open_page("resume", scheduler="step", batch="3", skip="optimizer"))
    for step in (parting.full, parting.resumed):
        assert f"{step.rows[0]:>3} {step.rows[1]:>3}" in shown
        assert f"{step.lr:g}</span>" in shown
        assert f"{step.loss:.6f}</span>" in shown


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"order": "rng-before-skip"}, "only within an epoch"),
        ({"order": "stopper-before-update", "batch": "2"}, "only at the end of an epoch"),
        ({"epoch": "100"}, "Nothing to train"),
    ],
)
def test_a_mistake_that_does_no_harm_says_why(open_page: OpenPage, query: dict[str, str], said: str) -> None:
    app = open_page("resume", **query)
    assert verdicts(app) == [True]
    assert said in words(app)


def test_a_part_is_left_out_by_a_press_and_the_address_remembers(open_page: OpenPage) -> None:
    app = open_page("resume")
    app.pills(key="resume_skip").set_value(["torch_rng", "optimizer"]).run()
    assert app.query_params["skip"] == "optimizer,torch_rng"
    assert verdicts(app) == [False]
    app.pills(key="resume_skip").set_value([]).run()
    assert verdicts(app) == [True]


def test_what_is_in_the_file(open_page: OpenPage) -> None:
    shown = html(open_page("resume"))
    assert "Weights take 70,668 bytes and the optimizer's tensors 141,336: together <b>3 times</b>" in shown.replace(
        "&#x27;", "'"
    )
    assert "Two RNG states of 5,056 bytes each" in shown
    assert "optimizer.state.0.exp_avg_sq" in shown
    assert "128×5" in shown


def upload(app: AppTest, data: bytes) -> AppTest:
    app.file_uploader(key="resume_upload").set_value(("mine.pt", data, "application/octet-stream")).run()
    assert not app.exception
    return app


def test_an_uploaded_file_is_shown_and_resumed_from(open_page: OpenPage) -> None:
    app = upload(open_page("resume"), FILE)
    assert html(app).count("model.0.weight") == 2
    app.toggle(key="resume_from").set_value(True).run()
    assert verdicts(app) == [True, True]
    app.pills(key="resume_skip").set_value(["loader_rng"]).run()
    assert verdicts(app) == [False, False]


class Marker:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_and_broken_files_are_one_sentence(open_page: OpenPage, language: str, tmp_path: Path) -> None:
    torch.save({"model": Marker(tmp_path / "run")}, tmp_path / "hostile.pt")
    other = load(FILE)
    other["model"]["0.weight"] = torch.zeros(2, 2)
    wrong = load(FILE)
    wrong["config"]["lr"] = -1.0
    app = open_page("resume", lang=language)
    for data in (
        (tmp_path / "hostile.pt").read_bytes(), FILE[:-100], b"", b"hello", to_bytes(other), to_bytes(wrong),
        to_bytes({"a": torch.zeros(3)}),
    ):  # fmt: skip
        upload(app, data)
        if app.toggle:
            app.toggle(key="resume_from").set_value(True).run()
        assert not app.exception
        sentences = re.findall(r'role="alert">([^<]+)<', html(app))
        assert len(sentences) == 1
        assert bool(re.search("[\u0980-\u09ff]", sentences[0])) is (language == "bn"), sentences
        app.file_uploader(key="resume_upload").set_value(None).run()
    assert not (tmp_path / "run").exists()


def test_names_in_a_strangers_file_are_shown_as_text() -> None:
    shown = contents_table({"<img src=x onerror=alert(1)>": torch.zeros(1), **{f"k{i}": 0 for i in range(400)}})
    assert "<img" not in shown
    assert "401 in all" in shown


def test_a_diverged_run_puts_no_nan_into_the_chart(open_page: OpenPage) -> None:
    config = ResumeConfig(FitConfig(optimizer="sgd", lr=10.0, patience=3), epoch=1)
    values = [value for trace in figure(compare(config))["data"] for value in trace["y"]]
    assert None in values
    assert all(value is None or value == value for value in values)
    app = open_page("resume", optimizer="sgd", lr="10", patience="3", epoch="1")
    assert verdicts(app) == [True]
    assert "nan" not in html(app).lower()


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    dice = random.Random(0)  # noqa: S311 - a test's own dice
    names = ["epoch", "batch", "skip", "order", "lr", "dropout", "optimizer", "scheduler", "patience", "seed"]
    values = ["", "nan", "-inf", "1e309", "0", "3", "100", "rng", "position,loop", "<b>", *ORDERS]
    values += [*FIT_FIELDS["scheduler"].names, *FIT_FIELDS["optimizer"].names]
    for _ in range(6):
        chosen = dice.sample(names, dice.randint(1, 6))
        query = {name: dice.choice([*values, "".join(dice.choices(string.printable, k=9))]) for name in chosen}
        app = open_page("resume", **query, lang=dice.choice([*LANGUAGES, "xx"]))
        assert not app.exception, query
        assert len(verdicts(app)) == 1
        assert "nan" not in html(app).lower(), query
