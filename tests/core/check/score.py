"""Score the checker on a folder of loops: `python tests/core/check/score.py DIR` prints what was found and missed.

DIR holds an `index.tsv` with the columns id, file, kind, lines, expected. A case of kind `correct` must get no error or
warning; any other must get a finding on one of its lines or within two lines of it.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from core.check import check

NEAR = 2


@dataclass
class Score:
    """What happened to each case."""

    found: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    by_kind: dict = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))

    @property
    def precision(self) -> float:
        """Found faults among found faults and false alarms on correct files."""
        return len(self.found) / max(1, len(self.found) + len(self.wrong))

    @property
    def recall(self) -> float:
        """Found faults among all faults."""
        return len(self.found) / max(1, len(self.found) + len(self.missed))


def score(folder: Path) -> Score:
    """Check every case of `folder` against its index."""
    result = Score()
    with (folder / "index.tsv").open(encoding="utf-8") as index:
        for row in csv.DictReader(index, delimiter="\t"):
            report = check((folder / row["file"]).read_text(encoding="utf-8"), row["file"])
            said = [f"{f.line}:{f.code}:{f.severity}" for f in report.findings]
            loud = [f for f in report.findings if f.severity != "info"]
            if row["kind"] == "correct":
                result.by_kind["correct"][2] += bool(loud)
                if loud:
                    result.wrong.append(f"{row['file']}: {' '.join(said)}")
                continue
            lines = [int(n) for n in row["lines"].split(",")]
            near = [f for f in report.findings if any(abs(f.line - n) <= NEAR for n in lines)]
            result.by_kind[row["kind"]][0 if near else 1] += 1
            (result.found if near else result.missed).append(
                f"{row['file']} ({row['kind']} {row['lines']}): {' '.join(said) or report.problem or '-'}"
            )
            far = [f for f in loud if f not in near]
            if far:
                result.elsewhere.append(
                    f"{row['file']} ({row['lines']}): " + " ".join(f"{f.line}:{f.code}" for f in far)
                )
    return result


def main(argv: list[str]) -> int:
    """Print the score of a folder."""
    result = score(Path(argv[0]))
    print(f"{'kind':40} found missed wrong")
    for kind, (found, missed, wrong) in sorted(result.by_kind.items()):
        print(f"{kind:40} {found:5} {missed:6} {wrong:5}")
    for title, cases in (("missed", result.missed), ("wrong", result.wrong), ("also said elsewhere", result.elsewhere)):
        print(f"\n{title}: {len(cases)}", *cases, sep="\n  ")
    if "-v" in argv:
        print("\nfound:", *result.found, sep="\n  ")
    print(f"\nprecision {result.precision:.3f}  recall {result.recall:.3f}")
    return 1 if result.missed or result.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
