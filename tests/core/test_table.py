import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.fit import Run
from core.fit_config import FitConfig
from core.table import TableError, columns, read_table

HEADER = "height,label,weight\n"


def table(rows: list[str]) -> bytes:
    return (HEADER + "\n".join(rows) + "\n").encode()


GOOD = [f"{i},{'abc'[i % 3]},{i * i}" for i in range(60)]


def refused(source: bytes, label: str = "label") -> str:
    with pytest.raises(TableError) as caught:
        read_table(source, label)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def test_a_table_trains() -> None:
    data = read_table(table(GOOD), "label")
    assert columns(table(GOOD)) == ("height", "label", "weight")
    assert data.features == ("height", "weight")
    assert data.classes == ("a", "b", "c")
    assert data.x.shape == (40, 2)
    assert data.x_val.shape == (20, 2)
    assert torch.allclose(data.x.mean(0), torch.zeros(2), atol=1e-5)
    run = Run(FitConfig(max_epochs=2), data)
    run.epoch()
    resumed = Run.resume(run.checkpoint(), data=data)
    assert resumed.epoch() == run.epoch()


def test_rows_keep_their_labels() -> None:
    data = read_table(table(GOOD), "label")
    heights = data.x[:, 0].double() * data.std[0] + data.mean[0]
    assert torch.equal(heights.round().long() % 3, data.y)


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_no_trouble() -> None:
    text = "\ufeff" + HEADER + "\n\n".join(GOOD)
    assert read_table(text.replace("\n", "\r\n").encode(), "label").digest == read_table(table(GOOD), "label").digest


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("tall,a,1", "Row 11, column height: 'tall' is not a number."),
        ("1,a,", "Row 11, column weight: an empty cell is not a number."),
        ("nan,a,1", "Row 11, column height: 'nan' is not a number."),
        ("inf,a,1", "Row 11, column height: 'inf' is not a number."),
        ("1e300,a,1", "Row 11, column height: '1e300' is not a number."),
        ("1,,1", "Row 11, column label: there is no label."),
        ("1,a", "Row 11 has 2 cells; the header has 3."),
        ("1,a,2,3", "Row 11 has 4 cells; the header has 3."),
        ('1,"a"x,2', "Row 11 is not a row of a CSV file."),
    ],
)
def test_the_row_and_the_column_at_fault_are_named(row: str, sentence: str) -> None:
    assert refused(table([*GOOD[:9], row, *GOOD[9:]])) == sentence


def test_what_is_too_much_or_too_little() -> None:
    assert "bytes" in refused(b"x" * (10**6 + 1))
    assert "20 to 5000" in refused(table(GOOD[:19]))
    assert "20 to 5000" in refused(table(GOOD * 84))
    assert "0 columns" in refused(b"label\n" + b"a\nb\n" * 20)
    wide = ",".join(f"c{i}" for i in range(51))
    assert "51 columns" in refused(f"label,{wide}\n".encode() + (b"a" + b",1" * 51 + b"\n") * 30)
    assert "1 different labels" in refused(table(["1,a,2"] * 30))
    assert "21 different labels" in refused(table([f"1,l{i % 21},2" for i in range(42)]))
    assert "no column size" in refused(table(GOOD), "size")
    assert "two columns" in refused(b"label,a,a\n" + b"x,1,2\n" * 30)
    assert "no name" in refused(b"label,,a\n" + b"x,1,2\n" * 30)
    assert refused(b'"a\n\nb",label\n' + b"x,1\n" * 30) == "Row 4, column a b: 'x' is not a number."
    assert refused(b"") == refused(b"\n \n") == "The file is empty."
    assert refused(HEADER.encode() + b"1,a,2\n1,\xff,2\n") == "Row 3 is not text in UTF-8."


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_in_a_sentence(source: bytes) -> None:
    try:
        names = columns(source)
    except TableError:
        return
    for name in names[:2]:
        refused(source, name)


@given(st.text(max_size=60))
def test_any_cell_is_read_or_refused_in_a_sentence(cell: str) -> None:
    try:
        read_table(table([*GOOD, f"{cell},a,1"]), "label")
    except TableError as error:
        sentence = str(error)
    else:
        return
    assert sentence.endswith(".")
