"""Every page, in both languages and both themes: no serious fault of access, and nothing asked of any other host."""

from __future__ import annotations

import tomllib

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages.ui.pages import addresses
from tests.browser.conftest import ROOT
from tests.browser.pages import ADDRESSES

# Streamlit's own shell, each by rule and selector: the sidebar puts its sections' list items into divs.
SHELL = {"list": '[data-testid="stSidebarNavItems"]', "listitem": '[data-testid="stSidebarNavItems"] li'}


# Our components are filled by their scripts, after the page: every button has its words, every chart its description.
DRAWN = """() => {
  const within = (root) =>
    [...root.querySelectorAll('*')].flatMap((e) => e.shadowRoot ? [e, ...within(e.shadowRoot)] : [e]);
  const all = within(document);
  const named = (e) => e.textContent.trim() || e.ariaLabel;
  return all.some((e) => e.dataset?.act === 'handout')
    && all.every((e) => !e.dataset?.act || e.tagName !== 'BUTTON' || e.hidden || named(e))
    && all.every((e) => !e.matches('.fc-chart') || (e.ariaLabel && e.querySelector('.main-svg')));
}"""


# And what comes after: fonts, transitions between two themes, and what a chart does once it is drawn.
STILL = """async () => {
  await document.fonts.ready;
  const frame = () => new Promise(requestAnimationFrame);
  const seen = () => document.documentElement.outerHTML.length;
  for (let before = -1; before !== seen(); await frame(), await frame(), await frame()) before = seen();
  await Promise.all(document.getAnimations().filter((a) => a.effect.getComputedTiming().iterations !== Infinity)
    .map((a) => a.finished.catch(() => {})));
  return true;
}"""


def faults(page: Page) -> list[tuple[str, str, str]]:
    """Rule, element and what is wrong, of each serious fault outside the shell's known ones."""
    found = []
    for violation in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]:
        if violation["impact"] not in ("serious", "critical"):
            continue
        for node in violation["nodes"]:
            if not in_shell(page, violation["id"], node["target"]):
                found.append((violation["id"], node["html"][:100], node["failureSummary"][:160]))
    return found


def in_shell(page: Page, rule: str, target: list[str]) -> bool:
    if rule not in SHELL or len(target) != 1 or not isinstance(target[0], str):
        return False
    return page.evaluate("([target, shell]) => document.querySelector(target).matches(shell)", [target[0], SHELL[rule]])


def ink(theme: str) -> str:
    """The colour of the theme's text, as a browser writes it."""
    colour = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][theme]["textColor"]
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def settle(page: Page, theme: str) -> None:
    app = page.locator("[data-testid='stApp'][data-test-script-state='notRunning']")
    expect(app).to_have_css("color", ink(theme))  # until the server has sent our theme, it is Streamlit's own
    expect(page.locator("h1")).to_be_visible()
    page.wait_for_function(DRAWN)
    page.wait_for_function(STILL)


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_serious_fault_and_no_other_host(page: Page, app: str, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    found = {}
    for lang in ("en", "bn"):
        page.goto(f"{app}/{address}{'&' if '?' in address else '?'}lang={lang}")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            settle(page, theme)
            found[lang, theme] = faults(page)
    assert found == {look: [] for look in found}
    own = (f"{app}/", f"{app.replace('http', 'ws', 1)}/", "data:", f"blob:{app}/")
    assert any(url.startswith("ws") for url in asked)
    assert [url for url in asked if not url.startswith(own)] == []


def test_no_page_is_forgotten() -> None:
    opened = {address.partition("?")[0] or "home" for address in ADDRESSES}
    assert opened == set(addresses())
