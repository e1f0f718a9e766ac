"""Where a name that a file imports is defined: followed through the packages that offer it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from detlint.project.imports import Import, bindings
from detlint.project.outline import FROM, MAIN

if TYPE_CHECKING:
    from detlint.project.files import Files
    from detlint.project.imports import Finder

_Place = tuple[str, str]  # a file and a part of its outline
_PACKAGE = "__init__.py"
_ALL = "*"


class Origins:
    """Answers for the files of one project, each once."""

    def __init__(self, files: Files, finder: Finder) -> None:
        self.finder = finder
        self._files = files
        self._bindings: dict[str, dict[str, list[str]]] = {}
        self._known: dict[_Place, list[_Place] | None] = {}

    def of(self, path: str, name: str) -> list[_Place] | None:
        """The functions and classes that a file means by ``module:name.other``: none where that
        is of a library or a module itself, and None if it is not known."""
        asked = path, name
        if asked not in self._known:
            self._known[asked] = None  # files that import each other's names settle nothing
            self._known[asked] = self._look_up(path, name)
        return self._known[asked]

    def _look_up(self, path: str, name: str) -> list[_Place] | None:
        module, _, chain = name.partition(FROM)
        if not module or not chain:
            return [] if module else None
        first, *others = chain.split(".")
        above = module.lstrip(".")
        if above == module and not self.finder.holds(path, above):
            return []
        wanted = Import(above, len(module) - len(above), ())
        home = self._module(path, wanted, above.rpartition(".")[2])
        inner = self._module(path, wanted._replace(names=(first,)), first)
        inner = None if inner == home else inner
        if home is not None and (home != path or inner is None):
            found = self._held(home, [first, *others])
            if found is not None or inner is None:
                return found
        if inner is not None:
            return self._held(inner, others) if others else []
        if others:  # a folder that is no package
            return self.of(path, f"{module}{'.' if above else ''}{first}{FROM}{'.'.join(others)}")
        return None

    def _module(self, path: str, wanted: Import, name: str) -> str | None:
        """The file of the module that an import names last."""
        found = self.finder.files(path, wanted)
        return found[-1] if found and (not name or _module(found[-1]) == name) else None

    def _held(self, path: str, names: list[str]) -> list[_Place] | None:
        """What a chain of names means in a module."""
        first, *others = names
        if first != MAIN and first in self._files.outline(path):
            return [(path, first)]
        bound = self._bound(path)
        if first in bound:
            return self._of_any(path, [_joined(each, others) for each in bound[first]])
        inner = self._submodule(path, first)
        if inner is not None:
            return self._held(inner, others) if others else []
        stars = [each.removesuffix(_ALL) + ".".join(names) for each in bound.get(_ALL, ())]
        return self._of_any(path, stars)

    def _submodule(self, path: str, name: str) -> str | None:
        if os.path.basename(path) != _PACKAGE:
            return None
        found = self._module(path, Import("", 1, (name,)), name)
        return None if found == path else found

    def _of_any(self, path: str, names: list[str]) -> list[_Place] | None:
        """What is known of some ways to get something."""
        told = [found for each in names if (found := self.of(path, each)) is not None]
        return [place for found in told for place in found] if told else None

    def _bound(self, path: str) -> dict[str, list[str]]:
        if path not in self._bindings:
            self._bindings[path] = bindings(self._files.source(path).text)
        return self._bindings[path]


def _joined(target: str, names: list[str]) -> str:
    module, _, name = target.partition(FROM)
    return module + FROM + ".".join([name, *names] if name else names)


def _module(path: str) -> str:
    """What a module or package is called."""
    folder, file = os.path.split(path)
    return os.path.basename(folder) if file == _PACKAGE else file.removesuffix(".py")
