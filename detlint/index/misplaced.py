"""Modules that lie where no import looks: below a folder that only `PYTHONPATH` names, or that they
were moved to. What a project has one of by its name is what a file means by that."""

from __future__ import annotations

import os
import sys
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint.grouping import grouped
from detlint.models.loading import is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.index.index import Index

_PACKAGE = f"{os.sep}__init__.py"


class Misplaced:
    """Answers for the files of one project.

    root  the folder below which the one module lies that a file imports by a name, if that has all
          that the file takes of it; of several, the one in the folder where a program starts, which
          Python looks through first, whoever imports
    torn  the files that import by a name what several are called
    """

    def __init__(self, index: Index, files: Callable[[], Sequence[str]]) -> None:
        self._index = index
        self._files = files
        self._considered: dict[str, set[str]] = {}
        self.torn: set[str] = set()
        self._roots = cache(self._roots_of)

    def considered(self, importer: str) -> set[str]:
        """The files that the answers for one depend on."""
        return self._considered.get(importer, set())

    def root(self, importer: str, module: str, start: str = "") -> str | None:
        roots = self._roots(importer, module)
        if len(roots) > 1:
            self.torn.add(importer)
            roots &= {start}
        return next(iter(roots), None)

    def _roots_of(self, importer: str, module: str) -> frozenset[str]:
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or is_known(top) or top not in self._parts:
            return frozenset()
        told, homes = self._index.taken(importer, module), self._homes(module)
        if told is None:
            return frozenset()
        names = set(told)
        if homes:
            roots = {root for home, root in homes.items() if self._has(importer, home, names)}
        else:  # a folder that is no package, of which modules are taken
            below = [self._homes(f"{module}.{each}") for each in names]
            roots = {root for each in below for root in each.values()}
            roots = roots if all(map(bool, below)) else set()
        return frozenset(roots)

    def _has(self, importer: str, home: str, names: set[str]) -> bool:
        """Whether a module speaks of all of some names, or has modules that are called so."""
        if home == importer:
            return False
        self._considered.setdefault(importer, set()).add(home)
        inner = (
            self._index.folders.entries(os.path.dirname(home)) if home.endswith(_PACKAGE) else ()
        )
        return all(
            each in inner or f"{each}.py" in inner or self._index.holds(home, [each])
            for each in names
        )

    def _homes(self, module: str) -> dict[str, str]:
        """The files that are called as a module, each with the folder where its name begins."""
        tail = os.sep + module.replace(".", os.sep)
        found = {}
        for path in self._lying.get(module.rpartition(".")[2], ()):
            whole = path.removesuffix(_PACKAGE).removesuffix(".py")
            if whole.endswith(tail):
                found[path] = whole[: -len(tail)]
        return found

    @cached_property
    def _lying(self) -> dict[str, list[str]]:
        """The files, by the last part of the name of the module that each one is."""
        files = (path for path in self._files() if path.endswith(".py"))
        names = ((x.removesuffix(_PACKAGE).removesuffix(".py"), x) for x in files)
        return grouped((os.path.basename(name), path) for name, path in names)

    @cached_property
    def _parts(self) -> frozenset[str]:
        """What the name of a module may begin with."""
        folders = {os.path.dirname(path) for paths in self._lying.values() for path in paths}
        return frozenset([*self._lying, *(x for each in folders for x in each.split(os.sep))])
