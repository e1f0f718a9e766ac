"""The files of a project, open to rules that follow values from one into another."""

from __future__ import annotations

import itertools
import os
import re
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.unit import Unit
from detlint.index.modules import Definitions, Modules
from detlint.paths import relative, slashed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.index.index import Index


_MOST = 1_000  # files around one in which it is looked up who imports something
_FEW = 6  # files that import a function are asked what they give it


class OtherFiles:
    """Answers for all files of a context; ``root_of`` says below which folder a file's imports
    are looked up, ``files`` which there are; ``alone``: in none."""

    def __init__(
        self,
        index: Index,
        root_of: Callable[[str], str],
        *,
        files: Callable[[], Sequence[str]] = tuple,
        models: Sequence[tuple[str, str]] = (),
        alone: bool = False,
    ) -> None:
        self._alone = alone
        self._files = files
        self._index = index
        self._models = models
        self._root_of = root_of
        self._busy: set[tuple[Unit, str]] = set()
        self.unit: Callable[[str], Unit] = cache(self._open)
        self._below_folder: Callable[[str], list[str]] = cache(self._python_below)
        self._importers: Callable[[str], dict[str, list[str]]] = cache(self._imported_below)
        self._modules: Callable[[str], Modules] = cache(lambda root: Modules(root, index.folders))
        self._definitions: Callable[[str], Definitions] = cache(self._below)
        self.find: Callable[[Unit, str], list[tuple[Unit, str]]] = cache(self._look_up)

    def has_own_guard(self, unit: Unit) -> bool:
        """Whether `guard` means another's in a file."""
        path = os.path.realpath(unit.source.path)
        return not self._alone and self._modules(self._root_of(path)).has_own_guard(path)

    def _look_up(self, unit: Unit, name: str) -> list[tuple[Unit, str]]:
        """The files, and their parts or variables, that a file means by a qualified name that it
        imports."""
        module, _, last = name.rpartition(".")
        if self._alone or not module:
            return []
        path = os.path.realpath(unit.source.path)
        definitions = self._definitions(self._root_of(path))
        symbols = definitions.of(path, f"{module}:{last}")
        if symbols is None and module.startswith(".."):  # `from . import data`, then `data.Images`
            module = module[1:]
            symbols = definitions.of(path, f"{module}:{last}")
        if symbols is None:
            return self._variable(definitions.module(path, module), last)
        return [(self.unit(each.path), each.part) for each in symbols]

    def _variable(self, home: str | None, name: str) -> list[tuple[Unit, str]]:
        """What a module has by a name that is no function or class of it."""
        unit = self.unit(home) if home is not None else None
        if unit is None or (unit, name) in self._busy:
            return []  # files that import a name from each other
        if name in unit.bound_names and name not in unit.imported:
            return [(unit, name)]
        self._busy.add((unit, name))
        found = [place for each in unit.imported.get(name, ()) for place in self.find(unit, each)]
        self._busy.discard((unit, name))
        return found

    def importing(self, unit: Unit, name: str, member: str = "") -> list[tuple[Unit, str, str]]:
        """The files that import a function or class of a file, or the file itself; by which word
        each of them calls it, and by which qualified name. Not more than a few.

        ``member``: a word that those have to hold that are of use. Then what is imported within
        functions, by ``import a.b`` and by ``*`` counts, too.
        """
        if self._alone:
            return []
        home, found = os.path.realpath(unit.source.path), []
        importers = self._importers(self._around(home))
        module = os.path.basename(home).removesuffix(".py")
        asked = dict.fromkeys((*importers.get(name, ()), *importers.get(module, ())))
        for path in itertools.islice(asked, _FEW):
            if member and not _reads(self._index.source(path).text, name, member):
                continue
            other = self.unit(path)
            ways = [*_meanings(other, name, module)]
            known = {full for full, _ in ways}
            further = self._further(path, name, module) if member else ()
            ways += [each for each in dict.fromkeys(further) if each[0] not in known]
            found += [(other, word, full) for full, word in ways if self._is_of(other, full, home)]
        return found

    def _further(self, path: str, name: str, module: str) -> Iterator[tuple[str, str]]:
        """The same as ``_meanings`` of imports within functions, by a dotted name or by ``*``."""
        for wanted in self._index.imports(path):
            dotted = f"{'.' * wanted.level}{wanted.module}"
            of_module = wanted.module.rpartition(".")[2] == module
            if name in wanted.names or (of_module and not {*wanted.names} - {"*"}):
                yield f"{dotted}.{name}", name

    def _is_of(self, unit: Unit, name: str, home: str) -> bool:
        """Whether what a file means by a name is of a file."""
        return any(os.path.realpath(at.source.path) == home for at, _ in self.find(unit, name))

    def _around(self, path: str) -> str:
        """The largest folder around a file that has not too many files."""
        root, folder = self._root_of(path), os.path.dirname(path)
        while folder != root and len(self._below_folder(os.path.dirname(folder))) <= _MOST:
            folder = os.path.dirname(folder)
        return folder

    def _python_below(self, folder: str) -> list[str]:
        start = os.path.join(folder, "")
        return [each for each in self._python if each.startswith(start)]

    @cached_property
    def _python(self) -> list[str]:
        return [each for each in self._files() if each.endswith(".py")]

    def _imported_below(self, folder: str) -> dict[str, list[str]]:
        """Which files of a folder import something, or a module, by a name."""
        found: dict[str, list[str]] = {}
        files = self._below_folder(folder)
        if len(files) > _MOST:
            files = [each for each in files if os.path.dirname(each) == folder]
        for path in files:
            imports = self._index.imports(path)
            whole = (each for each in imports if not {*each.names} - {"*"})
            modules = (each.module.rpartition(".")[2] for each in whole)
            for name in {*modules, *(name for each in imports for name in each.names)}:
                found.setdefault(name, []).append(path)
        return found

    def shown(self, unit: Unit) -> str:
        """What messages call a file: its path below the project's folder."""
        return self._shown(os.path.realpath(unit.source.path))

    def _shown(self, path: str) -> str:
        return slashed(relative(path, self._root_of(path)))

    def _open(self, path: str) -> Unit:
        source, find = self._index.source(path), None if self._alone else self.find
        return Unit(source, models=self._models, path=self._shown(path), find=find)

    def _below(self, root: str) -> Definitions:
        return Definitions(self._index, self._modules(root))


def _meanings(unit: Unit, name: str, module: str) -> Iterator[tuple[str, str]]:
    """By which qualified names, and by which words, a file may mean what a module has by a
    name."""
    for bound, meanings in unit.imported.items():
        for each in meanings:
            last = each.rpartition(".")[2]
            if last == name:
                yield each, bound
            elif last == module:
                yield f"{each}.{name}", name


def _reads(text: str, name: str, member: str) -> bool:
    """Whether a text does more than import a name, as far as the words in it tell."""
    if member != name:
        return f".{member}" in text or re.search(rf"\bclass\b[^\n]*\b{name}\b", text) is not None
    otherwise = f"{name} as ", f".{name}", "import *"
    return text.count(name) > 1 or any(each in text for each in otherwise)
