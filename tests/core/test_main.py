"""The command line."""

from __future__ import annotations

import json

import pytest

from core.__main__ import main


def test_step_prints_the_lessons_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["step"]) == 0
    *_, backward, step = capsys.readouterr().out.splitlines()
    assert backward.split() == ["backward", "-0.0053", "0.1648", "1.3007"]
    assert step.split() == ["step", "-0.0218", "0.1648", "1.3007", "next", "loss", "1.2371"]


def test_json_is_a_list_of_unrounded_objects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["step", "--json", "--scene", "scalar", "--calls", "flbb"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["call"] for row in rows] == ["start", "forward", "loss", "backward", "backward"]
    assert rows[0]["grad"] is None
    assert rows[3] | {"changed": ["grad"], "error": None, "grad": 9.0, "w": 1.0, "loss": 4.5} == rows[3]
    assert rows[4]["error"].startswith("RuntimeError: ")


@pytest.mark.parametrize(
    "arguments",
    [["--calls", "fx"], ["--scene", "moon"], ["--lr", "fast"], ["--optimizer", "lion"], ["--seed", "-1"], ["--what"]],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["step", *arguments])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
