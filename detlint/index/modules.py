"""What the names in a project's files mean: which file a module is, and where what a file imports
is defined, followed through the packages that offer it."""

from __future__ import annotations

import os
import sys
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from detlint.index.folders import FILE, OTHER
from detlint.index.imports import EVERY_MODULE, Import
from detlint.index.scan import MAIN
from detlint.models.loading import is_known
from detlint.models.python import PLAIN_BASES
from detlint.sources.paths import relative

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from detlint.dataflow.origins import Find
    from detlint.dataflow.unit import Unit
    from detlint.index.folders import Folders
    from detlint.index.index import Index
    from detlint.index.misplaced import Misplaced

_ROOTS = ("src", "lib")
_TIRED = 10_000  # answers within circles, after which each is taken for the last one
_MOST = 64  # modules of which one may be chosen: no program uses all of a library that has more
PACKAGE = "__init__.py"
_ALL = "*"
_FROM = ":"  # between a module and what is looked up in it


class Symbol(NamedTuple):
    """A part of a file, as its outline names it."""

    path: str
    part: str


class Modules:
    """Looks modules up below one folder, which it never leaves, not even over a link; ``misplaced``
    tells of what lies where no import looks."""

    def __init__(self, bound: str, folders: Folders, misplaced: Misplaced | None = None) -> None:
        self._misplaced = misplaced
        self._bound = os.path.realpath(bound)
        self._inside = os.path.join(self._bound, "")
        self._folders = folders
        # By the folder where a program starts, "" where that does not tell.
        self._imported: dict[str, dict[str, dict[str, None]]] = {"": {}}
        # Asked again and again: a project's files import the same things.
        self._listed = cache(self._list)
        self._real = cache(os.path.realpath)
        self._module = cache(self._look_up)
        self._found = cache(self._find)
        self._root = cache(self._first_root)
        self._folder = cache(os.path.dirname)
        self._roots_of: Callable[[str], list[str]] = cache(lambda folder: [*self._roots(folder)])
        self._installed: Callable[[str], list[str]] = cache(lambda x: [*self._installed_in(x)])

    def closure(
        self,
        paths: Iterable[str],
        files_of: Callable[[str, str], Iterable[str]],
        steps: int = sys.maxsize,
        start: str = "",
    ) -> list[str]:
        """Files and all that run when one of them does, in the order in which they are met: those
        that so many imports lead to, one after the other. ``start``: the folder of a program."""
        met = dict.fromkeys(paths)
        fresh = list(met)
        while fresh and steps:
            known, steps = len(met), steps - 1
            for each in fresh:
                met.update(self._run_with(each, files_of, start))
            fresh = list(islice(met, known, None))
        return list(met)

    def _run_with(
        self, path: str, files_of: Callable[[str, str], Iterable[str]], start: str
    ) -> dict[str, None]:
        """The files that run with one, in a program of a folder."""
        known = self._imported[""].get(path)
        if known is None and (known := self._imported.get(start, {}).get(path)) is None:
            known = dict.fromkeys(files_of(path, start))
            torn = self._misplaced is not None and path in self._misplaced.torn
            self._imported.setdefault(start if torn else "", {})[path] = known
        return known

    def imported(self, importer: str, wanted: Iterable[Import], start: str = "") -> Iterator[str]:
        """``files`` of several imports."""
        return chain.from_iterable(self.files(importer, each, start) for each in wanted)

    def files(self, importer: str, wanted: Import, start: str = "") -> tuple[str, ...]:
        """The files that run when a file imports something: packages' own first; ``start``: in a
        program of that folder."""
        own = not wanted.level and _is_own(importer, wanted.module.partition(".")[0])
        found = self._found(self._folder(importer), wanted, own)
        if found or wanted.level or self._misplaced is None:
            return found
        root = self._misplaced.root(importer, wanted.module, start)
        return tuple(self._along(root, wanted)) if root is not None else ()

    def sure_files(self, start: str, importer: str, wanted: Import) -> tuple[str, ...]:
        """The same where a file of a program imports something that can be no other's, from
        wherever that is run: in the folder where it starts, or of the importer's own package."""
        top = wanted.module.partition(".")[0]
        if wanted.level:
            return self._found(self._folder(importer), wanted, False)
        if top in sys.stdlib_module_names or is_known(top):
            return ()
        roots = [*self._roots_of(start), *self._roots_of(self._folder(importer))]
        found = {each for each in roots if not {top, f"{top}.py"}.isdisjoint(self._listed(each))}
        root = found.pop() if len(found) == 1 else ""
        sure = root == start or importer.startswith(os.path.join(root, top, ""))
        return tuple(self._along(root, wanted)) if root and sure else ()

    def holds(self, importer: str, module: str) -> bool:
        """Whether a module may be of the project, by the first part of its name."""
        top, dot, _ = module.partition(".")
        own = _is_own(importer, top)
        if self._root(self._folder(importer), top, bool(dot), own) is not None:
            return True
        return self._misplaced is not None and self._misplaced.root(importer, module) is not None

    def has_own_guard(self, importer: str) -> bool:
        """Whether a file that imports guard gets one of the project's, and not ours, beside which
        detlint lies."""
        folder = os.path.dirname(importer)
        root = self._root(folder, "guard", False, False)
        return root is not None and root != self._root(folder, "detlint", False, False)

    def lacking(self, importer: str, wanted: Import) -> tuple[str, ...]:
        """What is not there of a module of one of the project's packages, and what is wanted of
        it; nothing where the module is there, or only constants are wanted."""
        if EVERY_MODULE in wanted.names or (wanted.names and all(map(str.isupper, wanted.names))):
            return ()
        parts = wanted.module.split(".")
        found = self.files(importer, wanted) if len(parts) > 1 else ()
        known = {
            part
            for each in found
            for part in (os.path.basename(each)[:-3], os.path.basename(os.path.dirname(each)))
        }
        if not known or not known.isdisjoint({parts[-1], *wanted.names}):
            return ()
        return (*(each for each in parts if each not in known), *wanted.names)

    def _find(self, folder: str, wanted: Import, own: bool) -> tuple[str, ...]:
        if wanted.level:
            for _ in range(wanted.level - 1):
                folder = os.path.dirname(folder)
            return tuple(self._along(folder, wanted))
        top, dot, _ = wanted.module.partition(".")
        root = self._root(folder, top, bool(dot), own)
        return tuple(self._along(root, wanted)) if root is not None else ()

    def _first_root(self, folder: str, top: str, holds: bool, own: bool) -> str | None:
        """The folder below which a top-level module or package lies; a package where it has to
        hold others: ``import a.b`` is not of an ``a.py`` that lies nearer. What a file imports by
        its own name is another one."""
        for root in self._roots_of(folder):
            listed = self._listed(root)
            if top in listed and self._lies_within(os.path.join(root, top), top):
                continue
            is_module = not (holds or (own and root == folder)) and f"{top}.py" in listed
            if top in listed or is_module:
                # Other packages that are installed beside the file's own are not the project's.
                apart = self._folders.is_installed(root)
                below = relative(folder, root).partition(os.sep)[0]
                return None if apart and top != below else root
        return None

    def _lies_within(self, folder: str, top: str) -> bool:
        """Whether a package lies in a folder of its name that is installed."""
        return self._folders.is_distribution(folder) and top in self._listed(folder)

    def _along(self, folder: str, wanted: Import) -> Iterator[str]:
        """``a/__init__.py``, ``a/b.py`` and, for names that are modules, ``a/b/c.py``."""
        place = folder
        if wanted.level and (own := self._file(place, "__init__.py")):
            yield own
        for part in wanted.module.split(".") if wanted.module else ():
            found = self._module(place, part)
            if found is not None:
                yield found
            place = os.path.join(place, part)
        names = wanted.names
        if EVERY_MODULE in names:
            every = {each.removesuffix(".py") for each in self._listed(place)}
            names = tuple(sorted(every)) if len(every) <= _MOST else ()
        for name in names:
            if (found := self._module(place, name)) is not None:
                yield found

    def _look_up(self, folder: str, name: str) -> str | None:
        listed = self._listed(folder)
        package = self._file(os.path.join(folder, name), "__init__.py") if name in listed else None
        return package or self._file(folder, f"{name}.py")

    def _roots(self, folder: str) -> Iterator[str]:
        """Where absolute imports may start: the script's folder and those above, what scripts add
        to ``sys.path`` by convention, and what is installed from a folder beside these."""
        while True:
            yield folder
            if os.path.basename(folder) not in _ROOTS:
                for each in _ROOTS:
                    yield os.path.join(folder, each)
            yield from self._installed(folder)
            if folder == self._bound or not folder.startswith(self._bound):
                return
            folder = os.path.dirname(folder)

    def _installed_in(self, folder: str) -> Iterator[str]:
        """The folders in one that `pip install -e` takes, where there are not too many."""
        below = [name for name, sort in self._listed(folder).items() if sort == OTHER]
        for name in below if len(below) <= _MOST else ():
            inner = os.path.join(folder, name)
            if name not in _ROOTS and self._folders.is_distribution(inner):
                yield inner
                yield os.path.join(inner, _ROOTS[0])

    def _file(self, folder: str, name: str) -> str | None:
        sort = self._listed(folder).get(name, OTHER)
        if sort.endswith(OTHER):
            return None
        real = os.path.join(self._real(folder), name) if sort == FILE else sort
        return real if real.startswith(self._inside) else None

    def _list(self, folder: str) -> dict[str, str]:
        # Most of what is looked up is no folder, which the one above tells.
        above, name = os.path.split(folder)
        told = name and folder.startswith(self._inside) and "." not in name
        if told and name not in self._listed(above):
            return {}
        return self._folders.entries(folder)


