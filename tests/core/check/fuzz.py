"""Throw mutated texts at the checker: `python tests/core/check/fuzz.py 20000 [SEED]` prints the slowest, or
the first failure.
"""

from __future__ import annotations

import ast
import logging
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from core.check import check

SEEDS = [p.read_text() for p in sorted((Path(__file__).parent / "fixtures").glob("*/*.py"))]
BITS = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\n",
    "    ",
    '"',
    "'",
    "'''",
    "#",
    "\\",
    "\x00",
    "\t",
    "lambda",
    "yield ",
    "await ",
    "*",
    "**",
    "=",
    ":=",
    "ত",
    "变量",
    "🙂",
    "\u202e",
    "\ud800",
    "@",
    "->",
    "match x:\n case",
    "global x\n",
    "super()",
    "0x",
    "1e999",
    "f'{",
    ">>> ",
    "%",
    "!",
]


def graft(rng: random.Random) -> str:
    """A text that parses: expressions and statements of two texts, put in each other's place."""
    trees = [ast.parse(rng.choice(SEEDS)) for _ in range(2)]
    slots = [
        (node, name, i, value)
        for tree in trees
        for node in ast.walk(tree)
        for name, field in ast.iter_fields(node)
        for i, value in (enumerate(field) if isinstance(field, list) else [(None, field)])
        if isinstance(value, (ast.expr, ast.stmt)) and isinstance(getattr(value, "ctx", ast.Load()), ast.Load)
    ]
    for _ in range(rng.randint(1, 8)):
        node, name, i, value = rng.choice(slots)
        kind = ast.stmt if isinstance(value, ast.stmt) else ast.expr
        new = rng.choice([s for s in slots if isinstance(s[3], kind)])[3]
        new = ast.parse(ast.unparse(new)).body[0] if kind is ast.stmt else ast.parse(ast.unparse(new), mode="eval").body
        field = getattr(node, name)
        if i is None:
            setattr(node, name, new)
        elif i < len(field):
            field[i] = new
    return ast.unparse(trees[0])


def mutate(rng: random.Random) -> str:
    """One text: grafted, or cut, doubled, shuffled, nested, or sprinkled with odd characters."""
    if rng.random() < 0.5:
        try:
            return graft(rng)
        except (SyntaxError, ValueError, RecursionError):  # nonsense that cannot be written out
            pass
    text = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 4)):
        lines, kind = text.split("\n"), rng.randrange(9)
        i, j = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        if kind == 0:
            text = text[:i] + text[j:]
        elif kind == 1:
            text = text[:j] + text[i:]
        elif kind == 2:
            rng.shuffle(lines)
            text = "\n".join(lines)
        elif kind == 3:
            text = text[:i] + rng.choice(BITS) * rng.choice((1, 1, 2, 50)) + text[i:]
        elif kind == 4:
            text = "\n".join(" " * rng.choice((0, 0, 1, 4)) + x for x in lines)
        elif kind == 5:
            depth = rng.randint(1, 120)
            text = "x = " + "f(" * depth + "1" + ")" * depth + "\n" + text
        elif kind == 6:
            del lines[rng.randrange(len(lines))]
            text = "\n".join(lines) + "\n" + rng.choice(SEEDS)
        elif kind == 7:
            words = text.split(" ")
            a, b = rng.randrange(len(words)), rng.randrange(len(words))
            words[a], words[b] = words[b], words[a]
            text = " ".join(words)
        else:
            text = (
                text[:i]
                + "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))) for _ in range(5))
                + text[i:]
            )
    return text[:20_000]


class Loud(logging.Handler):
    """Turns a failure that the checker answers in spite of into one that is seen."""

    def emit(self, record):
        raise AssertionError(record.getMessage())


def run(times: int, seed: int = 0) -> float:
    """Check `times` mutated texts; return the longest time one took."""
    rng, slowest = random.Random(seed), 0.0  # noqa: S311 - no secret
    logging.getLogger("core.check").addHandler(Loud())
    for number in range(times):
        text = mutate(rng)
        started = time.monotonic()
        try:
            report = check(text)
            assert report.problem is None or str(report.problem)
        except BaseException:
            Path("fuzz_failure.txt").write_text(text, encoding="utf-8", errors="surrogatepass")
            print(f"text {number} of seed {seed}, kept in fuzz_failure.txt")
            raise
        slowest = max(slowest, time.monotonic() - started)
    return slowest


if __name__ == "__main__":
    try:
        print(f"slowest {run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0):.3f} s")
    except Exception:
        traceback.print_exc()
        sys.exit(1)
