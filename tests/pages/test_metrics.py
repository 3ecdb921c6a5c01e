"""The metrics page without a browser."""

from __future__ import annotations

import re

from core import customer_metrics, metrics
from core.metrics import FIELDS
from tests.pages.conftest import OpenPage, html
from tests.pages.strangers import addresses, copied_script, values


def test_the_lessons_block_to_the_digit(open_page: OpenPage) -> None:
    app = open_page("metrics")
    shown = values(app)
    assert (shown["loss-naive"], shown["accuracy-naive"]) == ("0.4372", "0.8516")
    assert (shown["loss-weighted"], shown["accuracy-weighted"]) == ("0.5156", "0.8100")
    assert copied_script(app) == metrics.script(64)
    app.button(key="metrics_size_50").click().run()
    shown = values(app)
    assert {shown["loss-naive"], shown["loss-weighted"], shown["loss-full"]} == {"0.5156"}
    assert "50 divides 200" in html(app)
    assert app.query_params["size"] == "50"


def test_the_customers_model_and_its_script(open_page: OpenPage) -> None:
    app = open_page("metrics", source="customers", size="64", drop_last="1")
    assert copied_script(app) == customer_metrics.script(64, drop_last=True)
    assert "left 8 of 200 examples unmeasured" in html(app)
    report = metrics.report_means(customer_metrics.customers().loss, 64, drop_last=True)
    assert values(app)["loss-weighted"] == f"{report.weighted:.4f}" != values(app)["loss-full"]


def test_further_ways_are_wrong_and_the_right_one_is_right(open_page: OpenPage) -> None:
    app = open_page("metrics", lang="bn")
    shown = values(app)
    assert shown["way-right"] == shown["loss-full"] == "০.৫১৫৬"
    assert shown["means-over-dataset"] == "০.০০৮৭"
    assert shown["totals-over-loader"] == "২৫.৭৮০৮"


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    for query in addresses(FIELDS, 12):
        app = open_page("metrics", **query)
        assert not app.exception, query
        assert not re.search(r"\bnan\b", html(app), re.I), query


def test_it_leads_to_the_mistake_it_explains(open_page: OpenPage) -> None:
    for address, mistake, query in (
        ("metrics", "naive-mean", {}),
        ("losses", "softmax", {}),
        ("optimizers", "scheduler-first", {"view": "schedule"}),
    ):
        links = open_page(address, **query).get("page_link")
        assert any(f"mistake={mistake}" in str(link.proto) for link in links)
