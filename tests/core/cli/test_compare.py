from pathlib import Path

import pytest
import torch

from core.__main__ import main


def _save(path: Path, **tensors: object) -> str:
    torch.save(tensors, path)
    return str(path)


def _compare(capsys: pytest.CaptureFixture[str], a: str, b: str) -> tuple[int, str]:
    code = main(["compare", a, b])
    return code, capsys.readouterr().out


def test_equal_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = _save(tmp_path / "a.pt", w=torch.ones(2), b=torch.zeros(3))
    b = _save(tmp_path / "b.pt", b=torch.zeros(3), w=torch.ones(2))
    assert _compare(capsys, a, b) == (0, "tensors: 2 | equal (torch.equal): 2 | largest difference: 0\n")


def test_the_smallest_difference_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = _save(tmp_path / "a.pt", w=torch.ones(2), b=torch.zeros(3))
    b = _save(tmp_path / "b.pt", w=torch.nextafter(torch.ones(2), torch.tensor(2.0)), b=torch.zeros(3))
    code, out = _compare(capsys, a, b)
    assert code == 1
    assert out == "tensors: 2 | equal (torch.equal): 1 | largest difference: 1.19209e-07\n"


def test_tensors_that_only_one_file_has_and_other_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = _save(tmp_path / "a.pt", w=torch.ones(2), b=torch.zeros(3))
    b = _save(tmp_path / "b.pt", w=torch.ones(3))
    code, out = _compare(capsys, a, b)
    assert code == 1
    assert out.splitlines() == [
        "tensors: 2 | equal (torch.equal): 0 | largest difference: 0",
        "w: shape (2,) and (3,)",
        f"b: only in {a}",
    ]


@pytest.mark.parametrize("content", [None, b"", b"not a file of torch"])
def test_what_cannot_be_read_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    a, b = _save(tmp_path / "a.pt", w=torch.ones(2)), tmp_path / "b.pt"
    if content is not None:
        b.write_bytes(content)
    assert main(["compare", a, str(b)]) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.count("\n") == 1


def test_a_file_without_tensors_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = _save(tmp_path / "a.pt", w=1)
    assert main(["compare", a, a]) == 2
    assert "holds no tensors" in capsys.readouterr().err
