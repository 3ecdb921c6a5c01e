"""What strangers send: addresses, uploads and texts that nobody meant, over every page there is."""

from __future__ import annotations

import html as html_module
import io
import os
import pickle
import random
import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.checkpoint import to_bytes
from core.fit import Run
from core.fit_config import FitConfig
from pages.ui.pages import addresses
from tests.pages.conftest import OpenPage, html

MARKUP = '<script>alert(1)</script><img src=x onerror="alert(2)"><b>bold</b>'
ADDRESSES = int(os.environ.get("FIVE_CALLS_ADDRESSES", "0"))
"""So many random addresses of each page; a thousand take six minutes, so by default it is fewer."""
# Those that train at each new setting.
SLOW_PAGES = ("resume", "modes", "mistakes", "train")

NONSENSE = (
    *("", " ", "0", "1", "-1", "1.5", "1e-400", "1e999", "-0.0", "nan", "NaN", "inf", "-Infinity", "0x10", "٣"),
    *("true", "None", "null", "[]", "{}", "{0}", "{name}", "%s", "\x00", "\n", "\u202e", "😀" * 30, "`code`", "**b**"),
    *("$x^2$", ":material/home:", "![](x)", "[a](javascript:alert(1))", MARKUP, "../../etc/passwd", "__import__('os')"),
    *("f" * 5000, "9" * 400, "flzbs" * 40, "linear", "adamw", "SGD", "step", "cosine", ",,,", "rng,model", "bn", "en"),
)


def shown(app: AppTest) -> str:
    """The text of all HTML, without what code prints as PyTorch prints it."""
    text = re.sub(r"<(code|pre|style)\b.*?</\1>", "", html(app), flags=re.DOTALL)
    return html_module.unescape(re.sub(r"<[^>]*>", " ", text))


def random_address(names: list[str], usual: dict[str, str], rng: random.Random) -> dict[str, str]:
    given = {}
    for name in rng.sample(names, rng.randint(1, len(names))):
        value = rng.choice(NONSENSE)
        if rng.random() < 0.3 and usual.get(name):  # nearly right is the harder case
            at = rng.randrange(len(usual[name]))
            value = usual[name][:at] + rng.choice("-.e09xz, ") + usual[name][at + rng.randint(0, 1) :]
        given[name] = value
    return given


@pytest.mark.parametrize("address", addresses())
def test_random_addresses_raise_nothing_and_show_no_nan(open_page: OpenPage, address: str) -> None:
    rng = random.Random(address)  # noqa: S311
    app = open_page(address)
    usual = {name: app.query_params[name] for name in app.query_params}
    names = sorted({*usual, "lang", "hide", "present", "embed", "unknown"})
    for _ in range(ADDRESSES or (8 if address in SLOW_PAGES else 50)):
        given = random_address(names, usual, rng)
        for name in list(app.query_params):
            del app.query_params[name]
        for name, value in given.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, (given, app.exception[0].value, app.exception[0].stack_trace)
        assert not re.search(r"\b(nan|inf|infinity)\b", shown(app), re.IGNORECASE), given
        assert "<script" not in html(app), given
        assert "onerror=" not in html(app), given


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], set[Path]]:
    """What is on the disk where an upload might be left: the working folder, and one for temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return lambda: {path for folder in (Path.cwd(), temporary) for path in folder.iterdir()}


def bomb() -> bytes:
    """A zip of a megabyte of nothing, as torch.save lays it out, that would unpack to a thousand times as much."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", b"\0" * 200_000_000)
    return file.getvalue()


def nested(depth: int = 200) -> object:
    value: object = 1
    for _ in range(depth):
        value = {MARKUP: value}
    return value


@pytest.fixture(scope="module")
def good() -> bytes:
    run = Run(FitConfig(hidden=8))
    run.epoch()
    return to_bytes(run.checkpoint())


