"""Many visitors stepping at once, each making a call a second, without browsers.

    python tests/browser/bench_visitors.py [visitors] [seconds]

prints the median and 95th percentile of press to finished run, the errors, and the server's memory before and after.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from conftest import ROOT, start_server
from visitors import Visitor


def memory(pid: int) -> float:
    """Resident memory of a process, in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


async def visit(host: str, end: float, times: list[float], errors: list[str]) -> None:
    try:
        async with Visitor(host) as visitor:
            await asyncio.sleep(random.random())  # noqa: S311 - so that they do not all press at once
            while time.perf_counter() < end:
                took = await visitor.press()
                times.append(took)
                await asyncio.sleep(max(0, 1 - took))
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")


async def load(host: str, visitors: int, seconds: float) -> tuple[list[float], list[str]]:
    times: list[float] = []
    errors: list[str] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(*(visit(host, end, times, errors) for _ in range(visitors)))
    return times, errors


def main() -> None:
    visitors = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    server, address = start_server(ROOT / "app.py")
    try:
        before = memory(server.pid)
        times, errors = asyncio.run(load(address.removeprefix("http://"), visitors, seconds))
        after = memory(server.pid)
    finally:
        server.kill()
    print(f"{visitors} visitors, {seconds:g} s, {len(times)} presses, {len(errors)} errors {errors[:2] or ''}")
    if times:
        p95 = statistics.quantiles(times, n=20)[18]
        print(f"median {statistics.median(times) * 1e3:.1f} ms   p95 {p95 * 1e3:.1f} ms")
    print(f"server memory {before:.0f} MB before, {after:.0f} MB after")


if __name__ == "__main__":
    main()
