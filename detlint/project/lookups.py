"""What code may look up by a name that its text does not tell: ``getattr(models, cfg.model)``."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from detlint.project.outline import MAIN, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.project.files import Files
    from detlint.project.imports import Finder

_Place = tuple[str, str]  # a file and a part of its outline
_PACKAGE = "__init__.py"


class Lookups:
    """All that the modules offer which some files hand on as values."""

    def __init__(self, files: Files, finder: Finder, paths: Sequence[str]) -> None:
        self._files = files
        self._finder = finder
        self.offers = cache(self._offers)
        self._users: dict[_Place, list[_Place]] = {}
        for path in paths:
            for part, name in files.handed_on(path):
                self._index((path, part), name)

    def users(self, path: str, name: str) -> Sequence[_Place]:
        """The parts that may look up what a file defines by a name."""
        return self._users.get((path, name), ())

    def _index(self, user: _Place, name: str) -> None:
        for place in self.offers(user[0], name):
            self._users.setdefault(place, []).append(user)

    def _offers(self, path: str, name: str) -> list[_Place]:
        """What may be looked up in a module that a file imports, or in the file itself."""
        module = name.removeprefix(WHOLE)
        found = self._modules(path, module) if module else [path]
        return [place for each in found for place in self._public(each, frozenset())]

    def _modules(self, path: str, name: str) -> Iterator[str]:
        for each in self._files.imports(path):
            if name in each.names:
                wanted = each._replace(names=(name,))
            elif each.names or each.module.rpartition(".")[2] != name:
                continue
            else:
                wanted = each
            yield from (file for file in self._finder.files(path, wanted) if _is_called(file, name))

    def _public(self, path: str, met: frozenset[str]) -> Iterator[_Place]:
        """What a file defines, and what a package's own file imports to offer it."""
        for part in self._files.outline(path):
            if part != MAIN and part and "." not in part and not part.startswith("_"):
                yield path, part
        if os.path.basename(path) != _PACKAGE:
            return
        met |= {path}
        for each in self._files.imports(path):
            for file in self._finder.files(path, each)[-1:]:
                if "*" in each.names and file not in met:
                    yield from self._public(file, met)
                yield from ((file, name) for name in each.names if self._files.defines(file, name))


def _is_called(path: str, name: str) -> bool:
    folder, file = os.path.split(path)
    return file == f"{name}.py" or (file == _PACKAGE and os.path.basename(folder) == name)
