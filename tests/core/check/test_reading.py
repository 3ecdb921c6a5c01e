"""Any text gets an answer: read all the same, or a sentence that names the line."""

from __future__ import annotations

import time

import pytest

from core.check import check, read
from core.check.reading import Problem, Text

LOOP = """net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
"""


def codes(source: str) -> list[tuple[int, str]]:
    report = check(source)
    assert report.problem is None, report.problem
    return [(f.line, f.code) for f in report.findings if f.severity != "info"]


def test_the_plain_loop_has_its_fault():
    assert codes(LOOP) == [(6, "FC201")]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda s: "".join(f">>> {x}\n" if not x.startswith(" ") else f"... {x}\n" for x in s.splitlines()), "prompts"),
        (lambda s: "".join(f"        {x}\n" for x in s.splitlines()), "indented"),
        (lambda s: "%matplotlib inline\n" + s + "!nvidia-smi\n", "magics"),
        (lambda s: s + "!python train.py \\\n    --lr 0.1 \\\n    --epochs 3\n", "magics"),
        (lambda s: s + "print(“done”)\n", "quotes"),
        (lambda s: s + "print 'done', loss\n", "python2"),
        (lambda s: "".join(f"{n:3} {x}\n" for n, x in enumerate(s.splitlines(), 1)), "numbered"),
    ],
)
def test_what_surrounds_a_paste_is_seen_through(change, note):
    text = change(LOOP)
    report = check(text)
    assert report.problem is None
    assert note in report.notes
    line = next(n for n, x in enumerate(text.splitlines(), 1) if "opt.step" in x)
    assert [f.line for f in report.findings if f.code == "FC201"] == [line]


@pytest.mark.parametrize(
    "text", ["", "   \n\t\n", "\x00abc", "x" * 1_100_000, "for x in:\n  pass", "(" * 500, "[" * 100_000]
)
def test_what_cannot_be_read_is_said_in_one_sentence(text):
    report = check(text)
    assert report.problem is not None
    assert str(report.problem).endswith(".")
    assert report.findings == ()


def test_a_syntax_error_names_its_line():
    made = read("a = 1\nb = = 2\n")
    assert isinstance(made, Problem)
    assert made.line == 2
    assert "2" in str(made)


def test_python_2_that_cannot_be_turned_is_named():
    made = read("import torch\nexec 'x = 1' in d\n")
    assert isinstance(made, Problem)
    assert "Python 2" in str(made)


HOSTILE = {
    "brackets": "x = " + "[" * 80 + "]" * 80,
    "calls": "x = " + "f(" * 85 + ")" * 85,
    "attributes": "x = a" + ".b" * 50_000,
    "sum": "x = " + "+".join(["1"] * 20_000),
    "minus": "x = " + "-" * 5_000 + "1",
    "not": "x = " + "not " * 5_000 + "1",
    "lambda": "x = " + "lambda: " * 3_000 + "1",
    "ifs": "x = " + "1 if a else " * 3_000 + "1",
    "subscripts": "x = a" + "[0]" * 20_000,
    "compare": "x = " + "<".join(["a"] * 20_000),
    "indent": "".join(" " * i + "if a:\n" for i in range(95)) + " " * 95 + "pass\n",
    "elif": "if a:\n    pass\n" + "elif b:\n    pass\n" * 3_000,
    "numbers": "x = 9" + "9" * 100_000,
    "power": "x = 9**9**9**9\ny = 'a' * 10**10\nz = [0] * 10**12",
    "recursion": "def f(m):\n    return f(f(m))\nf(net)\n",
    "mutual": "".join(f"def f{i}(m):\n    f{i + 1}(m)\n    f{i + 1}(m)\n" for i in range(200))
    + "def f200(m):\n    f0(m)\nf0(net)\n",
    "class loop": (
        "class A(A):\n    pass\nclass B(C):\n    pass\nclass C(B):\n    def forward(self, x):\n        "
        "return x\nB()(x)\n"
    ),
    "self": "a = []\na.append(a)\nb = {}\nb['b'] = b\nloss = a\nloss.backward()\nprint(a, b)\n",
    "loops": "".join("    " * i + f"for a{i} in b{i}:\n" for i in range(19)) + "    " * 19 + "pass\n",
    "unicode": "é = 1\n变量 = 2\nলস = é + 变量\n",
    "deep test": f"for x, y in loader:\n    if {'+'.join(['i'] * 300)} > 0:\n        opt.step()\n    loss.backward()\n",
    "surrogates": "x = '\ud800'\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_gets_an_answer_in_two_seconds(name):
    started = time.monotonic()
    check(HOSTILE[name])
    assert time.monotonic() - started < 2


def test_nothing_is_run(tmp_path):
    target = tmp_path / "made"
    check(f"import pathlib\npathlib.Path({str(target)!r}).touch()\nclass A:\n    open({str(target)!r}, 'w')\n")
    assert not target.exists()


def test_a_text_without_a_loop_says_so():
    report = check("import torch\n\n\ndef area(r):\n    return 3 * r * r\n")
    assert not report.loop_found
    assert report.findings == ()


def test_the_recovered_order():
    report = check(
        "for x, y in loader:\n    opt.zero_grad()\n    out = net(x)\n    loss = F.mse_loss(out, y)\n    "
        "loss.backward()\n    opt.step()\n"
    )
    assert report.loop_found
    assert [c.name for c in report.loops[0].calls] == ["zero_grad", "forward", "loss", "backward", "step"]
    assert [c.line for c in report.loops[0].calls] == [2, 3, 4, 5, 6]
    assert report.stepper_calls == "zflbs"


def test_noqa_silences_one_code_or_all():
    assert codes(LOOP.replace("opt.step()", "opt.step()  # noqa: FC201")) == []
    assert codes(LOOP.replace("opt.step()", "opt.step()  # noqa")) == []
    assert codes(LOOP.replace("opt.step()", "opt.step()  # noqa: FC999")) == [(6, "FC201")]


def test_read_keeps_the_lines():
    made = read(">>> a = 1\n1\n>>> b = 2\n")
    assert isinstance(made, Text)
    assert [n.lineno for n in made.tree.body] == [1, 3]
