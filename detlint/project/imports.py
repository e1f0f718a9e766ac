"""Which files of a project a file imports, read from its text and looked up on disk."""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.project.folders import FILE, OTHER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.project.folders import Folders

_ROOTS = ("src", "lib")
# Also within functions. One in a docstring only adds a file to the closure, if there is such one.
_STATEMENT = re.compile(
    r"^(?P<indent>[ \t]*)(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    r"(?:\((?P<several>[^)]*)\)|(?P<names>(?:[^\n#;\\]|\\\r?\n)*))"
    r"|import[ \t]+(?P<modules>(?:[^\n#;\\]|\\\r?\n)*))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")
_TYPES_ONLY = re.compile(r"^([ \t]*)if[ \t]+(?:typing\.)?TYPE_CHECKING[ \t]*:", re.MULTILINE)
# A module that puts another in its place gives, when asked, what it shows type checkers.
_REPLACES = re.compile(r"^[ \t]*sys\.modules\[__name__\][ \t]*=", re.MULTILINE)
_WHOLE = 20  # modules that an index of a whole library exceeds: no program uses all of it
_INDENTED = r"(?:[ \t]*(?:#[^\n]*)?\n|{indent}[ \t]+[^\n]*\n?)*"


class Import(NamedTuple):
    """``from ..a.b import c, d``: module "a.b", level 2, names c and d."""

    module: str
    level: int
    names: tuple[str, ...]


def imports(text: str) -> list[Import]:
    """What a file imports when it runs, in order: not what only type checkers read, unless it
    gives just that when it is asked."""
    if "import" not in text:
        return []
    hidden = list(_types_only(text))
    found = [
        (any(start <= match.start() < end for start, end in hidden), each)
        for match in _statements(text)
        for each in _read(match)
    ]
    lazily = hidden and _REPLACES.search(text) is not None and len(found) <= _WHOLE
    return [each for is_hidden, each in found if lazily or not is_hidden]


def _statements(text: str) -> Iterator[re.Match[str]]:
    """The matches of ``_STATEMENT``: each has the word in its first line, which is found sooner."""
    end = 0
    found = text.find("import")
    while found >= 0:
        start = text.rfind("\n", 0, found) + 1
        match = _STATEMENT.match(text, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield match
        following = text.find("\n", found)
        found = text.find("import", max(end, following)) if following >= 0 else -1


def bound_names(text: str) -> dict[str, str]:
    """The names that imports bind, and what each stands for: ``from a import b as c``."""
    return {
        bound: name
        for match in _statements(text)
        for listed in (match["modules"], match["several"], match["names"])
        for name, bound in _aliased(listed or "")
    }


def bound_modules(text: str) -> set[str]:
    """The names that only ``import a.b as c`` binds: those of modules."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for match in _statements(text):
        for listed in (match["modules"], match["several"], match["names"]):
            found[match["modules"] is not None].update(own for _, own in _aliased(listed or ""))
    return found[True] - found[False]


def bindings(text: str) -> dict[str, list[str]]:
    """What each name that imports bind may stand for: of ``from ..a import b as c``, for c
    ``..a:b``, and of ``import a.b as c`` ``a.b:``; for "*" the modules that give all they hold."""
    found: dict[str, list[str]] = {}
    for match in _statements(text):
        for words in _words(match["modules"] or ""):
            module = words[0] if len(words) == 3 else words[0].partition(".")[0]
            found.setdefault(words[-1].partition(".")[0], []).append(f"{module}:")
        for words in _words(match["several"] or match["names"] or ""):
            target = f"{match['dots']}{match['module']}:{words[0]}"
            found.setdefault(words[-1], []).append(target)
    return {bound: [*dict.fromkeys(targets)] for bound, targets in found.items()}


def without_imports(code: str) -> str:
    """Code but for its imports."""
    return _STATEMENT.sub("", code) if "import" in code else code


def _aliased(listed: str) -> Iterator[tuple[str, str]]:
    for words in _words(listed):
        # `import a.b` binds a.
        own = words[2] if len(words) == 3 and words[1] == "as" else words[0].partition(".")[0]
        yield words[0].rpartition(".")[2], own


def _words(listed: str) -> Iterator[list[str]]:
    """``a as b, c`` in words, each by itself."""
    for each in _COMMENT.sub("", listed).replace("\\", " ").split(","):
        if words := each.split():
            yield words


def _types_only(text: str) -> Iterator[tuple[int, int]]:
    if "TYPE_CHECKING" not in text:
        return
    for match in _TYPES_ONLY.finditer(text):
        start = text.find("\n", match.end()) + 1
        if start:
            block = re.compile(_INDENTED.format(indent=match[1])).match(text, start)
            yield start, block.end() if block else start


def _read(match: re.Match[str]) -> Iterator[Import]:
    if match["modules"] is not None:
        for module in _names(match["modules"]):
            yield Import(module, 0, ())
    elif match["dots"] or match["module"]:
        listed = match["several"] if match["several"] is not None else match["names"]
        yield Import(match["module"], len(match["dots"]), tuple(_names(listed)))


def _names(listed: str) -> Iterator[str]:
    """``a as b, c`` without the aliases."""
    yield from (words[0] for words in _words(listed))


class Finder:
    """Looks modules up below one folder, which it never leaves, not even over a link."""

    def __init__(self, bound: str, folders: Folders) -> None:
        self._bound = os.path.realpath(bound)
        self._inside = os.path.join(self._bound, "")
        self._folders = folders
        self._imported: dict[str, list[str]] = {}
        # Asked again and again: a project's files import the same things.
        self._listed = cache(self._list)
        self._real = cache(os.path.realpath)
        self._module = cache(self._look_up)
        self._found = cache(self._find)
        self._root = cache(self._first_root)

    def closure(self, path: str, imports_of: Callable[[str], Iterable[Import]]) -> list[str]:
        """A file and all that run when it does, in the order in which they are met."""
        met = {path}
        pending = [path]
        for each in pending:
            if each not in self._imported:
                found = [self.files(each, wanted) for wanted in imports_of(each)]
                self._imported[each] = [*dict.fromkeys(chain.from_iterable(found))]
            fresh = [found for found in self._imported[each] if found not in met]
            met.update(fresh)
            pending += fresh
        return pending

    def files(self, importer: str, wanted: Import) -> tuple[str, ...]:
        """The files that run when a file imports something: packages' own first."""
        return self._found(os.path.dirname(importer), wanted)

    def holds(self, importer: str, module: str) -> bool:
        """Whether a module may be of the project, by the first part of its name."""
        top, dot, _ = module.partition(".")
        return self._root(os.path.dirname(importer), top, bool(dot)) is not None

    def lacking(self, importer: str, wanted: Import) -> tuple[str, ...]:
        """What is not there of a module of one of the project's packages, and what is wanted of
        it; nothing where the module is there."""
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

    def _find(self, folder: str, wanted: Import) -> tuple[str, ...]:
        if wanted.level:
            for _ in range(wanted.level - 1):
                folder = os.path.dirname(folder)
            return tuple(self._along(folder, wanted))
        top, dot, _ = wanted.module.partition(".")
        root = self._root(folder, top, bool(dot))
        return tuple(self._along(root, wanted)) if root is not None else ()

    def _first_root(self, folder: str, top: str, holds: bool) -> str | None:
        """The folder below which a top-level module or package lies; a package where it has to
        hold others: ``import a.b`` is not of an ``a.py`` that lies nearer."""
        for root in self._roots(folder):
            listed = self._listed(root)
            if top in listed or (f"{top}.py" in listed and not holds):
                return root
        return None

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
        for name in wanted.names:
            if (found := self._module(place, name)) is not None:
                yield found

    def _look_up(self, folder: str, name: str) -> str | None:
        listed = self._listed(folder)
        package = self._file(os.path.join(folder, name), "__init__.py") if name in listed else None
        return package or self._file(folder, f"{name}.py")

    def _roots(self, folder: str) -> Iterator[str]:
        """Where absolute imports may start: the script's folder and those above, and what
        scripts add to ``sys.path`` by convention."""
        while True:
            yield folder
            if os.path.basename(folder) not in _ROOTS:
                for each in _ROOTS:
                    yield os.path.join(folder, each)
            if folder == self._bound or not folder.startswith(self._bound):
                return
            folder = os.path.dirname(folder)

    def _file(self, folder: str, name: str) -> str | None:
        sort = self._listed(folder).get(name, OTHER)
        if sort.endswith(OTHER):
            return None
        real = os.path.join(self._real(folder), name) if sort == FILE else sort
        return real if real.startswith(self._inside) else None

    def _list(self, folder: str) -> dict[str, str]:
        # Most of what is looked up is no folder, which the one above tells.
        above, name = os.path.split(folder)
        told = folder.startswith(self._inside) and "." not in name
        if told and name not in self._listed(above):
            return {}
        return self._folders.entries(folder)
