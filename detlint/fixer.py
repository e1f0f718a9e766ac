"""Fixes over many files: which ones need it, what they become, what could not be written."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from detlint.fixes import diff, fix, write
from detlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.engine import Engine
    from detlint.finding import Finding


class FixedFiles(NamedTuple):
    """``findings`` is what is left to show; ``failures`` says which files stay as they were."""

    findings: list[Finding]
    fixed: int
    patches: list[bytes]
    failures: list[str]


def fix_files(
    findings: Sequence[Finding], engine: Engine, *, unsafe: bool, dry_run: bool
) -> FixedFiles:
    """Fix every file that has a finding to fix; with ``dry_run`` only make the patches."""
    outcome = FixedFiles([], 0, [], [])
    for path, group in groupby(findings, key=lambda finding: finding.path):
        listed = list(group)
        if any(each.fixable and (each.safe or unsafe) for each in listed):
            outcome = _fix_file(path, listed, outcome, engine, unsafe=unsafe, dry_run=dry_run)
        else:
            outcome.findings.extend(listed)
    return outcome


def _fix_file(
    path: str,
    listed: list[Finding],
    outcome: FixedFiles,
    engine: Engine,
    *,
    unsafe: bool,
    dry_run: bool,
) -> FixedFiles:
    try:
        with open(path, "rb") as file:
            source = Source.decode(path, file.read())
        result = fix(source, engine.lint, unsafe=unsafe)
        if dry_run:
            outcome.patches.append(diff(path, source, result.source))
        else:
            write(path, result.source.encode())
    except OSError as error:
        outcome.findings.extend(listed)
        outcome.failures.append(f"{path}: not fixed, and left as it was: {error.strerror}")
        return outcome
    outcome.findings.extend(result.remaining)
    return outcome._replace(fixed=outcome.fixed + len(result.fixed))
