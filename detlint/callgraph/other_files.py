"""The files of a project, open to rules that follow values from one into another."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from detlint.dataflow.unit import Unit
from detlint.index.modules import Definitions, Modules
from detlint.paths import relative, slashed

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.index.index import Index


class OtherFiles:
    """Answers for all files of a context; ``root_of`` says below which folder a file's imports
    are looked up; ``alone``: in none."""

    def __init__(self, index: Index, root_of: Callable[[str], str], *, alone: bool = False) -> None:
        self._alone = alone
        self._index = index
        self._root_of = root_of
        self.unit: Callable[[str], Unit] = cache(self._open)
        self._definitions: Callable[[str], Definitions] = cache(self._below)
        self.find: Callable[[Unit, str], list[tuple[Unit, str]]] = cache(self._look_up)

    def _look_up(self, unit: Unit, name: str) -> list[tuple[Unit, str]]:
        """The files, and their parts, that a file means by a qualified name that it imports."""
        module, _, last = name.rpartition(".")
        if self._alone or not module:
            return []
        path = os.path.realpath(unit.source.path)
        definitions = self._definitions(self._root_of(path))
        symbols = definitions.of(path, f"{module}:{last}")
        if symbols is None and module.startswith(".."):  # `from . import data`, then `data.Images`
            symbols = definitions.of(path, f"{module[1:]}:{last}")
        return [(self.unit(each.path), each.part) for each in symbols or ()]

    def shown(self, unit: Unit) -> str:
        """What messages call a file: its path below the project's folder."""
        path = os.path.realpath(unit.source.path)
        return slashed(relative(path, self._root_of(path)))

    def _open(self, path: str) -> Unit:
        return Unit(self._index.source(path))

    def _below(self, root: str) -> Definitions:
        return Definitions(self._index, Modules(root, self._index.folders))
