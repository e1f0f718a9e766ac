"""How surely a line of a function runs whenever that is called, told from the lines above it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.source import Source

_HANDLER = re.compile(r"except\b")
_FUNCTION = re.compile(r"(?:async[ \t]+)?def\b|class\b")
# What holds for most calls, or whenever something is trained.
_USUAL = re.compile(r"train|shuffle|rand(?:om)?\b|\bprob|isinstance|__name__|rank", re.IGNORECASE)
_BRANCH = re.compile(r"if\b(.*)|el(?:if|se)\b(.*)")


def doubts(source: Source, row: int, *, own: bool) -> int:
    """0 for a line that runs for sure, 1 for one behind a test, 2 for one that handles an error.
    ``own``: in the program's own file, of whose branches one is taken."""
    found = [_doubt(each) for each in _headers(source, row)]
    worst = max(found, default=0)
    return 0 if own and worst == 1 else worst


def _doubt(header: str) -> int:
    if _HANDLER.match(header):
        return 2
    branch = _BRANCH.match(header)
    return 1 if branch is not None and not _USUAL.search(header) else 0


def _headers(source: Source, row: int) -> Iterator[str]:
    """The first lines of the blocks around a line of a function, or of the file."""
    depth = len(source.line(row)) - len(source.line(row).lstrip())
    for above in range(row - 1, 0, -1):
        line = source.line(above)
        stripped = line.lstrip()
        if not stripped or stripped.startswith(("#", ")", "]", "}")):
            continue
        indent = len(line) - len(stripped)
        if indent < depth:
            depth = indent
            yield stripped
            if _FUNCTION.match(stripped) or not depth:
                return
