"""The command line: `python -m core check FILE|DIR|-...`.

Exit status: 0 nothing found, 1 something found, 2 something could not be read.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from . import RULES, Finding, check
from .fixes import correct
from .notebook import Notebook, NotebookError
from .output import FORMATS

SKIP = frozenset(("__pycache__", "node_modules", "site-packages"))
LIMIT = 20_000_000
"""Bytes of a notebook, most of which are pictures."""


@dataclass(frozen=True)
class Found:
    """A finding and the file it is in; for a notebook also the cell, and the line within it."""

    file: str
    finding: Finding
    line: int
    cell: int = 0

    @property
    def place(self) -> str:
        """`train.py:12` or `train.ipynb:cell 3:12`."""
        return f"{self.file}:cell {self.cell}:{self.line}" if self.cell else f"{self.file}:{self.line}"

    def as_dict(self) -> dict:
        """What `--json` prints."""
        f = self.finding
        out = {
            "file": self.file,
            "line": self.line,
            "code": f.code,
            "severity": f.severity,
            "title": f.title,
            "message": f.message,
            "remedy": f.remedy,
        }
        return {**out, "cell": self.cell} if self.cell else out


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        prog="python -m core check", description="Check training loops without running them."
    )
    made.add_argument(
        "paths", nargs="+", metavar="FILE|DIR|-", help="a .py or .ipynb file, a folder, or - for standard input"
    )
    made.add_argument("--json", action="store_true", help="the same as --format json")
    made.add_argument("--format", choices=sorted(FORMATS), default="text")
    made.add_argument(
        "--select", default="", metavar="CODES", help="only these codes, or codes that start so: FC101,FC2"
    )
    made.add_argument("--ignore", default="", metavar="CODES", help="not these codes, or codes that start so")
    made.add_argument("--fix", action="store_true", help="correct files in place where the remedy is mechanical")
    made.add_argument("--diff", action="store_true", help="print what --fix would change, and change nothing")
    return made


def main(argv: list[str]) -> int:
    """Check what the arguments name, print, and return the exit status."""
    options = parser().parse_args(argv)
    select, ignore = _codes(options.select), _codes(options.ignore)
    unknown = [c for c in (*select, *ignore) if not any(r.code.startswith(c) for r in RULES)]
    if unknown:
        print(f"no such code: {', '.join(unknown)}", file=sys.stderr)
        return 2
    wanted = {r.code for r in RULES if _wanted(r.code, select, ignore)}
    found, failed = [], False
    for path in files(options.paths):
        try:
            name, source = _load(path)
        except (OSError, UnicodeError, NotebookError) as error:
            print(f"{path}: {_reason(error)}", file=sys.stderr)
            failed = True
            continue
        if options.fix or options.diff:
            source = _correct(name, source, options, wanted)
        report = check(source.text if isinstance(source, Notebook) else source, name)
        if report.problem is not None:
            print(f"{name}: {report.problem}", file=sys.stderr)
            failed = True
        found += [_located(name, f, source) for f in report.findings if f.code in wanted]
    if not options.diff:
        text = FORMATS["json" if options.json else options.format](found)
        if text:
            print(text)
    return 2 if failed else 1 if found else 0


def files(paths: list[str]) -> list[str]:
    """Every file the arguments name, folders walked in order."""
    out = []
    for path in paths:
        if path != "-" and Path(path).is_dir():
            inside = (p for p in Path(path).rglob("*") if p.suffix in (".py", ".ipynb") and p.is_file())
            out += sorted(
                str(p) for p in inside if not any(x in SKIP or x.startswith(".") for x in p.relative_to(path).parts)
            )
        else:
            out.append(path)
    return out


def _load(path: str) -> tuple[str, str | Notebook]:
    if path == "-":
        return "<stdin>", sys.stdin.read()
    file = Path(path)
    if file.stat().st_size > LIMIT:
        raise OSError("larger than 20 MB")
    data = file.read_bytes()
    text = data.decode("utf-8-sig", errors="strict" if file.suffix == ".ipynb" else "replace")
    return path, Notebook.read(text) if file.suffix == ".ipynb" else text


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _codes(text: str) -> tuple[str, ...]:
    return tuple(c.upper() for c in re.split(r"[,\s]+", text) if c)


def _wanted(code: str, select, ignore) -> bool:
    return (not select or any(_matches(code, c) for c in select)) and not any(_matches(code, c) for c in ignore)


def _matches(code: str, pattern: str) -> bool:
    """The code itself, or a family: FC1 is FC101 to FC199, not FC1001."""
    return code == pattern or (code.startswith(pattern) and len(code) - len(pattern) == 2) or pattern == "FC"


def _located(name: str, finding: Finding, source) -> Found:
    if isinstance(source, Notebook):
        cell, line = source.where(finding.line)
        return Found(name, finding, line, cell)
    return Found(name, finding, finding.line)


def _correct(name: str, source, options, wanted: set[str]):
    if isinstance(source, Notebook):
        return source
    made = correct(source, name, wanted)
    if options.diff:
        sys.stdout.write(made.diff)
        return source
    if made.fixed and name != "<stdin>":
        Path(name).write_text(made.text, encoding="utf-8")
        print(f"{name}: corrected {', '.join(f'{c} (line {n})' for c, n in made.fixed)}", file=sys.stderr)
    elif name == "<stdin>":
        sys.stdout.write(made.text)
    return made.text
