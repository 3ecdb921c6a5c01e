"""What the page of the checker shows: code with its lines marked, findings, the order of calls, the corrected text."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlsplit

from core.check import RULES, Finding, LoopOrder, Problem, Report, check
from core.check.fixes import Corrected, correct
from core.check.notebook import Notebook, NotebookError
from core.check.order import Call
from core.loop import CALLS
from core.messages import N_
from core.turns import TURNS, log
from pages.ui.code import code_lines
from pages.ui.i18n import _, localise
from pages.ui.markup import rich

SEVERITIES = ("error", "warning", "info")
SIGNS = {"error": "✗", "warning": "▲", "info": "i"}
WHOLE_LINES, WHOLE_LENGTH = 600, 60_000
"""A text up to this long is shown from end to end; of a longer one, the lines around what was found."""
AROUND, ABOVE, WINDOWS, WIDEST = 4, 9, 40, 240
WIDEST_NAME = 20
MOST_SHOWN, MOST_LINES, MOST_CALLS, LOOPS, MOST_LOOPS, MOST_DIFF = 20, 8, 14, 2, 40, 400
QUICK_LENGTH, CORRECTED_LENGTH, CORRECTING_SECONDS = 30_000, 200_000, 1.0
EXPLAINED = (
    "zero-grad", "backward", "no-grad", "eval-mode", "train-mode", "softmax", "logits", "cross-entropy", "sigmoid",
    "nll-loss", "class-index", "one-hot", "gradient", "graph", "optimizer", "scheduler", "reduce-on-plateau",
    "checkpoint", "patience", "seed", "test-set",
)  # fmt: skip
"""The terms that the title of a rule may have."""
Starts = Sequence[tuple[int, int]]
NOT_A_NOTEBOOK = N_("This file is not a notebook.")
NOT_FOLLOWED = N_("This text could not be followed, which is our fault. Please paste only the part with the loop.")

_WORDS = frozenset(("what", "total", "by", "told", "often", "way", "should"))
"""The values of a finding that are words; the others are code."""
_LINES = frozenset(("at", "other"))
_CODE = re.compile(
    r"(?:(?:[\w.]|\x01[^\x02]*\x02)+\((?:[^()]|\([^()]*\))*\))+"  # a call, or one upon another
    r"|\x01[^\x02]*\x02(?:\.\w+)*"
    r"|\.?[A-Za-z]\w*(?:\.[A-Za-z]\w*)*=-?[\w']+"  # an argument
    r"|(?:[A-Za-z]\w*\.)*[A-Za-z]*_\w*[A-Za-z]"
    r"|\b[A-Z]+Loss\b"
    r"|\b(?!PyTorch|NumPy)[A-Z][A-Za-z]*[a-z][A-Z]\w+",
    re.ASCII,
)
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Answer:
    """What was read, what is wrong with it, and the corrected text where there is one."""

    source: str
    report: Report
    corrected: Corrected | None = None
    starts: tuple[tuple[int, int], ...] = ()
    """Of a notebook: the first line and the number of each cell; of anything else, nothing."""


def answer(source: str, starts: tuple[tuple[int, int], ...] = ()) -> Answer:
    """Check `source`; correct it where that does not take long. What takes long waits for its turn."""
    with TURNS.turn() if len(source) > QUICK_LENGTH else nullcontext():
        try:
            return _answer(source, starts)
        except Exception as error:  # a fault of ours; its message may hold what was pasted, so only its place is logged
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.error("check: %s in %s, line %s", type(error).__name__, place.filename, place.lineno)
    return Answer(source, Report("<pasted>", problem=Problem(NOT_FOLLOWED, {})))


def _answer(source: str, starts: Starts) -> Answer:
    report = check(source)
    corrected = None
    if report.findings and len(source) <= CORRECTED_LENGTH:
        made = correct(source, report=report, seconds=CORRECTING_SECONDS)
        corrected = made if made.fixed else None
    return Answer(source, report, corrected, tuple(starts))


def from_file(name: str, data: bytes) -> tuple[str, tuple[tuple[int, int], ...]] | Problem:
    """The text of an uploaded file; of a notebook its code cells, and where they start."""
    text = data.decode("utf-8-sig", errors="replace")
    if not name.lower().endswith(".ipynb"):
        return text, ()
    try:
        notebook = Notebook.read(text)
    except NotebookError:
        return Problem(NOT_A_NOTEBOOK, {})
    return notebook.text, notebook.starts


def coded(text: str) -> str:
    """`text` with its code words in backticks; values between \\x01 and \\x02 are code."""
    parts = re.split(r"(`[^`]*`)", text)
    parts = [part if part.startswith("`") else _CODE.sub(lambda m: f"`{m.group()}`", part) for part in parts]
    return re.sub("[\x01\x02]", "", "".join(parts))


def told(finding: Finding, template: str, starts: Starts = (), *, digits: bool = True) -> str:
    """A text of the finding's rule in the visitor's language, code words in backticks."""
    values = {}
    for name, value in finding.values.items():
        shown = _UNSEEN.sub("�", str(value)).replace("`", "'")
        if name in _WORDS:
            values[name] = _(shown)
        elif name in _LINES and shown.isdigit():
            values[name] = _line_told(int(shown), finding.line, starts)
        elif digits and name == "k" and shown.isdigit():
            values[name] = localise(shown)
        else:
            values[name] = f"\x01{shown[:60]}\x02"
    return coded(_(template).format(**values))


def _line_told(line: int, of: int, starts: Starts) -> str:
    """The number of a line in a sentence about line `of`; its cell is told where it is another."""
    cell, within = _where(line, starts)
    number = localise(str(within))
    if cell == _where(of, starts)[0]:
        return number
    return _("{number} of cell {cell}").format(number=number, cell=localise(str(cell)))


def problem(found: Problem) -> str:
    """Why a text was not read, in the visitor's language; Python's own reason stays as Python gives it."""
    values = {
        name: localise(str(value)) if isinstance(value, int) else _UNSEEN.sub("�", str(value)).replace("`", "'")
        for name, value in found.values.items()
    }
    return _(found.template).format(**values)


def _where(line: int, starts: Starts) -> tuple[int, int]:
    """The cell of a line, 0 where there are none, and the line within it."""
    return Notebook("", tuple(starts)).where(line) if starts else (0, line)


def place(line: int, starts: Starts) -> str:
    """`line 12`, or for a notebook `cell 3, line 2`."""
    if not starts:
        return _("line {line}").format(line=localise(str(line)))
    cell, within = _where(line, starts)
    return _("cell {cell}, line {line}").format(cell=localise(str(cell)), line=localise(str(within)))


def counts(report: Report) -> dict[str, int]:
    """How many findings there are of each severity."""
    return {name: sum(f.severity == name for f in report.findings) for name in SEVERITIES}


def severity_names() -> dict[str, str]:
    return {"error": _("errors"), "warning": _("warnings"), "info": _("worth knowing")}


def summary(given: Answer) -> str:
    """The one sentence: how much was found of which severity, and what to mend first."""
    report = given.report
    lines = localise(str(given.source.rstrip().count("\n") + 1))
    if not given.source.strip():
        return _("Paste a loop above, upload a file, or choose an example.")
    if report.problem is not None:
        return problem(report.problem)
    if not report.findings and report.truncated:
        return too_much()
    if not report.findings and not report.loop_found:
        return _(
            "There is no training loop in these {lines} lines: no `backward` that an optimizer's `step` belongs to."
        ).format(lines=lines)
    if not report.findings:
        return _("**✓ Nothing found.** {lines} lines read; none of the {rules} rules has anything to say.").format(
            lines=lines, rules=localise(str(len(RULES)))
        )
    found = " · ".join(
        f"{SIGNS[name]} {severity_names()[name]} **{localise(str(count))}**" for name, count in counts(report).items()
    )
    first = min(report.findings, key=lambda f: (SEVERITIES.index(f.severity), f.line))
    text = _("In {lines} lines: {found}. To mend first: **{title}**, {place}.").format(
        lines=lines, found=found, title=coded(_(first.rule.title)), place=place(first.line, given.starts)
    )
    return text if report.loop_found else text + " " + _("There is no training loop in it.")


def too_much() -> str:
    return _("Not all of it could be followed in the time there is: paste only the part with the loop.")


def notes(report: Report) -> str:
    """What had to be seen through to read the text, and whether it was too much to follow."""
    names = {
        "magics": _("notebook magics"),
        "prompts": _("prompts"),
        "quotes": _("curly quotes"),
        "indented": _("stray indentation"),
        "python2": _("Python 2"),
        "tabs": _("tabs"),
        "numbered": _("line numbers"),
    }
    seen = [names[note] for note in report.notes if note in names]
    said = [_("Read in spite of: {what}.").format(what=", ".join(seen))] if seen else []
    if report.truncated:
        said.append(too_much())
    return " ".join(said)


def listing(given: Answer, shown: Sequence[Finding]) -> str:
    """The code with its lines numbered, and those with a finding marked by severity."""
    marks: dict[int, str] = {}
    for finding in shown:
        now = marks.get(finding.line, "info")
        marks[finding.line] = min(now, finding.severity, key=SEVERITIES.index)
    if given.report.problem_line:
        marks[given.report.problem_line] = "error"
    source = given.source.replace("\r\n", "\n").replace("\r", "\n")
    lines = [_UNSEEN.sub("�", line if len(line) <= WIDEST else line[:WIDEST] + " …") for line in source.split("\n")]
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    parts = []
    for first, last in _windows(lines, marks):
        if parts or first > 1:
            parts.append('<span class="fc-gap">⋯</span>')
        made = code_lines("\n".join(lines[first - 1 : last]))
        made = [_line(number, html, marks.get(number), given.starts) for number, html in enumerate(made, first)]
        above = min(marks, default=0) - ABOVE - first
        parts.append(_folded(made[:above]) + "".join(made[above:]) if above >= ABOVE / 2 else "".join(made))
    label = escape(_("Your code, its lines marked"))
    return (
        f'<div class="fc-checked" tabindex="0" role="region" aria-label="{label}">'
        f'<div class="fc-code"><pre><code>{"".join(parts)}</code></pre></div></div>'
    )


def _folded(html: Sequence[str]) -> str:
    """The lines before the first that is marked, to be opened: what matters is seen without scrolling."""
    title = _("{count} lines above").format(count=localise(str(len(html))))
    return f'<details><summary class="fc-gap">{escape(title)}</summary>{"".join(html)}</details>'


def _windows(lines: Sequence[str], marks: Mapping[int, str]) -> list[tuple[int, int]]:
    """The first and last lines of the parts to show."""
    if len(lines) <= WHOLE_LINES and sum(map(len, lines)) <= WHOLE_LENGTH:
        return [(1, len(lines))]
    windows: list[tuple[int, int]] = []
    for line in sorted(marks) or [1]:
        first, last = max(1, line - AROUND), min(len(lines), line + AROUND)
        if windows and first <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], last)
        elif len(windows) < WINDOWS:
            windows.append((first, last))
    return windows


def _line(number: int, html: str, severity: str | None, starts: Starts) -> str:
    sign = SIGNS[severity] if severity else ""
    look = f" fc-{severity}-line" if severity else ""
    said = f' role="img" aria-label="{escape(severity_names()[severity])}"' if severity else ""
    anchor = f' id="line-{number}"' if severity else ""
    cell, within = _where(number, starts)
    title = escape(_("cell {cell}").format(cell=localise(str(cell))))
    above = f'<span class="fc-gap">{title}</span>' if starts and within == 1 else ""
    return f'{above}<span class="fc-numbered{look}"{anchor}><i{said}>{sign}</i><b>{within}</b>{html or " "}</span>'


def grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings of one kind together, what cannot be right first."""
    groups: dict[tuple[int, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((SEVERITIES.index(finding.severity), finding.code), []).append(finding)
    return [groups[key] for key in sorted(groups, key=lambda key: (key[0], groups[key][0].line))]


def card(group: Sequence[Finding], starts: Starts) -> str:
    """The findings of one kind: where, what, why, and what to write instead."""
    finding = group[0]
    severity = finding.severity
    name = {"error": _("error"), "warning": _("warning"), "info": _("worth knowing")}[severity]
    lines = [f'<a href="#line-{f.line}">{escape(place(f.line, starts))}</a>' for f in group[:MOST_LINES]]
    lines += [f"+{localise(str(len(group) - MOST_LINES))}"] * (len(group) > MOST_LINES)
    where = f"{', '.join(lines)} · {finding.code}"
    title = coded(_(finding.rule.title))
    why = told(finding, finding.rule.explanation, starts)
    remedy = told(finding, finding.rule.remedy, starts, digits=False)
    return (
        f'<div class="fc-finding fc-{severity}-found"><h3><span class="fc-sign">{SIGNS[severity]} {escape(name)}</span>'
        f' {rich(title)} <small>{where}</small></h3><p>{rich(why)}</p><p class="fc-remedy">→ {rich(remedy)}</p></div>'
    )


def link(finding: Finding) -> tuple[str, dict[str, str]]:
    """The page where the fault can be watched, and its settings."""
    parts = urlsplit(finding.link)
    return parts.path.strip("/"), dict(parse_qsl(parts.query))


def strip(order: LoopOrder, starts: Starts) -> str:
    """The calls recovered from one loop, in order; then those of the five that were not seen in it."""
    chips = [
        f'<li class="fc-call"><b>{localise(str(nth))}</b><code>{escape(call.name)}</code> {_of(call)}'
        f'<small title="{escape(place(call.line, starts))}">:{localise(str(_where(call.line, starts)[1]))}</small></li>'
        for nth, call in enumerate(order.calls[:MOST_CALLS], 1)
    ]
    if len(order.calls) > MOST_CALLS:
        chips.append(f'<li class="fc-call">+{localise(str(len(order.calls) - MOST_CALLS))}</li>')
    seen = {call.name for call in order.calls}
    unseen = escape(_("not seen"))
    chips += [
        f'<li class="fc-call fc-unseen"><code>{name}</code> <small>{unseen}</small></li>'
        for name in CALLS.values()
        if name not in seen
    ]
    title = escape(_("Loop, {place}").format(place=place(order.line, starts)))
    return f'<div class="fc-strip"><span>{title}</span><ol aria-label="{title}">{"".join(chips)}</ol></div>'


def _of(call: Call) -> str:
    """The network, loss or optimizer that a call belongs to, where the loop has several."""
    if not call.of:
        return ""
    name = _UNSEEN.sub("�", call.of)
    short = name if len(name) <= WIDEST_NAME else name[: WIDEST_NAME - 1] + "…"
    return f'<code class="fc-of">{escape(short)}</code> '


def understood(given: Answer) -> str:
    """The five calls of every loop, as the checker understood them."""
    loops = given.report.loops
    title = escape(_("The five calls as I understood them"))
    strips = [strip(order, given.starts) for order in loops[:MOST_LOOPS]]
    if not loops:
        nothing = _("No training loop was recovered from this text.")
        strips = [f'<p class="fc-sub">{rich(nothing)}</p>']
    more = ""
    if len(loops) > LOOPS:
        rest = escape(_("and {count} more loops").format(count=localise(str(len(loops) - LOOPS))))
        more = f'<details><summary class="fc-sub">{rest}</summary>{"".join(strips[LOOPS:])}</details>'
    return f'<section class="fc-understood"><h2>{title}</h2>{"".join(strips[:LOOPS])}{more}</section>'


def diff(corrected: Corrected) -> str:
    """The corrections as lines taken away and lines put in."""
    rows = []
    lines = [line for line in corrected.diff.split("\n")[2:] if line]
    for line in lines[:MOST_DIFF]:
        kind = {"+": "new", "-": "old", "@": "at"}.get(line[0], "kept")
        text = _UNSEEN.sub("�", line if len(line) <= WIDEST else line[:WIDEST] + " …")
        rows.append(f'<span class="fc-{kind}">{escape(text)}</span>')
    if len(lines) > MOST_DIFF:
        rows.append('<span class="fc-at">⋯</span>')
    label = escape(_("Corrected lines"))
    return f'<pre class="fc-diff" tabindex="0" role="region" aria-label="{label}">{"".join(rows)}</pre>'


def mended(given: Answer) -> str:
    """What the correction mended, each kind once."""
    titles = {rule.code: rule.title for rule in RULES}
    codes = dict.fromkeys(code for code, _line in given.corrected.fixed) if given.corrected else ()
    return " · ".join(f"{coded(_(titles[code]))} ({code})" for code in codes)
