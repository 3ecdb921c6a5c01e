"""Your own table: a CSV with a column of labels, made into the data of a run; a bad file is one sentence."""

from __future__ import annotations

import csv
import io
import math

import torch

from core.data import Dataset, split
from core.messages import N_

MOST_BYTES, MOST_ROWS, MOST_FEATURES, MOST_CLASSES = 10**6, 5000, 50, 20
FEWEST_ROWS = 20


class TableError(ValueError):
    """A table that no run can train on.

    `str()` is one English sentence; `template` and `parts` are there for other languages. Rows are counted as a
    spreadsheet does: the header is row 1.
    """

    def __init__(self, template: str, **parts: object) -> None:
        self.template, self.parts = template, {key: " ".join(str(part).split())[:40] for key, part in parts.items()}
        super().__init__(template.format(**self.parts))


Row = tuple[int, list[str]]
"""The row's number in the file, and its cells without the blanks around them."""


def columns(source: bytes) -> tuple[str, ...]:
    """The names in the header, to choose the label column from."""
    return tuple(_read(source)[0])


def read_table(source: bytes, label: str, seed: int = 0) -> Dataset:
    """Every column but `label` is a feature. A seeded third of the rows goes to validation.

    Raises TableError for what is too large, not a number, or cannot be told apart.
    """
    header, rows = _read(source)
    if label not in header:
        raise TableError(
            N_("There is no column {column}; the columns are {names}."), column=label, names=", ".join(header)
        )
    at = header.index(label)
    features = [name for name in header if name != label]
    if not 1 <= len(features) <= MOST_FEATURES:
        template = N_("The table has {found} columns besides the label; allowed: 1 to {most}.")
        raise TableError(template, found=len(features), most=MOST_FEATURES)
    if not FEWEST_ROWS <= len(rows) <= MOST_ROWS:
        template = N_("The table has {found} rows; allowed: {fewest} to {most}.")
        raise TableError(template, found=len(rows), fewest=FEWEST_ROWS, most=MOST_ROWS)
    numbers, labels = [], []
    for number, cells in rows:
        if not cells[at]:
            raise TableError(N_("Row {row}, column {column}: there is no label."), row=number, column=label)
        labels.append(cells[at])
        numbers.append([_number(cell, number, name) for name, cell in zip(header, cells, strict=True) if name != label])
    classes = sorted(set(labels))
    if not 2 <= len(classes) <= MOST_CLASSES:
        template = N_("Column {column} holds {found} different labels; allowed: 2 to {most}.")
        raise TableError(template, column=label, found=len(classes), most=MOST_CLASSES)
    index = {name: position for position, name in enumerate(classes)}
    return split(
        torch.tensor(numbers, dtype=torch.float64),
        torch.tensor([index[name] for name in labels]),
        len(rows) // 3,
        torch.Generator().manual_seed(seed),
        features=tuple(features),
        classes=tuple(classes),
    )


def _read(source: bytes) -> tuple[list[str], list[Row]]:
    if len(source) > MOST_BYTES:
        raise TableError(N_("The file has {found} bytes; allowed: up to {most}."), found=len(source), most=MOST_BYTES)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = source[: error.start].count(b"\n") + 1
        raise TableError(N_("Row {row} is not text in UTF-8."), row=row) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((reader.line_num, [cell.strip() for cell in cells]))
    except csv.Error:
        raise TableError(N_("Row {row} is not a row of a CSV file."), row=max(reader.line_num, 1)) from None
    if not rows:
        raise TableError(N_("The file is empty."))
    (_, header), *rows = rows
    for position, name in enumerate(header, start=1):
        if not name:
            raise TableError(N_("Row 1: column {column} has no name."), column=position)
        if header.index(name) != position - 1:
            raise TableError(N_("Row 1: two columns are named {column}."), column=name)
    for number, cells in rows:
        if len(cells) != len(header):
            template = N_("Row {row} has {found} cells; the header has {expected}.")
            raise TableError(template, row=number, found=len(cells), expected=len(header))
    return header, rows


def _number(cell: str, row: int, column: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1e12:  # so that neither the deviation nor a float32 overflows
        shown = repr(cell[:20]) if cell else "an empty cell"
        raise TableError(N_("Row {row}, column {column}: {cell} is not a number."), row=row, column=column, cell=shown)
    return value
