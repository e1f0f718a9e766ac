"""Fixes over many files: which ones need it, what they become, what could not be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.fixes.applying import diff, fix, write
from detlint.sources.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.finding import Finding
    from detlint.fixes.applying import Fixed
    from detlint.sources.source import Source

    Lint = Callable[[Source], list[Finding]]


class FixedFiles(NamedTuple):
    """How many findings were fixed; ``failures`` says which files stay as they were."""

    fixed: int
    patches: list[bytes]
    failures: list[str]


def fix_files(
    findings: Sequence[Finding], lint: Lint, *, unsafe: bool, dry_run: bool
) -> FixedFiles:
    """Fix every file that has a finding to fix; with ``dry_run`` only make the patches."""
    fixed, patches, failures = 0, [], []
    offered = (each.path for each in findings if each.fixable and (each.safe or unsafe))
    for path in dict.fromkeys(offered):
        try:
            result, patch = _fix_file(path, lint, unsafe=unsafe, dry_run=dry_run)
        except OSError as error:  # noqa: PERF203 - a file takes longer than the block
            failures.append(f"{path}: not fixed, and left as it was: {error.strerror}")
        else:
            patches.append(patch)
            fixed += len(result.fixed)
    return FixedFiles(fixed, patches, failures)


def _fix_file(path: str, lint: Lint, *, unsafe: bool, dry_run: bool) -> tuple[Fixed, bytes]:
    with open(path, "rb") as file:
        source = decode(path, file.read())
    result = fix(source, lint, unsafe=unsafe)
    if dry_run:
        return result, diff(path, source, result.source)
    if result.fixed:
        write(path, result.source.encode())
    return result, b""
