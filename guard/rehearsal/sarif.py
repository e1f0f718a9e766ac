"""SARIF 2.1.0, so that code scanning can hold a change to what preflight finds."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from detlint.addresses import address
from guard.rehearsal.findings import FOUND, RAISES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.rehearsal.findings import Finding, OtherSource, Report, Where

    Object = dict[str, object]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT = "%SRCROOT%"
_RULES = {
    "preflight/raises": "torch refuses this operator on a GPU with determinism on",
    "preflight/silent": "this operator differs from run to run on a GPU, and nothing says so",
    "preflight/unknown": "this operator is of another library, and nobody has looked at it",
    "preflight/source": "runs differ by this, which is no operator",
}


def log(report: Report) -> Object:
    """One log of one run; what could not be seen stands among its notifications."""
    results = list(_results(report))
    used = sorted({str(each["ruleId"]) for each in results})
    for each in results:
        each["ruleIndex"] = used.index(str(each["ruleId"]))
    rules = [{"id": name, "shortDescription": {"text": _RULES[name]}} for name in used]
    known = {"informationUri": page} if (page := address("Repository")) else {}
    driver = {"name": "guard preflight", **known, "rules": rules}
    notes = [{"level": "note", "message": {"text": each}} for each in report.limits]
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {
                "executionSuccessful": report.complete,
                "toolExecutionNotifications": notes,
            }
        ],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that guard ran in"}}},
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(report: Report) -> Iterator[Object]:
    for finding in report.findings:
        if finding.verdict in FOUND:
            level = "error" if finding.verdict == RAISES else "warning"
            yield _result(f"preflight/{finding.verdict}", level, _text(finding), finding.where)
    for source in report.sources:
        level = "warning" if source.counts else "note"
        yield _result("preflight/source", level, _told(source), source.where)


def _result(rule: str, level: str, text: str, where: Where | None) -> Object:
    result: Object = {"ruleId": rule, "level": level, "message": {"text": text}}
    if where is not None:
        location = _artifact(where.filename)
        region = {"startLine": max(1, where.line)}
        result["locations"] = [
            {"physicalLocation": {"artifactLocation": location, "region": region}}
        ]
    # The same wherever in the file the line moves.
    parts = (rule, text, "" if where is None else os.path.basename(where.filename))
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    result["partialFingerprints"] = {"guardPreflight/v1": digest}
    return result


def _artifact(path: str) -> Object:
    """A path below the working folder relative to it, any other as an absolute address."""
    full = os.path.abspath(path)
    root = os.path.join(os.getcwd(), "")
    if full.startswith(root):
        inside = full[len(root) :].replace(os.sep, "/")
        return {"uri": quote(os.fsencode(inside)), "uriBaseId": _ROOT}
    from pathlib import Path

    return {"uri": Path(full).as_uri()}


def _text(finding: Finding) -> str:
    where = finding.where
    module = f" in module {where.module} ({where.kind})" if where and where.module else ""
    condition = f", {finding.condition}" if finding.condition else ""
    advice = f" Instead: {finding.alternative}." if finding.alternative else ""
    name = finding.name or finding.operator
    return f"{finding.verdict}: {finding.direction} of {name}{module}{condition}.{advice}"


def _told(source: OtherSource) -> str:
    return f"{source.name}: {source.text}. {source.advice}."
