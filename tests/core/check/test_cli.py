"""The command line: formats, selections, exit statuses, notebooks."""

from __future__ import annotations

import io
import json

import pytest

from core.check.cli import main

FAULTY = (
    "net = nn.Linear(2, 2)\nopt = torch.optim.Adam(net.parameters())\nfor x, y in loader:\n    loss "
    "= F.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n"
)
CLEAN = FAULTY.replace("    loss.backward()", "    opt.zero_grad()\n    loss.backward()")


@pytest.fixture
def faulty(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(FAULTY)
    return path


def test_exit_statuses(tmp_path, faulty, capsys):
    clean = tmp_path / "clean.py"
    clean.write_text(CLEAN)
    broken = tmp_path / "broken.py"
    broken.write_text("for x in:\n")
    assert main([str(clean)]) == 0
    assert main([str(faulty)]) == 1
    assert main([str(broken)]) == 2
    assert main([str(tmp_path / "none.py")]) == 2
    assert main([str(faulty), str(broken)]) == 2
    assert "broken.py: Line 1 is not Python" in capsys.readouterr().err


def test_json_is_a_list_of_objects(faulty, capsys):
    assert main([str(faulty), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [sorted(f) for f in found] == [["code", "file", "line", "message", "remedy", "severity", "title"]]
    assert (found[0]["file"], found[0]["line"], found[0]["code"]) == (str(faulty), 6, "FC201")


def test_json_of_nothing_is_an_empty_list(tmp_path, capsys):
    path = tmp_path / "clean.py"
    path.write_text(CLEAN)
    assert main([str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_github_and_sarif(faulty, capsys):
    main([str(faulty), "--format", "github"])
    assert f"::error file={faulty},line=6,title=FC201" in capsys.readouterr().out.replace("%3A", ":")
    main([str(faulty), "--format", "sarif"])
    run = json.loads(capsys.readouterr().out)["runs"][0]
    assert run["results"][0]["ruleId"] == "FC201"
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 6
    assert [r["id"] for r in run["tool"]["driver"]["rules"]] == ["FC201"]


def test_select_and_ignore(faulty, capsys):
    assert main([str(faulty), "--select", "FC101"]) == 0
    assert main([str(faulty), "--select", "FC2"]) == 1
    assert main([str(faulty), "--ignore", "FC201"]) == 0
    assert main([str(faulty), "--select", "XX1"]) == 2
    assert "no such code: XX1" in capsys.readouterr().err


def test_a_folder_and_standard_input(faulty, monkeypatch, capsys):
    (faulty.parent / ".hidden").mkdir()
    (faulty.parent / ".hidden" / "x.py").write_text("for x in:")
    assert main([str(faulty.parent)]) == 1
    monkeypatch.setattr("sys.stdin", io.StringIO(FAULTY))
    assert main(["-"]) == 1
    assert "<stdin>:6" in capsys.readouterr().out


def test_diff_changes_nothing_and_fix_does(faulty, capsys):
    assert main([str(faulty), "--diff"]) == 1
    assert "+    opt.zero_grad()" in capsys.readouterr().out
    assert faulty.read_text() == FAULTY
    assert main([str(faulty), "--fix"]) == 0
    assert "opt.zero_grad()\n    loss.backward()" in faulty.read_text()


def cells(*sources):
    return json.dumps(
        {"cells": [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in sources], "nbformat": 4}
    )


def test_a_notebook_names_cell_and_line(tmp_path, capsys):
    path = tmp_path / "train.ipynb"
    first = "%matplotlib inline\n!pip install torch\nnet = nn.Linear(2, 2)\nopt = torch.optim.Adam(net.parameters())"
    loop = "%%time\nfor x, y in loader:\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()"
    path.write_text(cells(("code", first), ("markdown", "# Training"), ("code", loop)))
    assert main([str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(f["code"], f["cell"], f["line"]) for f in found] == [("FC201", 3, 5)]
    main([str(path)])
    assert "cell 3:5" in capsys.readouterr().out


def test_a_broken_notebook_is_said(tmp_path, capsys):
    path = tmp_path / "train.ipynb"
    path.write_text("{")
    assert main([str(path)]) == 2
    assert "not a notebook" in capsys.readouterr().err
