"""Many visitors at once, without browsers, against one process of the app or several behind nginx, all on loopback.

    python -m tests.load.bench                       100 visitors, each a call of the stepper a second
    python -m tests.load.bench --mix                 some of them train, resume and check instead
    python -m tests.load.bench --processes 2         two processes behind nginx
    python -m tests.load.bench --clicks 5000         one visitor, as fast as the answers come: is memory flat?
    python -m tests.load.bench --come-and-go 200     visitors who close their tab: is anything left behind?

prints the median and 95th percentile from press to finished run, the errors, and CPU and memory of each process.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.load.servers import ROOT, Server, start_app, start_nginx
from tests.load.visitor import Visitor

MIX = {"step": 70, "train": 15, "resume": 10, "check": 5}
"""Percent of the visitors; who would visit a page that does not exist steps instead."""

Times = dict[str, list[float]]


def memory(pid: int) -> float:
    """Resident memory of a process, in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def sessions(app: Server) -> int:
    """How many open sessions the process counts."""
    text = (
        urllib.request.urlopen(f"http://127.0.0.1:{app.port}/_stcore/metrics?families=active_sessions").read().decode()
    )
    return int(float(next(line for line in text.splitlines() if line.startswith("active_sessions")).split()[-1]))


@contextmanager
def running(processes: int) -> Iterator[tuple[list[Server], str]]:
    """The processes, and the host that visitors go to."""
    with ExitStack() as stack:
        apps = [stack.enter_context(start_app()) for _ in range(processes)]
        if processes == 1:
            yield apps, apps[0].host
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        yield apps, stack.enter_context(start_nginx(apps, folder)).host


