"""Where a finding is, as formats name it: by its path in the project, and by what stands there."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.sources.paths import slashed

if TYPE_CHECKING:
    from collections import Counter

    from detlint.finding import Finding
    from detlint.sources.source import Source

_LINE = 1000  # characters of a line that count


def below(path: str, root: str) -> str:
    """A path as it is below a root, with slashes; one elsewhere is absolute."""
    if path == "-":
        return path
    folder, name = os.path.split(os.path.abspath(path))
    full = os.path.join(_real(folder), name)
    return slashed(full.removeprefix(os.path.join(root, "")))


@lru_cache(1)  # findings come sorted by file
def _real(folder: str) -> str:
    return os.path.realpath(folder)


def fingerprint(finding: Finding, place: str, source: Source | None, seen: Counter[str]) -> str:
    """The same as long as the line that the finding is on stays, wherever in the file it moves.

    ``place`` names the file. Where the same finding stands on several such lines, their order
    tells them apart; ``seen`` counts them.
    """
    line = finding.message
    if source is not None and finding.row <= len(source.line_starts):
        line = source.line(finding.row)[:_LINE]
    content = digest(finding.code, place, " ".join(line.split()))
    seen[content] += 1
    return digest(content, str(seen[content]))


def digest(*parts: str) -> str:
    """One for some texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