class Definitions:
    """Where names are defined; answers for the files of one project, each once."""

    def __init__(self, index: Index, modules: Modules) -> None:
        self._modules = modules
        self._index = index
        # With the files that each answer depends on: most are one or two.
        self._known: dict[tuple[str, str], tuple[list[Symbol] | None, tuple[str, ...]]] = {}
        self._alike: dict[object, tuple[list[Symbol] | None, tuple[str, ...]]] = {}  # of these
        self._open: set[tuple[str, str]] = set()
        self._cut: set[tuple[str, str]] = set()  # of these, those that were asked again
        self._again = 0  # answers that could not be kept
        self._looking: list[set[str]] = [set()]  # the files that each open question has looked at
        self._holds, self.module = cache(modules.holds), cache(self._find_module)  # for many

    def of(self, path: str, name: str) -> list[Symbol] | None:
        """The functions and classes that a file means by ``module:name.other``: none where that
        is of a library or a module itself, and None if it is not known."""
        asked = path, name
        if asked in self._known:
            known, files = self._known[asked]
            self._looking[-1].update(files)
            return known
        if asked in self._open:
            self._cut.add(asked)  # files that import each other's names settle nothing
            return None
        self._open.add(asked)
        self._looking.append({path})
        found = self._look_up(path, name)
        looked_at = self._looking.pop()
        self._looking[-1] |= looked_at
        self._open.discard(asked)
        self._cut.discard(asked)
        # What was asked on the way through a circle may have another answer by itself.
        self._again += bool(self._cut)
        if not self._cut or self._again > _TIRED:
            told = found, tuple(sorted(looked_at))
            same = found if found is None else tuple(found), told[1]
            self._known[path, sys.intern(name)] = self._alike.setdefault(same, told)
        return found

    def places(
        self, path: str, qualified: str, opened: Callable[[str], Unit], find: Find
    ) -> tuple[list[tuple[Unit, str]], Collection[str]]:
        """The files, and their parts or variables, that a file means by a qualified name; and the
        files that this depends on, with the one that asks."""
        self._looking = [set()]
        found, looked_at = self.meant(path, qualified), self._looking[0]
        if found is not None:
            return [(opened(each.path), each.part) for each in found], looked_at
        module, _, last = qualified.rpartition(".")
        home = self.module(path, module)
        held = opened(home).variable(last, find) if home is not None else []
        return held, looked_at | {home or path}

    def files(self, path: str, wanted: Import) -> tuple[str, ...]:
        """The files that run when a file imports something."""
        return self._modules.files(path, wanted)

    def _find_module(self, path: str, name: str) -> str | None:
        """The file of a module by the name that a file imports it by."""
        above = name.lstrip(".")
        if above == name and not self._holds(path, above):
            return None
        wanted = Import(above, len(name) - len(above), ())
        return self._module(path, wanted, above.rpartition(".")[2])

    def meant(self, path: str, qualified: str) -> list[Symbol] | None:
        """The same by the qualified name of a value, without a module of what is the file's."""
        module, _, last = qualified.rpartition(".")
        own = qualified.removeprefix(".")
        if not module or (own != qualified and own in self._index.outline(path).uses):
            return [Symbol(path, own)]
        found = self.of(path, f"{module}:{last}")
        if found is None and module.startswith(".."):  # `from . import data`, then `data.Images`
            return self.meant(path, qualified[1:])
        # `import api`, then `api.data.Images`, where that imports data.
        above, dot, inner = module.rpartition(".")
        if not found and above.strip(".") and self.of(path, f"{above}:{inner}") == []:
            found = self.of(path, f"{above}:{inner}{dot}{last}") or found
        return found

    def libraries(self, path: str, qualified: str) -> set[str]:
        """The libraries that may have what a file means by a qualified name, also through files of
        the project that import it from there."""
        found, asked = set[str](), [(path, qualified)]
        for at, name in asked:  # grows
            bare = name.lstrip(".")
            parts, level = bare.split("."), name[: len(name) - len(bare)]
            cuts = range(len(parts) - 1, 0, -1)
            ways = ((self.module(at, level + ".".join(parts[:cut])), cut) for cut in cuts)
            home, cut = next((each for each in ways if each[0]), (None, 0))
            if home is None:
                found |= set() if level or self._modules.holds(at, bare) else {parts[0]}
                continue
            first, *others = parts[cut:]
            outline = self._index.outline(home)
            told = [_joined(each, others) for each in outline.bound.get(first, ())]
            if not told and first not in outline.uses:
                stars = outline.bound.get(_ALL, ())
                told = [each.removesuffix(_ALL) + ".".join(parts[cut:]) for each in stars]
            further = ((home, each.replace("." + _FROM, ".").replace(_FROM, ".")) for each in told)
            asked += [each for each in dict.fromkeys(further) if each not in asked]
        return found

    def lineage(self, symbol: Symbol) -> list[Symbol | None]:
        """A class and its bases; None stands for one that may call its methods, out of sight."""
        found: list[Symbol | None] = [symbol]
        for each in found:  # grows
            if each is not None:
                found += [base for base in self._bases(each) if base not in found]
        return found

    def _bases(self, symbol: Symbol) -> Iterator[Symbol | None]:
        path, outline = symbol.path, self._index.outline(symbol.path)
        for base in outline.classes.get(symbol.part, ()):
            first, *others = base.split(".")
            if first in outline.uses:
                yield Symbol(path, first)
            elif base.rpartition(".")[2] not in PLAIN_BASES:
                # One that branches import from different places is all of these.
                for each in outline.bound.get(first, ("",)):
                    yield from self.of(path, _joined(each, others)) or (None,)

    def _look_up(self, path: str, name: str) -> list[Symbol] | None:
        module, _, chain = name.partition(_FROM)
        if not module or not chain:
            return [] if module else None
        first, *others = chain.split(".")
        above = module.lstrip(".")
        if above == module and not self._holds(path, above):
            return []
        home = self.module(path, module)
        if home not in (None, path) and (found := self._held(home, [first, *others])) is not None:
            return found
        inner = self._module(path, Import(above, len(module) - len(above), (first,)), first)
        if inner not in (None, home):
            return self._held(inner, others) if others else []
        if home is None and others:  # a folder that is no package
            return self.of(path, f"{module}{'.' if above else ''}{first}{_FROM}{'.'.join(others)}")
        return self._held(path, [first, *others]) if home == path else None

    def _module(self, path: str, wanted: Import, name: str) -> str | None:
        """The file of the module that an import names last."""
        found = self._modules.files(path, wanted)
        return found[-1] if found and (not name or module_of(found[-1]) == name) else None

    def _held(self, path: str, names: list[str]) -> list[Symbol] | None:
        """What a chain of names means in a module."""
        first, *others = names
        self._looking[-1].add(path)
        if first != MAIN and first in self._index.outline(path).uses:
            return [Symbol(path, first)]
        bound = self._index.outline(path).bound
        if first in bound:
            return self._of_any(path, [_joined(each, others) for each in bound[first]])
        stars = [each.removesuffix(_ALL) + ".".join(names) for each in bound.get(_ALL, ())]
        raised = self._of_any(path, stars)
        inner = self._submodule(path, first)
        if inner is None:
            return raised
        told = self._held(inner, others) if others else []
        # `from .f import *` may raise a function f of the module f, which that then hides.
        return [*raised, *(told or ())] if raised else told

    def _submodule(self, path: str, name: str) -> str | None:
        if os.path.basename(path) != PACKAGE:
            return None
        found = self._module(path, Import("", 1, (name,)), name)
        return None if found == path else found

    def _of_any(self, path: str, names: list[str]) -> list[Symbol] | None:
        """What is known of some ways to get something."""
        told = [found for each in names if (found := self.of(path, each)) is not None]
        return [place for found in told for place in found] if told else None


def _is_own(path: str, name: str) -> bool:
    return path.endswith(f"{os.sep}{name}.py")


def _joined(target: str, names: list[str]) -> str:
    module, _, name = target.partition(_FROM)
    return module + _FROM + ".".join([name, *names] if name else names)


def module_of(path: str) -> str:
    """What a module or package is called."""
    folder, _, file = path.rpartition(os.sep)
    return os.path.basename(folder) if file == PACKAGE else file.removesuffix(".py")


def is_module(path: str, name: str) -> bool:
    """Whether a file is what a module's name says: a package's own where that is empty."""
    tail = "".join(f"{os.sep}{each}" for each in name.split(".") if each)
    return path.endswith(f"{tail}{os.sep}{PACKAGE}") or (bool(tail) and path.endswith(f"{tail}.py"))
