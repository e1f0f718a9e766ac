"""Fixes over many files: which ones need it, what they become, what could not be written."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from detlint.fixes import diff, fix, write
from detlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.finding import Finding
    from detlint.fixes import Fixed

    Lint = Callable[[Source], list[Finding]]


class FixedFiles(NamedTuple):
    """``findings`` is what is left to show; ``failures`` says which files stay as they were."""

    findings: list[Finding]
    fixed: int
    patches: list[bytes]
    failures: list[str]


def fix_files(
    findings: Sequence[Finding], lint: Lint, *, unsafe: bool, dry_run: bool
) -> FixedFiles:
    """Fix every file that has a finding to fix; with ``dry_run`` only make the patches."""
    outcome = FixedFiles([], 0, [], [])
    for path, group in groupby(findings, key=lambda finding: finding.path):
        listed = list(group)
        if any(each.fixable and (each.safe or unsafe) for each in listed):
            try:
                result, patch = _fix_file(path, lint, unsafe=unsafe, dry_run=dry_run)
            except OSError as error:
                failure = f"{path}: not fixed, and left as it was: {error.strerror}"
                outcome.failures.append(failure)
            else:
                outcome.patches.append(patch)
                outcome = outcome._replace(fixed=outcome.fixed + len(result.fixed))
                listed = result.remaining
        outcome.findings.extend(listed)
    return outcome


def _fix_file(path: str, lint: Lint, *, unsafe: bool, dry_run: bool) -> tuple[Fixed, bytes]:
    with open(path, "rb") as file:
        source = Source.decode(path, file.read())
    result = fix(source, lint, unsafe=unsafe)
    if dry_run:
        return result, diff(path, source, result.source)
    if result.fixed:
        write(path, result.source.encode())
    return result, b""
