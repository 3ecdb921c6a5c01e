"""Every rule against its fixtures: `wrong_*.py` with the lines and codes expected in `wrong_*.txt`,
`right_*.py` with none.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.check import RULES, check

FIXTURES = Path(__file__).parent / "fixtures"
CASES = sorted(FIXTURES.glob("*/*.py"))


def expected(path: Path) -> set[str]:
    return set(path.with_suffix(".txt").read_text().split("\n")) - {""}


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_findings_are_those_expected(path):
    """Errors and warnings of any kind count; of what is only worth knowing, the kind the fixture is about."""
    report = check(path.read_text(), path.name)
    assert report.problem is None
    own = path.parent.name
    assert {f"{f.line} {f.code}" for f in report.findings if f.severity != "info" or f.code == own} == expected(path)


def test_every_rule_has_two_faulty_and_two_correct_fixtures():
    for rule in RULES:
        folder = FIXTURES / rule.code
        assert len(list(folder.glob("wrong_*.py"))) >= 2, rule.code
        assert len(list(folder.glob("right_*.py"))) >= 2, rule.code
        assert all(any(line.endswith(rule.code) for line in expected(p)) for p in folder.glob("wrong_*.py")), rule.code


def test_codes_are_unique_and_well_formed():
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"FC\d{3,4}", code) for code in codes)


def test_texts_are_whole():
    for rule in RULES:
        assert rule.severity in ("error", "warning", "info")
        assert rule.title
        assert rule.explanation.endswith("."), rule.code
        assert rule.remedy.endswith("."), rule.code
        assert rule.link.startswith("/"), rule.code
        assert rule.find.__doc__, rule.code
