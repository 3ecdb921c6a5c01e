"""Servers of the app on loopback: one process, or several behind the nginx configuration of `deploy/`."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(address: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=1).read()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"{address} did not answer within {seconds:g} seconds")


class Server:
    """A process with an `address`, such as "http://localhost:8501", which answers once the constructor returns.

    What it prints goes to `log`, a file of its own.
    """

    def __init__(self, command: Sequence[str], port: int, health: str, seconds: float = 60) -> None:
        self.port, self.address, self.host = port, f"http://localhost:{port}", f"localhost:{port}"
        self._folder = tempfile.TemporaryDirectory()
        self.log = Path(self._folder.name) / "log"
        began = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://127.0.0.1:{port}{health}", seconds)
        except RuntimeError as error:
            self.kill()
            raise RuntimeError(f"{error}; it said: {self.log.read_text('utf-8')[-2000:]}") from None
        self.seconds_to_start = time.monotonic() - began

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        self._folder.cleanup()


def start_app(script: Path = ROOT / "app.py") -> Server:
    """`script` under Streamlit, on a free port of loopback."""
    port = free_port()
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    return Server([sys.executable, "-m", "streamlit", "run", str(script), *options], port, "/_stcore/health")


def start_nginx(apps: Sequence[Server], folder: Path) -> Server:
    """`deploy/nginx.conf` in front of `apps`, on a free port of loopback; its files go into `folder`."""
    if NGINX is None:
        raise RuntimeError("nginx is not installed (apt-get install nginx-light)")
    port = free_port()
    text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    lines = "".join(f"        server 127.0.0.1:{app.port} max_fails=1 fail_timeout=5s;\n" for app in apps)
    text = re.sub(r"( +server app-.*\n)+", lines, text)
    text = re.sub(r"listen \d+;", f"listen 127.0.0.1:{port};", text)
    text = text.replace("/tmp/", f"{folder}/").replace("/dev/stdout", f"{folder}/access.log")  # noqa: S108
    file = folder / "nginx.conf"
    file.write_text(f"daemon off;\n{text}", "utf-8")
    return Server([NGINX, "-p", str(folder), "-e", "stderr", "-c", str(file)], port, "/nginx-health")
