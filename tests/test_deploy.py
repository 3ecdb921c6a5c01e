"""What `deploy/` says about this project is so; no container engine is asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.load.servers import NGINX, ROOT

DEPLOY = ROOT / "deploy"


def test_the_dockerfile_copies_what_is_there_and_dockerignore_lets_it_through() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--from)(\S+) ", text, re.MULTILINE)
    let_through = re.findall(r"^!(.+)", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert copied
    assert [path for path in copied if not (ROOT / path).exists()] == []
    assert sorted(copied) == sorted(let_through)


def test_the_image_installs_the_pinned_torch_from_the_cpu_index() -> None:
    pinned = re.search(r"^torch==\S+", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE).group()
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert f"{pinned} --index-url https://download.pytorch.org/whl/cpu" in text


def test_nobody_runs_as_root_or_writes_to_the_image() -> None:
    assert re.search(r"^USER [1-9]\d*:", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    assert all(service["read_only"] and service["mem_limit"] for service in services.values())
    pods = [
        document["spec"]["template"]["spec"]
        for document in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))
        if document["kind"] in ("StatefulSet", "Deployment")
    ]
    assert len(pods) == 2
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        assert all(container["securityContext"]["readOnlyRootFilesystem"] for container in pod["containers"])


def test_nginx_asks_for_the_names_that_compose_and_kubernetes_give() -> None:
    asked = set(re.findall(r"server (app-\d+):8501", (DEPLOY / "nginx.conf").read_text("utf-8")))
    composed = set(yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"])
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))
    served = {document["metadata"]["name"] for document in documents if document["kind"] == "Service"}
    assert asked
    assert asked <= composed
    assert asked <= served


def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    if NGINX is None and not os.environ.get("CI"):
        pytest.skip("nginx is missing (apt-get install nginx-light)")
    text = re.sub(r"server app-\d+:", "server 127.0.0.1:", (DEPLOY / "nginx.conf").read_text("utf-8"))
    file = tmp_path / "nginx.conf"
    file.write_text(text.replace("/tmp/", f"{tmp_path}/"), "utf-8")  # noqa: S108
    done = subprocess.run([NGINX, "-t", "-e", "stderr", "-c", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[warn]" not in done.stderr


def test_the_health_check_fails_where_nothing_answers() -> None:
    environment = {**os.environ, "STREAMLIT_SERVER_PORT": "1"}
    done = subprocess.run([sys.executable, DEPLOY / "health.py"], env=environment, capture_output=True, check=False)
    assert done.returncode == 1
