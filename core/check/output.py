"""How findings are printed: for people, for programs, for a pull request."""

from __future__ import annotations

import json

from .rule import RULES

SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def text(found) -> str:
    """Two lines a finding, and a count."""
    lines = [
        f"{x.place}: {x.finding.severity} {x.finding.code} {x.finding.title}\n    {x.finding.message} "
        f"{x.finding.remedy}"
        for x in found
    ]
    if found:
        lines.append(f"{len(found)} finding{'s' * (len(found) != 1)}")
    return "\n".join(lines)


def as_json(found) -> str:
    """A list of objects."""
    return json.dumps([x.as_dict() for x in found], indent=2, ensure_ascii=False)


def github(found) -> str:
    """Workflow commands that GitHub shows beside the lines."""

    def escape(value: str, more: str = "") -> str:
        for char in "%\r\n" + more:
            value = value.replace(char, f"%{ord(char):02X}")
        return value

    lines = []
    for x in found:
        f = x.finding
        where = f"file={escape(x.file, ',:')},line={x.line},title={escape(f'{f.code} {f.title}', ',:')}"
        lines.append(f"::{GITHUB_LEVELS[f.severity]} {where}::{escape(f'{f.message} {f.remedy}')}")
    return "\n".join(lines)


def sarif(found) -> str:
    """SARIF 2.1.0."""
    used = sorted({x.finding.code for x in found})
    rules = [
        {
            "id": r.code,
            "shortDescription": {"text": r.title},
            "fullDescription": {"text": r.explanation},
            "help": {"text": r.remedy},
            "defaultConfiguration": {"level": SARIF_LEVELS[r.severity]},
        }
        for r in RULES
        if r.code in used
    ]
    results = [
        {
            "ruleId": x.finding.code,
            "level": SARIF_LEVELS[x.finding.severity],
            "message": {"text": f"{x.finding.message} {x.finding.remedy}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": x.file.replace("\\", "/")},
                        "region": {"startLine": x.line},
                    }
                }
            ],
        }
        for x in found
    ]
    driver = {"name": "five-calls", "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=2, ensure_ascii=False)


FORMATS = {"text": text, "json": as_json, "github": github, "sarif": sarif}
