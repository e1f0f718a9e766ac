"""The files of a project, open to rules that follow values from one into another."""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from detlint.callgraph.python_files import PythonFiles
from detlint.callgraph.roles import is_below_tests
from detlint.dataflow.memory.parameters import fillers
from detlint.dataflow.orders.tables import may_be_same, reads
from detlint.dataflow.slices import closure
from detlint.dataflow.unit import Unit, Units
from detlint.index.misplaced import Misplaced
from detlint.index.modules import Definitions, Modules, module_of
from detlint.index.requirements import asks_for_older
from detlint.models import files
from detlint.models.model import words
from detlint.models.training import TENSORS
from detlint.sources.kinds import CUDA, NOTEBOOK, PYTHON, kind_of_name
from detlint.sources.paths import relative, slashed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from detlint.index.index import Index


_LISTING = ("parameters(",)
_STARTS = ("__main__",)
_MOST = 1_000  # files around one in which it is looked up who imports something
_MANY = 24  # files that have a function, which are asked what they give it
_WAYS = 200  # names by which files have one, those that only hand it on included
_READING = tuple(sorted({f"{name.rpartition('.')[2]}(" for name in files.READERS}))
_SHORT = 3  # letters of a name, of which less are found anywhere
# What takes rows by their places.
_SPLITTING = tuple(
    f"{each}("
    for each in words(
        """GroupKFold KFold LeaveOneOut ShuffleSplit StratifiedKFold StratifiedShuffleSplit
        random_split sample shuffle train_test_split"""
    )
)