async def act(visitor: Visitor, kind: str, n: int) -> float:
    """What a visitor of that kind does in its n-th second; how long it took."""
    if kind == "step":
        return await visitor.press()
    begin = time.perf_counter()
    seed = int(visitor.cookie[:4], 16) % 50  # some do what somebody else has done already, as in a class
    if kind == "train":
        shown = await visitor.open("train", seed=seed + n // 12, epochs=n % 12 + 1)
        if f'data-epoch="{n % 12 + 1}"' not in shown and "arly" not in shown:
            raise RuntimeError(f"no row for epoch {n % 12 + 1}")
    elif kind == "resume":
        await visitor.open("resume", seed=seed, epoch=n % 6)
    else:
        await visitor.open(kind)
    return time.perf_counter() - begin


async def visit(host: str, kind: str, end: float, times: Times, errors: list[str]) -> None:
    n = 0
    try:
        async with Visitor(host) as visitor:
            begin = time.perf_counter()
            await (visitor.open_stepper() if kind == "step" else visitor.open(kind))
            times["open"].append(time.perf_counter() - begin)
            await asyncio.sleep(random.random() * 2)  # noqa: S311 - so that they do not all press at once
            while time.perf_counter() < end:
                took = await act(visitor, kind, n)
                n += 1
                if n > 1:  # the first comes while others are still arriving
                    times[kind].append(took)
                await asyncio.sleep(max(0, 1 - took))
    except Exception as error:
        errors.append(f"{kind}: {type(error).__name__}: {error}")


async def load(host: str, kinds: Sequence[str], seconds: float) -> tuple[Times, list[str], float]:
    """They arrive over five seconds; what they did from then on is timed. Also when that was."""
    times: Times = defaultdict(list)
    errors: list[str] = []
    begin = time.perf_counter()
    end = begin + 5 + seconds
    visits = []
    for i, kind in enumerate(kinds):
        visits.append(asyncio.create_task(visit(host, kind, end, times, errors)))
        await asyncio.sleep(max(0, begin + 5 * (i + 1) / len(kinds) - time.perf_counter()))
    await asyncio.gather(*visits)
    return times, errors, begin


def kinds_of(visitors: int, mixed: bool) -> list[str]:
    if not mixed:
        return ["step"] * visitors
    kinds = [kind for kind, percent in MIX.items() for _ in range(percent * visitors // 100)]
    kinds += ["step"] * (visitors - len(kinds))
    kinds = [kind if (ROOT / "pages" / f"{kind}.py").exists() else "step" for kind in kinds]
    random.Random(0).shuffle(kinds)  # noqa: S311
    return kinds


def report(times: Times) -> None:
    for kind, took in sorted(times.items()):
        if len(took) > 1:
            p95 = statistics.quantiles(took, n=20)[18]
            median = statistics.median(took)
            print(f"{kind:>7}  {len(took):6d} times   median {median * 1e3:7.1f} ms   p95 {p95 * 1e3:7.1f} ms")


def bench_visitors(visitors: int, seconds: float, processes: int, mixed: bool) -> None:
    with running(processes) as (apps, host):
        before = [(memory(app.pid), cpu_seconds(app.pid)) for app in apps]
        began = time.perf_counter()
        times, errors, _ = asyncio.run(load(host, kinds_of(visitors, mixed), seconds))
        passed = time.perf_counter() - began
        print(
            f"{visitors} visitors for {seconds:g} s, {processes} process(es), {len(errors)} errors {errors[:3] or ''}"
        )
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        report(times)
        for app, (mb, cpu) in zip(apps, before, strict=True):
            used = (cpu_seconds(app.pid) - cpu) / passed
            print(
                f"process  started in {app.seconds_to_start:.1f} s, {mb:.0f} MB before, {memory(app.pid):.0f} MB after,"
                f" {used:.0%} of a core, {sum(map(len, times.values())) / passed / len(apps):.0f} actions a second"
            )


async def click(host: str, clicks: int, pid: int) -> tuple[list[float], list[float]]:
    """Seconds of each click, and the memory after each tenth of them."""
    took, megabytes = [], []
    async with Visitor(host) as visitor:
        await visitor.open_stepper()
        for n in range(1, clicks + 1):
            took.append(await visitor.press())
            if n % max(1, clicks // 10) == 0:
                megabytes.append(memory(pid))
    return took, megabytes


def bench_clicks(clicks: int) -> None:
    with running(1) as ([app], host):
        before = cpu_seconds(app.pid)
        took, megabytes = asyncio.run(click(host, clicks, app.pid))
        cpu = cpu_seconds(app.pid) - before
    report({"step": took})
    print(f"CPU of the process: {cpu / clicks * 1e3:.1f} ms a click")
    print("MB after each tenth:", " ".join(f"{mb:.0f}" for mb in megabytes))


async def come_and_go(host: str, visitors: int) -> None:
    """Twenty at a time: open a page, do something, close the tab without a word."""

    async def one(n: int) -> None:
        async with Visitor(host) as visitor:
            if n % 2:
                await visitor.open_stepper()
                await visitor.press()
            else:
                await visitor.open("train", seed=n, epochs=2)

    for first in range(0, visitors, 20):
        await asyncio.gather(*(one(n) for n in range(first, min(first + 20, visitors))))


def left_behind(app: Server) -> tuple[int, int, float]:
    """Open sessions, threads, and the share of a core that is used, once nobody is there: measured for two seconds."""
    cpu, begin = cpu_seconds(app.pid), time.perf_counter()
    time.sleep(2)
    return sessions(app), threads(app.pid), (cpu_seconds(app.pid) - cpu) / (time.perf_counter() - begin)


def bench_come_and_go(visitors: int) -> None:
    with running(1) as ([app], host):
        asyncio.run(come_and_go(host, 20))
        time.sleep(1)
        before, mb = left_behind(app), memory(app.pid)
        asyncio.run(come_and_go(host, visitors))
        time.sleep(1)
        after = left_behind(app)
        print("                        before    after")
        for name, a, b in zip(("open sessions", "threads", "share of a core"), before, after, strict=True):
            print(f"{name:20} {a:9.3g} {b:8.3g}")
        print(f"{'memory, MB':20} {mb:9.0f} {memory(app.pid):8.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--mix", action="store_true")
    parser.add_argument("--clicks", type=int)
    parser.add_argument("--come-and-go", type=int)
    asked = parser.parse_args()
    if asked.clicks:
        bench_clicks(asked.clicks)
    elif asked.come_and_go:
        bench_come_and_go(asked.come_and_go)
    else:
        bench_visitors(asked.visitors, asked.seconds, asked.processes, asked.mix)


if __name__ == "__main__":
    main()
