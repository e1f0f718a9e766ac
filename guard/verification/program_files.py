"""The program's own files: the one that is started, and what it imports from beside it."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from detlint.index.imports import imports
from guard.observe.places import is_distributed, is_installed
from guard.program import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STANDARD = sys.stdlib_module_names


def program_files(program: str, *, module: bool) -> tuple[str, ...]:
    """The files, the one that is started first; read, not imported.

    Modules are looked for in the folder of the script, in the working folder and in PYTHONPATH;
    what is installed is not the program's own.
    """
    roots = _roots(program, module=module)
    first = _module(program, roots) if module else _script(program)
    found: dict[str, None] = {}
    queue = [first] if first else []
    while queue:
        path = queue.pop(0)
        if path in found:
            continue
        found[path] = None
        for name in _imports(path, roots):
            each = _file_of(name, roots)
            if each and each not in found:
                queue.append(each)
    return tuple(found)


def is_beside(package: str, folders: list[str]) -> bool:
    """Whether a package is the program's own, as it lies in one of the folders."""
    return bool(_file_of(package, folders))


def digest_of(files: Iterable[str]) -> bytes:
    """A digest of what files hold; one that cannot be read counts as empty."""
    digest = hashlib.sha256()
    for path in files:
        with suppress(OSError), open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.digest()


def _script(program: str) -> str:
    path = os.path.realpath(program)
    return os.path.join(path, "__main__.py") if os.path.isdir(path) else path


def _roots(program: str, *, module: bool) -> list[str]:
    first = os.getcwd() if module else os.path.dirname(_script(program))
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    roots = [os.path.realpath(each) for each in [first, *filter(None, given)]]
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    found = (each for each in dict.fromkeys(roots) if each != own)
    return [each for each in found if not is_installed(os.path.join(each, ""))]


def _module(name: str, roots: list[str]) -> str:
    return _file_of(f"{name}.__main__", roots) or _file_of(name, roots)


def _file_of(name: str, roots: list[str]) -> str:
    """The file of a dotted name."""
    for root in roots:
        path = os.path.join(root, *name.split("."))
        for each in (path + ".py", os.path.join(path, "__init__.py")):
            if os.path.isfile(each) and not is_distributed(each, roots):
                return each
    return ""


def _imports(path: str, roots: list[str]) -> Iterator[str]:
    package = _package(path, roots)
    for each in imports(text_of(path)):
        above = package[: len(package) - each.level + 1] if each.level else []
        start = ".".join([*above, *filter(None, [each.module])])
        for name in (start, *(f"{start}.{name}".strip(".") for name in each.names)):
            if name.partition(".")[0] not in _STANDARD:
                yield name


def _package(path: str, roots: list[str]) -> list[str]:
    """The dotted name of the package that a file lies in, as a list."""
    for root in roots:
        if path.startswith(root + os.sep):
            return list(filter(None, os.path.dirname(os.path.relpath(path, root)).split(os.sep)))
    return []