class OtherFiles:
    """Answers for all files of a context; ``root_of`` says below which folder a file's imports
    are looked up, ``below`` which have such a folder; ``alone``: in none."""

    def __init__(
        self,
        index: Index,
        root_of: Callable[[str], str],
        *,
        below: Callable[[str], Sequence[str]] = lambda _root: (),
        models: Sequence[tuple[str, str]] = (),
        alone: bool = False,
    ) -> None:
        self.alone = alone
        self._index = index
        self._models = models
        self._root_of = root_of
        self._looked_at = defaultdict[str, set[str]](set)  # other files, by that which asked
        self._asked = defaultdict[str, set[tuple[str, ...]]](set)  # of each file
        # Without a cache it asks the file system about each folder of a path.
        self._real: Callable[[str], str] = cache(os.path.realpath)
        index.units = Units(self._open)
        self.unit: Callable[[str], Unit] = index.units.held
        self._python: Callable[[str], list[str]] = cache(
            lambda root: [each for each in below(root) if each.endswith((".py", ".ipynb"))]
        )
        self._below_folder: Callable[[str, str], list[str]] = cache(self._python_below)
        self._importers: Callable[[str, str], dict[str, list[str]]] = cache(self._imported_below)
        self._imported: Callable[[str], frozenset[str]] = cache(self._imports_of)
        self._required: Callable[[str], list[str]] = cache(index.required)
        self._beside: Callable[[str], list[str]] = cache(self._files_beside)
        self._misplaced: Callable[[str], Misplaced] = cache(
            lambda root: Misplaced(index, partial(self._python, root))
        )
        self._modules: Callable[[str], Modules] = cache(
            lambda root: Modules(root, index.folders, self._misplaced(root))
        )
        self._definitions: Callable[[str], Definitions] = cache(
            lambda root: Definitions(index, self._modules(root))
        )
        self._readers: Callable[[str], Readers] = cache(
            lambda root: Readers(index, below(root), self)
        )
        self.python_files: Callable[[str], PythonFiles] = cache(
            lambda root: PythonFiles(below(root), index)
        )
        self.find = cache(self._look_up)
        self._having = cache(self._look_up_importers)

    def make_room(self) -> None:
        """Close the files that are open, where many stay so: between questions."""
        if self._index.units.make_room(len(self._index.known)):
            self.find.cache_clear()
            self._having.cache_clear()

    def has_own_guard(self, unit: Unit) -> bool:
        """Whether `guard` means another's in a file."""
        path = self._real(unit.source.path)
        return not self.alone and self._modules(self._root_of(path)).has_own_guard(path)

    def _look_up(self, unit: Unit, name: str) -> list[tuple[Unit, str]]:
        """The files, and their parts or variables, that a file means by a qualified name that it
        imports."""
        if self.alone or "." not in name:
            return []
        path = self._real(unit.source.path)
        root = self._root_of(path)
        found, looked_at = self._definitions(root).places(path, name, self.unit, self.find)
        self._looked_at[path].update(looked_at, self._misplaced(root).considered(path))
        return found

    def importing(self, unit: Unit, name: str, member: str = "") -> list[tuple[Unit, str, str]]:
        """The files that have a function or class of a file, also by way of others; by which word
        each of them calls it, and by which qualified name. Not more than some.

        ``member``: a word that those have to hold that are of use. Then what is imported within
        functions, by ``import a.b`` and by ``*`` counts, too.
        """
        return [] if self.alone else self._having(unit, name, member)

    def _look_up_importers(self, unit: Unit, name: str, member: str) -> list[tuple[Unit, str, str]]:
        home = self._real(unit.source.path), name
        found: list[tuple[Unit, str, str]] = []
        held = [home]
        of, all_of = self._index.source, partial(self._index.holds, words=("import *",))
        read = cache(lambda path, own, word: _reads(of(path).text, own, word, all_of(path)))
        hand_on = cache(lambda path, word: all_of(path) or _hands_on(of(path).text, word))
        for path, own in held:  # grows by those of which others may have it
            words = own.partition(".")[0], module_of(path)
            for other in self._asked_for("importers", path, own):
                self._looked_at[path].add(other)
                last = own.rpartition(".")[2]
                reads = read(other, last, last if member in ("", name) else member)
                if not reads and not any(hand_on(other, word) for word in words):
                    continue
                ways = [*self._ways(other, own, module_of(path))]
                ways += self._further(other, own, module_of(path)) if member else ()
                for full, chain in ways:
                    # Files that import each other have it by ever longer names.
                    again = any(at == other and f".{chain}".endswith(f".{x}") for at, x in held)
                    if again or not self._is_of(self.unit(other), full, *home):
                        continue
                    held.append((other, chain))
                    if reads:
                        found.append((self.unit(other), chain.rpartition(".")[2], full))
            if len(found) > _MANY or len(held) > _WAYS:
                break
        return found

    def _asked_for(self, question: str, home: str, *words: str) -> Any:  # noqa: ANN401 - of each
        """Answer a question, and note that what is told of a file depends on the answer."""
        self._asked[home].add((question, *words))
        return self.answer((question, home, *words))

    def answer(self, asked: Sequence[str]) -> Any:  # noqa: ANN401 - of each
        """What files that no import leads to say of one; ``asked`` as ``looked_at`` tells it."""
        answers: dict[str, Callable[..., Any]] = {
            "fills": self._fills,
            "importers": self._importing,
            "installed": lambda home: self.python_files(self._root_of(home)).is_installed(home),
            "lacks": self._lacks,
            "looked up": self._looked_up,
            "named": self._named,
            "reads": self._reads_table,
            "trains": lambda home: self.python_files(self._root_of(home)).train,
        }
        return answers[asked[0]](*asked[1:])

    def _importing(self, home: str, name: str) -> list[str]:
        """The files that may import something of a file, by their real paths."""
        importers, module = self._importers(*self._around(home)), module_of(home)
        first = name.partition(".")[0]
        asked = dict.fromkeys((*importers.get(first, ()), *importers.get(module, ())))
        return [each for each in asked if each != home and home in self._imported(each)]

    def _imports_of(self, path: str) -> frozenset[str]:
        """The files that those run which a file imports."""
        modules = self._modules(self._root_of(path))
        wanted = self._index.imports(path, typed=True)
        return frozenset(found for each in wanted for found in modules.files(path, each))

    def looked_at(self, path: str) -> tuple[list[str], list[tuple[str, ...]]]:
        """The files that what was told of one may depend on, and what `answer` was asked about
        these: whatever any question has led to from there."""
        found = [path]
        for each in found:  # grows
            found += sorted(self._looked_at[each] - set(found))
        return found, [(q, each, *ws) for each in found for q, *ws in sorted(self._asked[each])]

    def _ways(self, path: str, name: str, module: str) -> Iterator[tuple[str, str]]:
        """By which qualified names a file may mean what a module has by a name, and by which
        names it has that itself."""
        first, dot, rest = name.partition(".")
        rest = dot + rest
        for bound, meanings in self.unit(path).imported.items():
            for each in meanings:
                last = each.rpartition(".")[2]
                if last == first:
                    yield f"{each}{rest}", f"{bound}{rest}"
                elif last == module:
                    yield f"{each}.{name}", f"{bound}.{name}"

    def _further(self, path: str, name: str, module: str) -> Iterator[tuple[str, str]]:
        """The same of imports within functions, by a dotted name or by ``*``."""
        first = name.partition(".")[0]
        for wanted in self._index.imports(path, typed=True):
            dotted = f"{'.' * wanted.level}{wanted.module}."
            last = wanted.module.rpartition(".")[2]
            if first in wanted.names or ("*" in wanted.names and last in ("", module)):
                yield f"{dotted}{name}", name
            if module in wanted.names:
                yield f"{dotted}{module}.{name}", name
            if not wanted.names and last == module:
                yield f"{dotted}{name}", f"{dotted}{name}"

    def _is_of(self, unit: Unit, full: str, home: str, name: str) -> bool:
        """Whether a file means what another one has by a name."""
        return any(
            self._real(at.source.path) == home and part == name
            for at, part in self.find(unit, full)
        )

    def lacks(self, unit: Unit, library: str, release: str) -> bool:
        """Whether the project of a file asks for releases of a library that all come before one,
        in the nearest folder that asks for it."""
        return bool(self._asked_for("lacks", self._real(unit.source.path), library, release))

    def _lacks(self, path: str, library: str, release: str) -> bool:
        root, folder = self._root_of(path), os.path.dirname(path)
        required = self._required
        return not self.alone and asks_for_older(folder, root, required, library, release)

    def name(self, unit: Unit, word: str) -> bool:
        """Whether one that may be part of a program with a file names something, for all that is
        known."""
        return bool(self._asked_for("named", self._real(unit.source.path), word))

    def _named(self, home: str, word: str) -> bool:
        if self.alone or len(self._python(self._root_of(home))) < 2:
            return True
        return any(self._index.holds(each, [word]) for each in self._beside(home) if each != home)

    def look_up(self, unit: Unit, word: str) -> bool:
        """Whether one of these looks something up by a name in what is no module, for all that is
        known."""
        return bool(self._asked_for("looked up", self._real(unit.source.path), word))

    def _looked_up(self, home: str, word: str) -> bool:
        holders = (x for x in self._beside(home) if x != home and self._index.holds(x, [word]))
        quoted = f'"{word}"', f"'{word}'"
        return self.alone or any(
            self._index.holds(path, quoted)
            or not all(map(self.unit(path).values.qualified, self.unit(path).reads("attr", word)))
            for path in holders
        )

    def go_by_table(self, unit: Unit, kind: str, *names: str) -> bool:
        """Whether a project may go by the order of a table that a file of it writes, of a kind and
        under one of some names, which have stars for what is not seen."""
        return bool(self._asked_for("reads", self._real(unit.source.path), kind, *names))

    def _reads_table(self, home: str, kind: str, *names: str) -> bool:
        return not self.alone and self._readers(self._root_of(home)).any_of(kind, names)

    def fill_parameters(self, unit: Unit, name: str) -> bool:
        """Whether one that may be part of a program with a file gives all the parameters of a
        model, or one of a name, their first values: what most layers have is rather another's."""
        own = "" if name in TENSORS else name
        return bool(self._asked_for("fills", self._real(unit.source.path), own))

    def _fills(self, home: str, name: str) -> bool:
        beside = [each for each in self._beside(home) if each != home]
        words = (*_LISTING, f".{name}") if name else _LISTING
        listing = (each for each in beside if self._index.holds(each, words))
        return any(
            not word or self._index.source(each).text.count(word) > 1 or self._named(each, word)
            for each in listing
            for word in fillers(self.unit(each), name)
        )

    def tests(self, unit: Unit) -> bool:
        """Whether a file lies in a folder of tests."""
        path = self._real(unit.source.path)
        return is_below_tests(os.path.relpath(path, self._root_of(path)))

    def is_installed(self, unit: Unit) -> bool:
        """Whether a file may be one of a package that others install."""
        return self.alone or self._asked_for("installed", self._real(unit.source.path))

    def train(self, unit: Unit) -> bool:
        """Whether the project of a file trains something, whether or not others install it."""
        return not self.alone and self._asked_for("trains", self._real(unit.source.path))

    def _files_beside(self, path: str) -> list[str]:
        """The files that programs which import a file import, as far as names of modules tell."""
        return self._imported_by(closure([path], partial(self._importing_module, path)))

    def _importing_module(self, home: str, imported: str) -> list[str]:
        importers, module = self._importers(*self._around(home)), module_of(imported)
        return [*importers.get(module, ()), *importers.get(f".{module}", ())]

    def _imported_by(self, paths: Iterable[str]) -> list[str]:
        first, *rest = paths
        modules = self._modules(self._root_of(first))
        wanted = self._index.imports
        return modules.closure([first, *rest], lambda x, _: modules.imported(x, wanted(x)))

    def trains_with(self, path: str) -> bool:
        """Whether programs that import a file train, as far as names of modules tell. What others
        import of a program is how it starts, and not what it reads."""

        def importing(imported: str) -> list[str]:
            starts = imported != path and self._index.holds(imported, _STARTS)
            return [] if starts else self._importing_module(path, imported)

        beside = self._imported_by(closure([path], importing))
        return any(self._index.facts(each, "trains") for each in beside)

    def _around(self, path: str) -> tuple[str, str]:
        """The root of a file, and the largest folder around it that has not too many files."""
        root, folder = self._root_of(path), os.path.dirname(path)
        while folder != root and len(self._below_folder(root, os.path.dirname(folder))) <= _MOST:
            folder = os.path.dirname(folder)
        return root, folder

    def _python_below(self, root: str, folder: str) -> list[str]:
        start = os.path.join(folder, "")
        return [each for each in self._python(root) if each.startswith(start)]

    def _imported_below(self, root: str, folder: str) -> dict[str, list[str]]:
        """Which files of a folder import something, or a module, by a name; after a dot: anything
        of a module."""
        found: dict[str, list[str]] = {}
        files = self._below_folder(root, folder)
        if len(files) > _MOST:
            files = [each for each in files if os.path.dirname(each) == folder]
        for path in files:
            imports = self._index.imports(path, typed=True)
            modules = (
                f"{'.' * bool({*x.names} - {'*'})}{x.module.rpartition('.')[2]}" for x in imports
            )
            for name in {*modules, *(name for each in imports for name in each.names)}:
                found.setdefault(name, []).append(path)
        return found

    def shown(self, unit: Unit) -> str:
        """What messages call a file: its path below the project's folder."""
        return self._shown(self._real(unit.source.path))

    def _shown(self, path: str) -> str:
        return slashed(relative(path, self._root_of(path)))

    def _open(self, path: str) -> Unit:
        source, find = self._index.source(path).code, None if self.alone else self.find
        return Unit(source, models=self._models, path=self._shown(path), find=find)


