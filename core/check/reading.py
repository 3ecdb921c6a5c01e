"""From any text to a syntax tree.

Notebook magics, doctest prompts, smart quotes, Python 2 and stray indentation are seen through.

The text keeps its lines, so that a finding's line is the user's line.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

from core.messages import N_

MAX_BYTES = 1_000_000
MAX_DEPTH = 90
DEEP = "nested too deeply"
QUOTES = str.maketrans(
    {"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "\ufeff": "", "\u200b": "", "–": "-", "−": "-"}
)
PROMPT = re.compile(r"^(\s*)(>>>|\.\.\.)( |$)")
IPYTHON = re.compile(r"^\s*(In|Out)\s?\[[\d ]*\]:\s?")
MAGIC = re.compile(r"^\s*[!%]")
MAGIC_ASSIGN = re.compile(r"^(\s*)([\w, ]+)=\s*[!%].*$")
HELP = re.compile(r"^(\s*)\??\??([\w.\[\]'\"]+)\?\??\s*$")
PRINT2 = re.compile(r"^(\s*)print\s+(?![=(.\[])(.+?)(,?)\s*$")
PRINT2_INLINE = re.compile(r"(:\s*)print\s+(?![=(.\[])([^#]+?)\s*$")
EXCEPT2 = re.compile(r"^(\s*except\s+[\w.()]+(?:\s*,\s*[\w.]+\))?)\s*,\s*(\w+)\s*:")
FENCE = re.compile(r"^\s*(```|~~~)")
NUMBERED = re.compile(r"^\s*(\d+)[:.|]?( {1,8}|\t|$)(?=\S|\s|$)")

PROBLEMS = {
    "empty": N_("There is nothing here to read."),
    "big": N_("This text is larger than {limit} MB; paste only the part with the training loop."),
    "null": N_("This is not text: it holds null bytes."),
    "deep": N_("Line {line} nests deeper than any training loop does, so this text was not read."),
    "syntax": N_("Line {line} is not Python: {reason}."),
    "python2": N_("Line {line} is Python 2; put brackets round what is printed, or convert the file to Python 3."),
}


@dataclass(frozen=True)
class Problem:
    """Why a text could not be read; `template` with `values` filled in is the sentence."""

    template: str
    values: dict
    line: int = 0

    def __str__(self) -> str:
        return self.template.format(**self.values)


@dataclass(frozen=True)
class Text:
    """A text that was read: its tree, the Python that was parsed, and what was seen through."""

    tree: ast.Module
    python: str
    notes: tuple[str, ...] = ()
    shifted: bool = False


def read(source: str) -> Text | Problem:
    """Parse `source`, or say in one sentence why it cannot be parsed."""
    if not source.strip():
        return Problem(PROBLEMS["empty"], {})
    if len(source) > MAX_BYTES or len(source.encode("utf-8", "replace")) > MAX_BYTES:
        return Problem(PROBLEMS["big"], {"limit": 1})
    if "\x00" in source:
        return Problem(PROBLEMS["null"], {})
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", " ").translate({0xFEFF: None})
    line = too_deep(source)
    if line:
        return Problem(PROBLEMS["deep"], {"line": line}, line)
    first = _parse(source)
    if isinstance(first, ast.Module):
        return Text(first, source)
    if first.msg == DEEP:
        return _explain(first, source)
    best, tried = first, source
    for notes, attempt in _attempts(source):
        if attempt == tried:
            continue
        tree = _parse(attempt)
        if isinstance(tree, ast.Module):
            return Text(tree, attempt, notes, shifted=True)
        tried, best = attempt, tree if (tree.lineno or 0) >= (best.lineno or 0) else best
    return _explain(best, source)


def _parse(source: str) -> ast.Module | SyntaxError:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError):
        made = SyntaxError(DEEP)
    except (ValueError, OverflowError) as error:
        made = SyntaxError(str(error)[:80])
    made.lineno = 1
    return made


def _attempts(source: str):
    """Ever more forgiving readings of one text, each keeping its lines."""
    notes: tuple[str, ...] = ()
    text = source
    if any(PROMPT.match(line) for line in text.split("\n")):
        text, notes = prompts(text), (*notes, "prompts")
        yield notes, _dedent(text)
    text = fences(text)
    if any(MAGIC.match(x) or MAGIC_ASSIGN.match(x) or HELP.match(x) or IPYTHON.match(x) for x in text.split("\n")):
        text, notes = magics(text), (*notes, "magics")
    yield notes, text
    yield (*notes, "indented"), _dedent(text)
    quoted = text.translate(QUOTES)
    if quoted != text:
        text, notes = quoted, (*notes, "quotes")
        yield notes, text
        yield notes, _dedent(text)
    old = python2(text)
    if old != text:
        yield (*notes, "python2"), old
        yield (*notes, "python2"), _dedent(old)
    plain = unnumbered(old)
    if plain != old:
        yield (*notes, "numbered"), _dedent(plain)
    yield (*notes, "indented"), _closed(_dedent(old))
    expanded = old.expandtabs(4)
    if expanded != old:
        yield (*notes, "tabs"), _dedent(expanded)
        yield (*notes, "tabs"), _dedent(old.expandtabs(8))


def prompts(text: str) -> str:
    """Strip `>>>` and `...`; blank the output between them."""
    return "\n".join(m.group(1) + line[m.end() :] if (m := PROMPT.match(line)) else "" for line in text.split("\n"))


def fences(text: str) -> str:
    """Blank Markdown fences."""
    return "\n".join("" if FENCE.match(line) else line for line in text.split("\n"))


def magics(text: str) -> str:
    """Blank notebook magics and shell lines, keeping the indentation of a block that would be empty without them."""
    out, goes_on = [], False
    for line in text.split("\n"):
        line = IPYTHON.sub("", line)
        indent = line[: len(line) - len(line.lstrip())]
        if goes_on:  # a shell command over several lines
            out.append("")
            goes_on = line.rstrip().endswith("\\")
        elif MAGIC.match(line):
            goes_on = line.rstrip().endswith("\\")
            out.append(indent + "pass" if indent else "")
        elif m := MAGIC_ASSIGN.match(line):
            out.append(f"{m.group(1)}{m.group(2)}= None")
        elif m := HELP.match(line):
            out.append(m.group(1) + "pass" if m.group(1) else "")
        else:
            out.append(line)
    return "\n".join(out)


def python2(text: str) -> str:
    """Print statements and old except clauses, line by line."""
    out = []
    for line in text.split("\n"):
        if len(line) < 500:
            line = PRINT2.sub(lambda m: f"{m.group(1)}print({m.group(2)})", line)
            line = PRINT2_INLINE.sub(lambda m: f"{m.group(1)}print({m.group(2)})", line)
            line = re.sub(r"^(\s*)print\s*$", r"\1print()", line)
            line = EXCEPT2.sub(r"\1 as \2:", line)
        out.append(line)
    return "\n".join(out)


def unnumbered(text: str) -> str:
    """Strip line numbers that were copied along."""
    lines = text.split("\n")
    full = [line for line in lines if line.strip()]
    if len(full) < 3 or not all(NUMBERED.match(line) for line in full):
        return text
    return "\n".join(re.sub(r"^\s*\d+[:.|]?", "", line) for line in lines)


def _dedent(text: str) -> str:
    """Take away the indentation all lines share; a first line that lost its own gets it back."""
    made = textwrap.dedent(text)
    if made != text:
        return made
    lines = text.split("\n")
    full = [i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    if (
        len(full) > 1
        and not lines[full[0]][0].isspace()
        and not lines[full[0]].rstrip().endswith((":", ",", "(", "[", "{", "\\"))
    ):
        rest = textwrap.dedent("\n".join(lines[full[0] + 1 :]))
        return "\n".join([*lines[: full[0] + 1], rest])
    return text


def _closed(text: str) -> str:
    """A paste that stops after a colon gets an empty body."""
    stripped = text.rstrip()
    if not stripped.endswith(":"):
        return text
    last = stripped.split("\n")[-1]
    return f"{stripped}\n{last[: len(last) - len(last.lstrip())]}    pass\n"


def too_deep(source: str) -> int:
    """The first line nested beyond what the parser or a reader can follow, or 0."""
    depth = line = 0
    line, run = 1, 0
    for char in source:
        if char == "\n":
            line += 1
            run = 0
        elif char in "([{":
            depth += 1
            if depth > MAX_DEPTH:
                return line
        elif char in ")]}":
            depth = max(0, depth - 1)
        if char in "-+~ \t":
            run += char in "-+~"
            if run > 200:
                return line
        elif char != "\n":
            run = 0
    for number, text in enumerate(source.split("\n"), 1):
        if len(text) - len(text.lstrip()) > 400 and text.strip() and _indents(source) > 95:
            return number
        if len(text) > 2000 and (text.count(" not ") > 200 or text.count("lambda") > 100 or text.count(" if ") > 200):
            return number
    return 0


def _indents(source: str) -> int:
    return len({len(t) - len(t.lstrip()) for t in source.split("\n") if t.strip()})


def _explain(error: SyntaxError, source: str) -> Problem:
    """One sentence for a syntax error."""
    if error.msg == DEEP or "too many nested" in (error.msg or "") or "too many levels" in (error.msg or ""):
        return Problem(PROBLEMS["deep"], {"line": error.lineno or 1}, error.lineno or 1)
    line = min(error.lineno or 1, source.count("\n") + 1)
    text = source.split("\n")[line - 1].strip() if source else ""
    if re.match(r"(print\s+[^(=]|exec\s|raise\s+\w+\s*,)", text) or "Missing parentheses in call to 'print'" in (
        error.msg or ""
    ):
        return Problem(PROBLEMS["python2"], {"line": line}, line)
    reason = (error.msg or "invalid syntax").split(". ")[0].rstrip(".")
    return Problem(PROBLEMS["syntax"], {"line": line, "reason": reason[:120]}, line)
