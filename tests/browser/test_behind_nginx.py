"""Two processes behind the nginx of `deploy/`: one is killed under a visitor, and the pages work under its headers."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
import streamlit
from playwright.sync_api import Page, expect

from tests.load.servers import NGINX, ROOT, Server, start_app, start_nginx

if NGINX is None and not os.environ.get("CI"):
    pytest.skip("nginx is missing (apt-get install nginx-light)", allow_module_level=True)


class Site(NamedTuple):
    address: str
    apps: list[Server]
    access_log: Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("nginx")
    with ExitStack() as stack:
        with ThreadPoolExecutor() as at_once:
            apps = [stack.enter_context(app) for app in at_once.map(lambda _: start_app(), range(2))]
        nginx = stack.enter_context(start_nginx(apps, folder))
        yield Site(nginx.address, apps, folder / "access.log")


def serving(site: Site, path: str) -> str:
    """The port of the process that last answered a request for `path`."""
    urllib.request.urlopen(f"{site.address}/favicon.png").read()  # the log's line comes after the answer
    lines = [line for line in site.access_log.read_text().splitlines() if f" {path} " in line]
    return lines[-1].rpartition(":")[2]


def test_a_cookie_keeps_a_visitor_at_one_process_and_visitors_are_spread(site: Site) -> None:
    for visitor in range(16):
        for _ in range(3):
            cookie = {"Cookie": f"five_calls={visitor:032x}"}
            urllib.request.urlopen(urllib.request.Request(f"{site.address}/of-{visitor}", headers=cookie)).read()
    urllib.request.urlopen(site.address).read()  # a line of the log is written after its answer has been sent
    ports = re.findall(r"GET /of-(\d+) .*:(\d+)\n", site.access_log.read_text())
    assert len(ports) == 48
    assert len(set(ports)) == 16
    assert len({port for _, port in ports}) == 2

    with urllib.request.urlopen(f"{site.address}/?embed=true") as answer:
        assert re.match(r"five_calls=[0-9a-f]{32}; .*HttpOnly; SameSite=Lax", answer.headers["Set-Cookie"])
        assert "frame-ancestors *" in answer.headers["Content-Security-Policy"]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{site.address}/_stcore/metrics")
    big = urllib.request.Request(f"{site.address}/_stcore/upload_file/a/b", data=b"x" * 2_000_000, method="PUT")
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(big)


def test_another_process_takes_over_in_the_middle_of_a_step(page: Page, site: Site) -> None:
    # The last of those that use the site, for it leaves it with one process.
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if "Policy" in message.text else None)
    response = page.goto(f"{site.address}/step?lr=0.2&seed=3")
    expect(page.locator(".fc-stepper")).to_be_visible(timeout=20_000)
    for n, call in enumerate(("forward", "loss", "zero_grad", "backward"), start=1):
        page.get_by_role("button", name=call, exact=True).click()
        expect(page.locator(f'td[data-position="{n}"][data-field="w"]')).to_be_visible(timeout=20_000)
    page.wait_for_url(re.compile("calls=flzb(&|$)"))
    table = page.locator("table.fc-state").inner_text()

    first = serving(site, "/step")
    next(app for app in site.apps if str(app.port) == first).kill()
    page.reload()
    expect(page.locator('td[data-position="4"][data-field="grad"]')).to_be_visible(timeout=20_000)
    assert page.locator("table.fc-state").inner_text() == table
    assert serving(site, "/step") != first
    page.get_by_role("button", name="step", exact=True).click()
    expect(page.locator('td[data-position="5"][data-field="w"]')).to_be_visible(timeout=20_000)

    page.goto(f"{site.address}/train?epochs=3")  # a chart, so plotly.js and a component's script, under the same policy
    expect(page.locator(".fc-chart .main-svg").first).to_be_visible(timeout=20_000)
    assert complaints == []
    headers = response.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert "lr=" not in site.access_log.read_text()


def test_the_policy_names_the_script_that_this_streamlit_has_inline() -> None:
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts}
    assert hashes == set(re.findall(r"'sha256-([^']+)'", (ROOT / "deploy" / "nginx.conf").read_text("utf-8")))
