"""What code may look up by a name that its text does not tell: ``getattr(models, cfg.model)``."""

from __future__ import annotations

import os
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint.project.outline import MAIN, WHOLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from detlint.project.files import Files
    from detlint.project.imports import Finder

_Place = tuple[str, str]  # a file and a part of its outline
_PACKAGE = "__init__.py"


class Lookups:
    """All that the modules offer which some files hand on as values."""

    def __init__(self, files: Files, finder: Finder, paths: Sequence[str]) -> None:
        self._files = files
        self._finder = finder
        self._paths = paths
        self.offers = cache(self._offers)

    def users(self, path: str, name: str) -> list[_Place]:
        """The parts that may look up what a file defines by a name, told by a look into those
        files only that may hold them."""
        packages = (each for each in self._paths if os.path.basename(each) == _PACKAGE)
        offering = {path, *(each for each in packages if self._may_offer(each, name))}
        handed_on = self._handed_on(offering)
        return [user for user, each in handed_on if (path, name) in self.offers(user[0], each)]

    def indexed_users(self, path: str, name: str) -> Sequence[_Place]:
        """The same, after a look into all files."""
        return self._index.get((path, name), ())

    @cached_property
    def _index(self) -> dict[_Place, list[_Place]]:
        found: dict[_Place, list[_Place]] = {}
        for user, each in self._handed_on(self._paths):
            for place in self.offers(user[0], each):
                found.setdefault(place, []).append(user)
        return found

    def _handed_on(self, modules: Collection[str]) -> Iterator[tuple[_Place, str]]:
        """The parts of files that may hand on some modules, and what they hand on."""
        names = frozenset(map(_module, modules))
        for path in self._paths:
            searched = self._files.searched(path)
            if (
                "" in searched
                or not names.isdisjoint(searched)
                or (self._binds(path, names) and self._hands_on(path, names))
            ):
                for part, each in self._files.handed_on(path):
                    if each == WHOLE or each.removeprefix(WHOLE) in names:
                        yield (path, part), each

    def _binds(self, path: str, names: frozenset[str]) -> bool:
        """Whether a file may import modules of some names."""
        return any(
            not names.isdisjoint(each.names or (each.module.rpartition(".")[2],))
            for each in self._files.imports(path)
        )

    def _hands_on(self, path: str, names: frozenset[str]) -> bool:
        """Whether a file may hand on modules of some names, which it may import."""
        handed = self._files.handed(path)
        return "" in handed or not names.isdisjoint(handed)

    def _may_offer(self, file: str, name: str, met: frozenset[str] = frozenset()) -> bool:
        """Whether a file holds a name, or imports all of one that does."""
        if name in self._files.source(file).text:
            return True
        return file not in met and any(
            self._may_offer(other, name, met | {file})
            for each in self._files.imports(file)
            if "*" in each.names
            for other in self._finder.files(file, each)[-1:]
        )

    def _offers(self, path: str, name: str) -> list[_Place]:
        """What may be looked up in a module that a file imports, or in the file itself."""
        module = name.removeprefix(WHOLE)
        if not module:
            return [*self._public(path, frozenset()), *self._imported(path, frozenset({path}))]
        found = self._modules(path, module)
        return [place for each in found for place in self._public(each, frozenset())]

    def _modules(self, path: str, name: str) -> Iterator[str]:
        for each in self._files.imports(path):
            if name in each.names:
                wanted = each._replace(names=(name,))
            elif each.names or each.module.rpartition(".")[2] != name:
                continue
            else:
                wanted = each
            yield from (file for file in self._finder.files(path, wanted) if _module(file) == name)

    def _public(self, path: str, met: frozenset[str]) -> Iterator[_Place]:
        """What a file defines, and what a package's own file imports to offer it."""
        for part in self._files.outline(path):
            if part != MAIN and part and "." not in part and not part.startswith("_"):
                yield path, part
        if os.path.basename(path) == _PACKAGE:
            yield from self._imported(path, met | {path})

    def _imported(self, path: str, met: frozenset[str]) -> Iterator[_Place]:
        """What a file imports by name, or with all that another one offers."""
        for each in self._files.imports(path):
            for file in self._finder.files(path, each)[-1:]:
                if "*" in each.names and file not in met:
                    yield from self._public(file, met)
                yield from ((file, name) for name in each.names if self._files.defines(file, name))


def _module(path: str) -> str:
    """What a module or package is called."""
    folder, file = os.path.split(path)
    return os.path.basename(folder) if file == _PACKAGE else file.removesuffix(".py")
