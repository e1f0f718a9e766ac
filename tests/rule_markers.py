"""The ``# DET301`` markers by which examples and cases say what they expect."""

from __future__ import annotations

import re
import textwrap

_MARKER = re.compile(r"[ \t]*# (possible )?((?:DET\d{3}[, ]*)+)$", re.MULTILINE)


def expected(text: str) -> list[tuple[int, str]]:
    """(row, code) for each marked line; a code stands as often as it is expected."""
    return sorted(
        (text.count("\n", 0, match.start()) + 1, code)
        for match in _MARKER.finditer(text)
        for code in re.findall(r"DET\d{3}", match[2])
    )


def doubtful(text: str) -> set[int]:
    """The rows marked ``# possible DET203``: what is found there is not reported by default."""
    return {
        text.count("\n", 0, match.start()) + 1
        for match in _MARKER.finditer(text)
        if match[1] is not None
    }


def unmarked(text: str) -> str:
    """The text without its markers."""
    return _MARKER.sub("", text)


def dedented(text: str) -> str:
    """An example as the file that it stands for."""
    return textwrap.dedent(text).strip("\n") + "\n"