def _reads(text: str, name: str, member: str, all_of: bool) -> bool:
    """Whether a text does more than import a name, or ``all_of`` a module, as far as the words in
    it tell."""
    if member != name:
        return f".{member}" in text or any("class " in line for line in _lines_with(text, name))
    met = _count(text, name)
    return met > 1 or all_of or (met == 1 and (f"{name} as " in text or f".{name}" in text))


def _count(text: str, word: str) -> int:
    """How often a text holds a word, up to twice."""
    first = text.find(word)
    return (first >= 0) + (first >= 0 and text.find(word, first + len(word)) >= 0)


def _lines_with(text: str, part: str) -> Iterator[str]:
    """The lines that hold something: to split all others off takes longer than to look for it."""
    place = text.find(part)
    while place >= 0:
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        yield text[text.rfind("\n", 0, place) + 1 : end]
        place = text.find(part, end)


def _hands_on(text: str, word: str) -> bool:
    """Whether a text does no more than import a name, or a module, so that others may have it."""
    met = _count(text, word)
    return met == 1 or (met > 1 and f"{word} as {word}" in text)


class Readers:
    """Looks for them among the files of a context."""

    def __init__(self, index: Index, paths: Sequence[str], others: OtherFiles) -> None:
        self._index = index
        self._paths = paths
        self._others = others
        self._tables: Callable[[str], list[tuple[str, str]]] = cache(self._read_in)

    def any_of(self, kind: str, names: Collection[str]) -> bool:
        """Whether one may read a table of a kind that is written under one of some names: a program
        that trains or splits, or a script or configuration that names it."""
        parts = [part for name in names for part in _stem(name).split("*") if len(part) >= _SHORT]
        return any(
            self._reads(each, kind, names)
            if kind_of_name(each) in (PYTHON, NOTEBOOK, CUDA)
            else self._names(each, names)
            for each in self._paths
            if parts and self._index.holds(each, parts)
        )

    def _names(self, path: str, names: Collection[str]) -> bool:
        """Whether a script or configuration names a table."""
        whole = [each for each in names if "*" not in each and each]
        return bool(whole) and self._index.holds(path, whole)

    def _reads(self, path: str, kind: str, names: Collection[str]) -> bool:
        if not self._index.holds(path, _READING):
            return False
        if not any(_is_met(*each, kind, names) for each in self._tables(path)):
            return False
        return self._index.holds(path, _SPLITTING) or self._others.trains_with(path)

    def _read_in(self, path: str) -> list[tuple[str, str]]:
        """The tables that a file reads, which is no test."""
        unit = self._others.unit(path)
        return [] if self._others.tests(unit) else list(reads(unit))


def _is_met(kind: str, name: str, written: str, names: Collection[str]) -> bool:
    """Whether what reads a kind of tables under a name may read what is written under others. Of a
    name of which nothing is seen, the kind says no more than that it might."""
    seen = _stem(name) if kind == written else name.strip("*.")
    return bool(seen) and any(may_be_same(name, each) for each in names)


def _stem(name: str) -> str:
    """What is seen of a file's name before its ending."""
    stem, dot, _ = name.rpartition(".")
    return (stem if dot else name).strip("*.")
