"""The optimizers page without a browser."""

from __future__ import annotations

import re

from core.customer_metrics import val_losses
from core.optimizers import state_script, two_rates_script, view_optimizer
from core.schedules import NAMES, ScheduleConfig, compare_script, run_schedule
from core.trace import StepConfig
from pages.ui.optimizers_view import FIELDS
from tests.pages.conftest import OpenPage, html
from tests.pages.strangers import addresses, copied_script, values


def test_adamw_keeps_twenty_numbers_beside_nine(open_page: OpenPage) -> None:
    app = open_page("optimizers")
    shown = values(app)
    assert (shown["parameters"], shown["state"], shown["step"]) == ("9", "20", "3")
    opened = view_optimizer(StepConfig(optimizer="adamw").resolved(), 3)
    assert f"{opened.next_w:.4f}" in html(app)
    assert copied_script(app) == state_script(StepConfig(optimizer="adamw"), 3)
    assert "betas" in html(app)


def test_plain_sgd_remembers_nothing(open_page: OpenPage) -> None:
    app = open_page("optimizers", optimizer="sgd", weight_decay="0", lang="bn")
    assert values(app)["state"] == "০"
    assert "<b>কিছুই</b> মনে রাখে না" in html(app)


def test_a_layer_at_rate_0_is_frozen(open_page: OpenPage) -> None:
    app = open_page("optimizers", view="layers", first_lr="0", steps="7")
    shown = values(app)
    assert shown["moved0"] == "0.0000" != shown["gradient0"]
    assert "<b>frozen</b>" in html(app)
    assert copied_script(app) == two_rates_script(0.0, 0.5, 7, "sgd", 0)


def test_the_wrong_order_skips_and_pytorch_says_so(open_page: OpenPage) -> None:
    app = open_page("optimizers", view="schedule", schedule="cosine")
    assert "Detected call of `lr_scheduler.step()` before `optimizer.step()`" in html(app)
    assert "<b>skipped 0.1000</b>" in html(app)
    shown = values(app)
    assert shown["rate-1-0"] == shown["rate-0-1"] != shown["rate-0-0"]


def test_a_schedule_planned_in_epochs_runs_out(open_page: OpenPage) -> None:
    app = open_page("optimizers", view="schedule", schedule="onecycle", compare="per")
    assert "ValueError: Tried to step 14 times" in html(app)
    app.segmented_control(key="optimizers_planned").set_value("batch").run()
    assert "ValueError" not in html(app)
    assert app.query_params["planned"] == "batch"


def test_the_plateau_sees_the_customers_val_losses(open_page: OpenPage) -> None:
    app = open_page("optimizers", view="schedule", schedule="plateau", lang="bn")
    config = ScheduleConfig("plateau", planned="epoch")
    wrong = ScheduleConfig("plateau", planned="epoch", scheduler_first=True)
    assert copied_script(app) == compare_script({"right order": config, "wrong order": wrong}, val_losses())
    assert len(set(run_schedule(config, val_losses()).used)) > 1
    assert "সতর্ক করে না" in html(app)


def test_every_schedule_in_both_comparisons(open_page: OpenPage) -> None:
    for name in NAMES:
        for compare in ("order", "per"):
            app = open_page("optimizers", view="schedule", schedule=name, compare=compare)
            assert not app.exception
            assert values(app)["rate-0-0"]


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    for query in addresses(FIELDS, 20):
        app = open_page("optimizers", **query)
        assert not app.exception, query
        assert not re.search(r"\b(nan|overflow)\b", re.sub("<style>.*?</style>", "", html(app), flags=re.S)), query
