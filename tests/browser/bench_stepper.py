"""Click to new number in a real browser: the stepper against a page with one button and one text, in turn.

    python tests/browser/bench_stepper.py [clicks]

prints the median and the 95th percentile of both, in milliseconds, and their ratios.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
from conftest import CHROMIUM, FLAGS, ROOT, start_server

# Presses `button`, and waits until the text of `watched` is another; in the page, so that no driver is timed.
PRESS = """async ([name, watched, clicks]) => {
  const within = (root) =>
    [...root.querySelectorAll('*')].flatMap((e) => e.shadowRoot ? [e, ...within(e.shadowRoot)] : [e]);
  const button = within(document).find((e) => e.tagName === 'BUTTON' && (e.ariaLabel ?? e.textContent).trim() === name);
  const text = () => [...document.querySelectorAll(watched)].map((e) => e.textContent).join(' ');
  const times = [];
  for (let i = 0; i < clicks; i++) {
    const before = text();
    const begin = performance.now();
    button.click();
    while (text() === before || !text()) await new Promise((resolve) => setTimeout(resolve, 0));
    times.push(performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return times;
}"""


def measure(browser: Browser, address: str, button: str, watched: str, clicks: int) -> list[float]:
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector(watched)
    page.wait_for_timeout(1500)
    times = page.evaluate(PRESS, [button, watched, clicks])
    page.close()
    return times


def main() -> None:
    clicks = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    servers = [start_server(ROOT / "app.py"), start_server(Path(__file__).parent / "one_button.py")]
    (_, app), (_, small) = servers
    times: dict[str, list[float]] = {"stepper": [], "one button": []}
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
            for _ in range(4):  # in turn, so that a change in the machine's speed meets both
                times["one button"] += measure(browser, small, "press", "[data-testid=stText]", clicks)
                times["stepper"] += measure(browser, f"{app}/step", "Next", "td[data-field]", clicks)
            browser.close()
    finally:
        for server, _ in servers:
            server.kill()
    rows = {name: (statistics.median(t), statistics.quantiles(t, n=20)[18]) for name, t in times.items()}
    for name, (median, p95) in rows.items():
        print(f"{name:<11} median {median:6.1f} ms   p95 {p95:6.1f} ms   ({len(times[name])} clicks)")
    (median, p95), (base_median, base_p95) = rows["stepper"], rows["one button"]
    print(f"{'ratio':<11} median {median / base_median:6.2f}      p95 {p95 / base_p95:6.2f}")


if __name__ == "__main__":
    main()
