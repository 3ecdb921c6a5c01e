"""A server of the app and a headless browser, shared by the browser tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM.exists():
        return
    if os.environ.get("CI"):
        pytest.exit(f"the browser tests need {CHROMIUM}: apt-get install chromium fonts-noto-core", returncode=1)
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.skip(reason=f"no browser: {CHROMIUM} is missing (apt-get install chromium)"))


def start_server(script: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Run `script` under Streamlit on a free port; the process and the address, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://localhost:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).read()
            return server, address
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    server.kill()
    raise RuntimeError(f"{script} did not start within 30 seconds")


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """The address of the running app, without a slash at its end."""
    server, address = start_server(ROOT / "app.py")
    yield address
    server.terminate()
    server.wait(10)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """For who has never been here: another language of the browser, another visitor."""
    browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def visited(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser with a profile on disk: it keeps what it has fetched and compiled, over half of a page's cost."""
    context = playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=CHROMIUM,
        args=FLAGS,
        viewport={"width": 1280, "height": 720},
        locale="en-US",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def context(visited: BrowserContext) -> Iterator[BrowserContext]:
    """Of the tests before, only what was fetched is left: no tab, cookie or stored value."""
    yield visited
    visited.set_offline(False)
    for page in visited.pages[1:]:  # the first is the profile's own; without it the browser would close
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        page.close()
    visited.clear_cookies()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