CHECKPOINTS = {
    "empty": lambda good, path: b"",
    "oversized": lambda good, path: b"x" * 9_000_000,
    "truncated": lambda good, path: good[: len(good) // 2],
    "scrambled": lambda good, path: bytes(b ^ 0x55 for b in good),
    "nested": lambda good, path: to_bytes(nested()),
    "bomb": lambda good, path: bomb(),
    "pickle": lambda good, path: pickle.dumps(Evil(path)),
    "malicious": lambda good, path: to_bytes({"model": Evil(path)}),
    "keys": lambda good, path: to_bytes({MARKUP: torch.zeros(2), "model": {MARKUP: torch.ones(2)}, "config": MARKUP}),
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_no_checkpoint_is_executed_kept_or_believed(
    open_page: OpenPage, good: bytes, disk: Callable[[], set[Path]], tmp_path: Path, kind: str
) -> None:
    trap = tmp_path / "executed"
    data = CHECKPOINTS[kind](good, trap)
    app = open_page("resume", patience="2")
    before = disk()
    app.file_uploader(key="resume_upload").upload("last.pt", data, "application/octet-stream").run()
    assert not app.exception
    if kind == "keys":
        assert html_module.escape(MARKUP) in html(app)
    assert "<script>alert" not in html(app)
    assert not trap.exists()
    assert disk() == before
    assert "last.pt" not in shown(open_page("resume", patience="2"))  # the next visitor's own visit


TABLES = {
    "empty": b"",
    "oversized": b"a,b\n" + b"1,2\n" * 300_000,
    "truncated": b'a,b,label\n1,"2',
    "binary": bytes(range(256)) * 40,
    "wide": ",".join(f"c{i}" for i in range(5000)).encode() + b"\n",
    "numbers": b"a,label\n" + b"nan,x\ninf,y\n" * 20,
    "formula": b"a,label\n" + b"=cmd|' /C calc'!A0,x\n1,y\n" * 20,
    "headers": b"<script>alert(1)</script>,`x`,<b>**label**</b>\n" + b"1,2,<i>x</i>\n2,1,y\n" * 20,
}


@pytest.mark.parametrize("kind", TABLES)
def test_no_table_is_executed_kept_or_believed(open_page: OpenPage, disk: Callable[[], set[Path]], kind: str) -> None:
    app = open_page("train")
    before = disk()
    app.file_uploader(key="train_table").upload("mine.csv", TABLES[kind], "text/csv").run()
    assert not app.exception
    if kind != "headers":
        assert app.error, kind
    app.button(key="train_one").click().run()
    assert not app.exception
    assert "<script" not in html(app)
    assert disk() == before
    other = open_page("train")
    assert "train_data" not in other.session_state or other.session_state["train_data"] is None


TEXTS = (
    *(MARKUP, f"</textarea></code></pre>{MARKUP}", "![](https://elsewhere.example/x.png)", "[a](javascript:alert(1))"),
    *(
        "`" * 9,
        "**b**" * 50,
        "$$x$$ :material/home: :red[x]",
        "{0} {name} %s %(x)s",
        "\x00\x1b[31m\u202e\u2066",
        "😀" * 900,
    ),
    *(
        "9" * 2000,
        "1e999",
        "nan",
        "-inf",
        "১২৩৪.৫",
        "1_0",
        "0x1f",
        "½",
        "٣",
        "\n" * 900,
        "(" * 1500,
        "__import__('os')",
    ),
)


def assert_it_is_only_text(app: AppTest, given: str) -> None:
    assert not app.exception, (given, app.exception[0].value)
    kinds = ("markdown", "caption", "error", "warning", "info", "success")  # which Streamlit reads as Markdown
    said = [element.value for kind in kinds for element in app.get(kind)]
    for page in (html(app), *said):
        for bad in ("<script", "<img", "onerror=", "![](", "](javascript:"):
            assert bad not in re.sub(r"<(code|pre)\b.*?</\1>", "", page, flags=re.DOTALL), given
    assert "<script" not in html(app), given
    assert "<img" not in html(app), given
    assert not re.search(r"\b(nan|inf|infinity)\b", shown(app), re.IGNORECASE), given


@pytest.mark.parametrize(("part", "question"), [("exercises", 2), ("exercises", 6), ("exercises", 7), ("fresh", 1)])
def test_what_is_typed_as_an_answer_is_only_text(open_page: OpenPage, part: str, question: int) -> None:
    app = open_page("practice", part=part, q=str(question))
    for text in TEXTS:
        for field in (*app.text_input, *app.text_area):
            field.set_value(text[: field.max_chars])
        buttons = [button for button in app.button if button.label in ("Check", "Compare with ours")]
        (buttons[0].click() if buttons else app).run()
        assert [*app.text_input, *app.text_area]
        assert_it_is_only_text(app, text)


def test_what_is_pasted_as_a_link_is_only_text(open_page: OpenPage) -> None:
    app = open_page("class")
    for text in TEXTS:
        for link in (text, f"/step?calls={text}", f"/practice?{text}={text}"):
            app.text_input(key="class_pasted").set_value(link[:2000]).run()
            assert_it_is_only_text(app, link)


@pytest.mark.parametrize("line", ["{}", "note = {!r}", "loss.backward()  # {}"])
def test_what_is_pasted_as_a_loop_is_only_text(open_page: OpenPage, line: str) -> None:
    app = open_page("check")
    for text in TEXTS:
        loop = f"for x, y in loader:\n    loss = f(model(x), y)\n    {line.format(text)}\n    opt.step()\n"
        app.text_area(key="check_text").set_value(loop).run()
        assert_it_is_only_text(app, text)
