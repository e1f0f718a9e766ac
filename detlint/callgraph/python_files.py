"""The Python files that are linted, which may settle findings also where none is a program."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.kinds import NOTEBOOK, PYTHON, kind_of_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detlint.finding import Finding
    from detlint.index.index import Index

# Of rules that ask all the files that are linted. By code: the rules need the parser.
_CODES = frozenset({"DET601"})


def may_settle(findings: Iterable[Finding]) -> bool:
    """Whether the files that are linted may settle one of some findings."""
    return any(each.code in _CODES for each in findings)


class PythonFiles:
    """The Python files that are linted, of which there are ``len``."""

    def __init__(self, paths: Sequence[str], index: Index) -> None:
        self._paths = [each for each in paths if kind_of_name(each) in (PYTHON, NOTEBOOK)]
        self._index = index

    def __len__(self) -> int:
        return len(self._paths)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What they hold; read when it is asked for."""
        return tuple(self._index.source(os.path.realpath(each)).text for each in self._paths)
