"""The folder in which a run works: a copy of the user's, so that runs do not share files."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 256 << 20  # bytes that are copied for a run without being asked to
MOST = 10_000  # files
_LEVELS = 2  # of folders above, whose entries "../data" finds
_NEIGHBOURS = 1_000  # entries of such a folder, at most
# Nothing that a run writes lies there: they are linked to, not copied.
_LINKED = {".git", ".hg", ".svn", ".venv", "venv", "node_modules", ".tox", ".nox", ".mypy_cache"}
_LEFT_OUT = {"__pycache__", ".pytest_cache", ".ruff_cache"}


class Size(NamedTuple):
    """What copying a folder takes."""

    bytes: int
    files: int

    @property
    def is_small(self) -> bool:
        return self.bytes <= LARGEST and self.files <= MOST


def size(folder: str) -> Size:
    """How large a folder is, without what is only linked to; counted until it is too large."""
    found = Size(0, 0)
    for entry in _entries(folder):
        if entry.is_file(follow_symlinks=False):
            found = Size(found.bytes + entry.stat(follow_symlinks=False).st_size, found.files + 1)
            if not found.is_small:
                break
    return found


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if _is_copied_folder(entry):
                yield from _entries(entry.path)


def _is_copied_folder(entry: os.DirEntry[str]) -> bool:
    if not entry.is_dir(follow_symlinks=False) or entry.name in _LINKED | _LEFT_OUT:
        return False
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def copy(folder: str, target: str) -> str:
    """Copy a folder to somewhere below ``target``; where it now lies.

    What lies beside it and beside the folder above it is linked to, so that "../data" leads
    where it did. Times of files are kept. Raises OSError.
    """
    folder = os.path.realpath(folder)
    above = _folders_above(folder)
    for depth, each in enumerate(above):
        inner = above[depth + 1] if depth + 1 < len(above) else folder
        place = os.path.join(target, *map(os.path.basename, above[1 : depth + 1]))
        os.makedirs(place, exist_ok=True)
        _link_entries(each, place, without=os.path.basename(inner))
    place = os.path.join(target, *map(os.path.basename, [*above[1:], folder]))
    _copy(folder, place, folder)
    return place


def _folders_above(folder: str) -> list[str]:
    """The folders above, the outermost first, as far as they are of a size to be linked."""
    found: list[str] = []
    while len(found) < _LEVELS:
        folder, before = os.path.dirname(folder), folder
        if folder == before or not os.access(folder, os.R_OK):
            break
        if len(os.listdir(folder)) > _NEIGHBOURS:
            break
        found.insert(0, folder)
    return found


def _link_entries(folder: str, target: str, without: str) -> None:
    for name in os.listdir(folder):
        if name != without:
            os.symlink(os.path.join(folder, name), os.path.join(target, name))


def _copy(folder: str, target: str, root: str) -> None:
    os.makedirs(target, exist_ok=True)
    with os.scandir(folder) as entries:
        found = list(entries)
    for entry in found:
        place = os.path.join(target, entry.name)
        if _is_copied_folder(entry):
            _copy(entry.path, place, root)
        elif entry.is_symlink():
            _copy_link(entry.path, place, root)
        elif entry.is_dir():
            if entry.name not in _LEFT_OUT:
                os.symlink(entry.path, place)
        elif entry.is_file():  # no sockets and pipes
            shutil.copy2(entry.path, place)
    shutil.copystat(folder, target)


def _copy_link(path: str, place: str, root: str) -> None:
    """A link within the folder leads to the copy, any other to where it did."""
    target = os.path.realpath(path)
    if target.startswith(root + os.sep):
        os.symlink(os.path.relpath(target, os.path.dirname(path)), place)
    else:
        os.symlink(target, place)
