"""The Python files of a project, which may settle findings also where none is a program."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.kinds import NOTEBOOK, PYTHON, kind_of_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.index.index import Index


class PythonFiles:
    """The Python files of a context, of which there are ``len``."""

    def __init__(self, paths: Sequence[str], index: Index) -> None:
        self._paths = [each for each in paths if kind_of_name(each) in (PYTHON, NOTEBOOK)]
        self._index = index

    def __len__(self) -> int:
        return len(self._paths)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What they hold; read when it is asked for."""
        return tuple(self._index.source(each).text for each in self._paths)
