"""A correction removes its fault, brings no other, and touches nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from core.check import check
from core.check.fixes import correct, fixable

FIXTURES = Path(__file__).parent / "fixtures"
WRONG = sorted(p for p in FIXTURES.glob("*/wrong_*.py") if fixable(p.parent.name))


def counts(source: str) -> dict[str, int]:
    out: dict[str, int] = {}
    for finding in check(source).findings:
        out[finding.code] = out.get(finding.code, 0) + 1
    return out


@pytest.mark.parametrize("path", WRONG, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_what_is_corrected_is_gone_and_nothing_is_new(path):
    source = path.read_text()
    made = correct(source, path.name)
    before, after = counts(source), counts(made.text)
    assert all(n <= before.get(code, 0) for code, n in after.items())
    for code, _ in made.fixed:
        assert after.get(code, 0) < before[code]
    ast.parse(made.text)
    assert bool(made.diff) == bool(made.fixed)


def test_every_recipe_corrects_at_least_one_fixture():
    corrected = {code for path in WRONG for code, _ in correct(path.read_text()).fixed}
    missing = {path.parent.name for path in WRONG} - corrected
    assert missing == set()


def test_comments_and_formatting_stay():
    source = """net = nn.Linear(2, 2)   # a small one
opt = torch.optim.Adam( net.parameters(),lr=1e-3 )
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    # go back
    loss.backward()     # here
    opt.zero_grad()  # clear
    opt.step()
"""
    made = correct(source)
    assert made.fixed == (("FC203", 7),)
    assert made.text == source.replace("    opt.zero_grad()  # clear\n", "").replace(
        "    # go back\n", "    # go back\n    opt.zero_grad()  # clear\n"
    )
    assert [line for line in made.diff.splitlines()[2:] if line[0] in "+-"] == [
        "+    opt.zero_grad()  # clear",
        "-    opt.zero_grad()  # clear",
    ]


def test_a_correct_text_stays_as_it_is():
    for path in FIXTURES.glob("*/right_*.py"):
        source = path.read_text()
        loud = [f for f in check(source).findings if f.severity != "info"]
        assert not loud
        assert correct(source, codes={"FC201", "FC401", "FC801"}).text == source


def test_what_was_seen_through_is_not_edited():
    source = (
        ">>> for x, y in loader:\n...     loss = F.mse_loss(net(x), y)\n...     "
        "loss.backward(retain_graph=True)\n...     opt.step()\n"
    )
    assert correct(source).text == source


def test_without_time_nothing_is_corrected():
    text = (FIXTURES / "FC201" / "wrong_1.py").read_text()
    assert correct(text).fixed
    assert correct(text, seconds=0).text == text
    assert correct(text, report=check(text)) == correct(text)
