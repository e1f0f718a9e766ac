"""SARIF 2.1.0, which code scanning services take.

Paragraphs are those of https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import quote

from detlint import __version__
from detlint.addresses import address
from detlint.docs import markdown
from detlint.finding import Confidence
from detlint.reporters import documentation, excerpted, notebook, reader, whole_message
from detlint.reporters.places import below, fingerprint
from detlint.rule import WHY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.finding import Finding, Step
    from detlint.reporters import Report
    from detlint.rule import Rule
    from detlint.sources.source import Source

    Object = dict[str, object]

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
_LEVELS = {
    Confidence.CERTAIN: "error",
    Confidence.LIKELY: "warning",
    Confidence.POSSIBLE: "note",
}
# How much a result deserves a look, from 0 to 100 (3.27.25).
_RANKS = {Confidence.CERTAIN: 90.0, Confidence.LIKELY: 60.0, Confidence.POSSIBLE: 30.0}


def render(report: Report) -> Iterator[str]:
    """One log of one run, with the rules that fired and no others."""
    fired = {finding.code: finding for finding in reversed(report.findings)}
    codes = sorted(fired)
    rules = [_descriptor(fired[code], report.rules(code)) for code in codes]
    root = os.path.realpath(report.root())
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(rules, root)]}
    # The results are the last and only empty list: they go out one by one, a line each,
    # because a large tree's would not fit into memory as objects.
    head, tail = json.dumps(log, indent=2).rsplit("[]", 1)
    yield f"{head}["
    separator = "\n"
    for result in _results(report, codes, root):
        yield f"{separator}        {json.dumps(result)}"
        separator = ",\n"
    yield f"\n      ]{tail}\n"


def _run(rules: list[Object], root: str) -> Object:
    from pathlib import Path

    known = {"informationUri": page} if (page := address("Repository")) else {}
    driver = {"name": "detlint", "version": __version__, **known, "rules": rules}
    return {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],  # a lone \r ends a line for Python
        # The address of a folder ends in a slash (3.14.14).
        "originalUriBaseIds": {
            ROOT: {
                "uri": Path(root).as_uri().removesuffix("/") + "/",
                "description": {"text": "The root of the project"},
            }
        },
        "results": [],
    }


def _descriptor(finding: Finding, rule: type[Rule] | None) -> Object:
    level = _LEVELS[rule.confidence] if rule else "error"
    descriptor: Object = {
        "id": finding.code,
        "name": finding.name,
        "shortDescription": {"text": rule.summary if rule else finding.message},
        **({"helpUri": page} if (page := documentation(finding)) else {}),
        "defaultConfiguration": {"level": level},
        "properties": {"problem.severity": level},
    }
    if rule:
        source = f"\n\nSource: {rule.source}"
        descriptor["fullDescription"] = {"text": rule.parts()[WHY]}
        descriptor["help"] = {
            "text": f"{rule.rationale()}{source}",
            "markdown": f"{markdown(rule)}{source}",
        }
    return descriptor


def _results(report: Report, codes: list[str], root: str) -> Iterator[Object]:
    read = reader(report)
    seen: Counter[str] = Counter()
    for finding in report.findings:
        source = read(finding)
        location = artifact(finding.path, root)
        place = _place(finding, source)
        result: Object = {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": _LEVELS[finding.confidence],
            "rank": _RANKS[finding.confidence],
            "message": {"text": whole_message(finding)},
            "locations": [{"physicalLocation": {"artifactLocation": location, "region": place}}],
            "partialFingerprints": {
                "detlint/v1": fingerprint(
                    finding, location["uri"], excerpted(finding, source), seen
                )
            },
        }
        if finding.way:
            steps = [_step(step, artifact(finding.file_of(step), root)) for step in finding.way]
            result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        if finding.cell is not None:
            result["properties"] = {"cell": finding.cell}
        elif source is not None and finding.edits:
            result["fixes"] = [_fix(finding, source, location)]
        yield result


def _place(finding: Finding, source: Source | None) -> Object:
    if finding.cell is not None:
        whole = notebook(finding, source)  # regions are those of the file, which holds JSON
        return {"startLine": whole.file_row(finding.cell, finding.row) if whole else 1}
    return _region((finding.row, finding.column), (finding.end_row, finding.end_column))


def _step(step: Step, location: dict[str, str]) -> Object:
    region = _region((step.row, step.column), (step.end_row, step.end_column))
    place = {"artifactLocation": location, "region": region}
    return {"location": {"physicalLocation": place, "message": {"text": step.text}}}


def _region(start: tuple[int, int], end: tuple[int, int]) -> Object:
    return {
        "startLine": start[0],
        "startColumn": start[1],
        "endLine": end[0],
        "endColumn": end[1],
    }


def _fix(finding: Finding, source: Source, location: dict[str, str]) -> Object:
    replacements = [
        {
            "deletedRegion": _region(source.location(edit.start), source.location(edit.end)),
            "insertedContent": {"text": edit.replacement},
        }
        for edit in finding.edits
    ]
    return {
        "description": {"text": finding.advice or finding.message},
        "artifactChanges": [{"artifactLocation": location, "replacements": replacements}],
        "properties": {"applicability": "safe" if finding.safe else "unsafe"},
    }


def artifact(path: str, root: str) -> dict[str, str]:
    """A path below the project's root relative to it, any other as an absolute address."""
    inside = below(path, root)
    if os.path.isabs(inside):
        from pathlib import Path

        return {"uri": Path(inside).as_uri()}
    # The bytes of the name: what is not UTF-8 in it has no other spelling in an address.
    return {"uri": quote(os.fsencode(inside)), "uriBaseId": ROOT}
