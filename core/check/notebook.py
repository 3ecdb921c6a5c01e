"""A Jupyter notebook as one text, and the way back from its lines to cell and line."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .reading import magics


class NotebookError(ValueError):
    """The file is no notebook."""


@dataclass(frozen=True)
class Notebook:
    """`text` holds all code cells in order; `starts` the (first line, cell number) of each."""

    text: str
    starts: tuple[tuple[int, int], ...]

    @classmethod
    def read(cls, source: str) -> Notebook:
        """Take the code cells out of the JSON; lines of magics become empty ones."""
        try:
            cells = json.loads(source)["cells"]
            sources = [("".join(c["source"]), c["cell_type"]) for c in cells]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise NotebookError("this is not a notebook") from error
        lines: list[str] = []
        starts = []
        for number, (text, kind) in enumerate(sources, 1):
            if kind != "code":
                continue
            starts.append((len(lines) + 1, number))
            foreign = text.lstrip().startswith(
                ("%%bash", "%%sh", "%%html", "%%javascript", "%%writefile", "%%latex", "%%script")
            )
            lines += ["" for _ in text.split("\n")] if foreign else magics(text).split("\n")
        return cls("\n".join(lines) + "\n", tuple(starts))

    def where(self, line: int) -> tuple[int, int]:
        """(cell, line in it) of a line of `text`."""
        cell = first = 1
        for start, number in self.starts:
            if start > line:
                break
            cell, first = number, start
        return cell, line - first + 1
