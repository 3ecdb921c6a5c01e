"""The training page without a browser."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from core.fit import fit
from core.fit_config import FitConfig
from core.notice import first_epoch
from core.records import log_line
from pages.ui.train_view import as_csv, as_log, curves, notices
from tests.pages.conftest import OpenPage, html


def cells(app: AppTest) -> dict[tuple[int, str], str]:
    found = re.findall(r'data-epoch="(\d+)" data-field="(\w+)"[^>]*>([^<]*)<', html(app))
    return {(int(epoch), field): value for epoch, field, value in found}


def test_one_epoch_at_a_time_then_to_the_end(open_page: OpenPage) -> None:
    app = open_page("train")
    assert cells(app) == {}
    app.button(key="train_one").click().run()
    records = list(fit(FitConfig()))
    assert cells(app) == {
        (1, "train_loss"): f"{records[0].train_loss:.4f}",
        (1, "train_acc"): f"{records[0].train_acc:.3f}",
        (1, "val_loss"): f"{records[0].val_loss:.4f}",
        (1, "val_acc"): f"{records[0].val_acc:.3f}",
    }
    app.button(key="train_end").click().run()
    assert max(epoch for epoch, _ in cells(app)) == len(records)
    assert "Stopped early" in html(app)
    assert app.button(key="train_one").disabled


def test_the_address_says_how_far_the_run_had_come(open_page: OpenPage) -> None:
    app = open_page("train", epochs="3", seed="5", lang="bn")
    assert max(epoch for epoch, _ in cells(app)) == 3
    assert re.search("[০-৯]", cells(app)[3, "val_loss"])
    app = open_page("train", epochs="99")
    assert app.query_params["epochs"] == "12"


def test_another_setting_starts_another_run(open_page: OpenPage) -> None:
    app = open_page("train", epochs="3")
    app.number_input(key="train_lr").set_value(0.01).run()
    assert cells(app) == {}
    assert app.query_params["lr"] == "0.01"


@pytest.mark.parametrize(
    "query", [{"lr": "x"}, {"epochs": "-1"}, {"scheduler": "warp"}, {"lr": "10", "epochs": "9", "optimizer": "sgd"}]
)
def test_strangers_addresses(open_page: OpenPage, query: dict[str, str]) -> None:
    app = open_page("train", **query)
    assert not app.exception
    assert "nan" not in " ".join(cells(app).values())


def test_ten_seeds_tell_a_difference_from_luck(open_page: OpenPage) -> None:
    app = open_page("train", epochs="1", patience="3")
    app.toggle(key="train_seeds").set_value(True).run()
    assert not app.exception
    assert "Best val loss over ten seeds" in html(app)
    assert "The default settings reach" in html(app)


def test_downloads_hold_the_run() -> None:
    records = list(fit(FitConfig()))
    assert as_log(FitConfig(), records).splitlines()[:-1] == [log_line(r) for r in records]
    rows = as_csv(records).splitlines()
    assert len(rows) == len(records) + 1
    assert float(rows[1].split(",")[1]) == records[0].train_loss


def test_the_curves_mark_the_best_epoch_and_the_stop() -> None:
    records = list(fit(FitConfig()))
    figure = curves(FitConfig(), records)
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [records[-1].best_epoch, records[-1].epoch]
    assert len(notices(records, first_epoch(FitConfig()))) == 3
    assert curves(FitConfig(), [])["layout"]["shapes"] == []
