import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from core.__main__ import main
from core.checkpoint import load, same
from core.fit import Run
from core.fit_config import FitConfig

ROOT = Path(__file__).parents[3]


def fresh(*arguments: object) -> str:
    """The output of the command in a process of its own."""
    command = [sys.executable, "-m", "core", *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The output of the command in this process, where starting one of its own would show no more."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """The directory and the log of the run that was left alone."""
    out = tmp_path_factory.mktemp("whole")
    return out, fresh("train", "--out", out).splitlines()


def _same_files(a: Path, b: Path) -> None:
    for name in ("last.pt", "final_weights.pt"):
        assert same(load(a / name), load(b / name)), name


def test_it_prints_the_log_and_writes_the_files(whole: tuple[Path, list[str]]) -> None:
    out, log = whole
    assert len(log) == 13
    assert log[0] == "ep   1 | train 0.8862 0.685 | val 0.6442 0.800 *best"
    assert log[-1] == "early stop: val loss has not fallen for 8 epochs; best epoch 4"
    assert sorted(os.listdir(out)) == ["best.pt", "final_weights.pt", "last.pt"]
    assert load(out / "best.pt")["epoch"] == 4
    assert load(out / "last.pt")["epoch"] == 12
    assert list(load(out / "final_weights.pt")) == list(Run().model.state_dict())


@pytest.mark.parametrize("stop", ["6", "4:7"])
def test_fresh_processes_make_the_run_that_one_makes(whole: tuple[Path, list[str]], tmp_path: Path, stop: str) -> None:
    first = fresh("train", "--out", tmp_path, "--stop-after", stop).splitlines()
    second = fresh("train", "--out", tmp_path, "--resume", tmp_path / "last.pt").splitlines()
    assert first[-1] == "(interrupted)"
    assert second[0].startswith("resumed from epoch")
    assert first[:-1] + second[1:] == whole[1]
    _same_files(whole[0], tmp_path)


def test_every_place_to_stop_is_resumed_to_the_bit(
    whole: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [str(epoch) for epoch in range(1, 12)] + [f"{epoch}:{batch}" for epoch in (2, 9) for batch in range(8)]
    for place in places:
        assert main(["train", "--out", str(tmp_path), "--stop-after", place]) == 0
        assert main(["train", "--out", str(tmp_path), "--resume", str(tmp_path / "last.pt")]) == 0
        log = [line for line in capsys.readouterr().out.splitlines() if line[0] not in "(r"]
        assert log == whole[1], place
        _same_files(whole[0], tmp_path)


def test_resuming_twice(whole: tuple[Path, list[str]], tmp_path: Path, here: Callable[..., str]) -> None:
    last = tmp_path / "last.pt"
    log = here("train", "--out", tmp_path, "--stop-after", "3:2").splitlines()
    log += fresh("train", "--out", tmp_path, "--resume", last, "--stop-after", "3:5").splitlines()
    log += here("train", "--out", tmp_path, "--resume", last).splitlines()
    assert [line for line in log if line[0] not in "(r"] == whole[1]
    assert log[3] == "resumed from epoch 2, batch 2 of epoch 3"
    _same_files(whole[0], tmp_path)


def test_a_part_left_out_changes_the_log(
    whole: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["train", "--out", str(tmp_path), "--stop-after", "6"])
    for part in ("rng", "optimizer", "torch_rng", "loader-rng"):
        capsys.readouterr()
        out = tmp_path / part
        assert main(["train", "--out", str(out), "--resume", str(tmp_path / "last.pt"), "--skip", part]) == 0
        log = capsys.readouterr().out.splitlines()
        assert log[0] == "resumed from epoch 6"
        assert log[1].startswith("ep   7")
        assert log[1] != whole[1][6]


def test_a_finished_run_has_nothing_to_train(
    whole: tuple[Path, list[str]], tmp_path: Path, here: Callable[..., str]
) -> None:
    log = here("train", "--out", tmp_path, "--resume", whole[0] / "last.pt").splitlines()
    assert log[0] == "resumed from epoch 12"
    assert log[1].startswith("nothing to train")
    assert log[2] == whole[1][-1]
    assert same(load(tmp_path / "final_weights.pt"), load(whole[0] / "final_weights.pt"))


def test_json_is_one_object_a_line_with_numbers_unrounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "--out", str(tmp_path), "--json", "--seed", "3", "--patience", "2", "--max-epochs", "5"]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    objects = [json.loads(line) for line in captured.out.splitlines()]
    run = Run(FitConfig(seed=3, patience=2, max_epochs=5))
    while not run.done:
        run.epoch()
    names = ["epoch", "train_loss", "train_acc", "val_loss", "val_acc", "best"]
    assert objects == [{name: getattr(record, name) for name in names} for record in run.history]
    assert list(objects[0]) == names
    assert "best epoch" in captured.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--patience", "0"], "patience cannot be '0'; allowed: a whole number from 1 to 100."),
        (["--seed", "x"], "seed cannot be 'x'; allowed: a whole number from 0 to 4294967295."),
        (["--optimizer", "lion"], "optimizer cannot be 'lion'; allowed: adamw, sgd, sgd-momentum."),
        (["--stop-after", "six"], "stop-after cannot be 'six'; allowed: EPOCH or EPOCH:BATCH, such as 6 or 6:3."),
        (["--stop-after", "0"], "stop-after cannot be '0'; allowed: a whole number from 1 to 100."),
        (["--stop-after", "6:8"], "stop-after cannot be '6:8'; allowed: a batch from 0 to 7."),
        (["--skip", "rng"], "skip cannot be 'rng'; allowed: only together with --resume FILE."),
        (["--resume", "{whole}/final_weights.pt"], "no config"),
        (["--resume", "{whole}/last.pt", "--skip", "x"], "skip cannot be 'x'; allowed: optimizer, torch_rng"),
        (["--resume", "{whole}/last.pt", "--lr", "1"], "The file is of a run with lr 0.003, not 1.0."),
        (["--resume", "{whole}/last.pt", "--stop-after", "3"], "stop-after cannot be '3'; allowed: from 13:0 on"),
        (["--resume", "{whole}/none.pt"], "none.pt cannot be read: No such file or directory."),
        (["--resume", "{whole}"], "cannot be read: Is a directory."),
        (["--out", "{whole}/last.pt"], "last.pt cannot be written: File exists."),
    ],
)
def test_what_is_wrong_is_one_line(
    whole: tuple[Path, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *(argument.format(whole=whole[0]) for argument in arguments)]) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert not os.listdir(tmp_path)


def test_a_diverged_run_writes_null(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run()
    checkpoint = run.checkpoint()
    checkpoint["model"]["0.weight"].fill_(float("nan"))
    torch.save(checkpoint, tmp_path / "bad.pt")
    assert (
        main(["train", "--out", str(tmp_path), "--resume", str(tmp_path / "bad.pt"), "--json", "--max-epochs", "1"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["val_loss"] is None
