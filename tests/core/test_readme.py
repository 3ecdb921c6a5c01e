"""What README.md shows of the command line is what the command line prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from core.__main__ import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
BLOCKS = [
    re.findall(r"\$ (python -m core [^\n]*)\n(.*?)(?=\n?\$ |\Z)", block, re.S)
    for block in re.findall(r"```console\n(.*?)```", README, re.S)
]


def test_there_is_something_to_compare() -> None:
    assert sum(map(len, BLOCKS)) >= 4


@pytest.mark.parametrize("block", BLOCKS, ids=[block[0][0] for block in BLOCKS])
def test_the_output_is_real(
    block: list[tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in re.findall(r"<!-- file (\S+) -->\n```python\n(.*?)```", README, re.S):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for command, output in block:
        main(shlex.split(command)[3:])
        printed = capsys.readouterr().out.rstrip("\n").splitlines()
        expected = output.rstrip("\n").splitlines()
        if "…" in expected:  # a long log, shortened
            cut = expected.index("…")
            after = expected[cut + 1 :]
            assert printed[:cut] == expected[:cut]
            assert printed[len(printed) - len(after) :] == after
        else:
            assert printed == expected
