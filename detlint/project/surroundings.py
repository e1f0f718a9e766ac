"""Findings that what lies around their file may settle, also where nothing there is a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.finding import Finding

# Of rules that ask all the files that are linted. By code: the rules need the parser.
_CODES = frozenset({"DET601"})


def may_settle(findings: Iterable[Finding]) -> bool:
    """Whether the files that are linted may settle one of some findings."""
    return any(each.code in _CODES for each in findings)
