"""Paths as they are named: on Windows, where a backslash parts them and drives share no folder."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# What lies in the folder of a repository, the surest first.
_MARKS = (
    (".git", ".hg", ".svn"),
    ("pyproject.toml", "setup.py", "setup.cfg"),
    ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md"),
)
_FEW = 2  # names that count where nothing tells where a project begins


def relative(path: str, start: str = os.curdir) -> str:
    """A path as seen from a folder; absolute where it lies on another drive."""
    try:
        return os.path.relpath(path, start)
    except ValueError:
        return os.path.abspath(path)


def stamp(path: str) -> tuple[int, ...]:
    """What is another once a file is written, as its stat tells; nothing where there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return ()
    return stat.st_mtime_ns, stat.st_size


def slashed(path: str) -> str:
    """With slashes, as patterns, reports and other systems have them."""
    return path.replace(os.sep, "/")


def is_within(path: str, folder: str) -> bool:
    """Whether a path is that of a folder, or of something in it."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def common(folders: Iterable[str]) -> str:
    """The folder that holds some others, the root where no other does."""
    try:
        return os.path.commonpath(list(folders))
    except ValueError:  # none, or on several drives
        return os.sep


def ancestors(folder: str) -> Iterator[str]:
    """A folder and those above it."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def nearest(folder: str, asks: Callable[[str], str | None], known: dict[str, str]) -> str:
    """What is told of a folder, or of the nearest above it of which something is; "" for nothing.
    ``known``: the answers so far, by folder."""
    passed, found = [], None
    for each in ancestors(folder):
        found = known[each] if each in known else asks(each)
        passed.append(each)
        if found is not None:
            break
    known.update(dict.fromkeys(passed, found or ""))
    return known[folder]


def is_repository(folder: str) -> bool:
    """Whether git works in a folder."""
    return os.path.exists(os.path.join(folder, ".git"))


def repository_of(folder: str) -> str | None:
    """The nearest folder at or above this one that git works in."""
    return next(filter(is_repository, ancestors(folder)), None)


def names_in_project(path: str) -> list[str]:
    """The names of a file and of the folders above it, up to its project's own:
    ``configs/eval/model.json`` → ``configs``, ``eval``, ``model``."""
    folder, file = os.path.split(os.path.abspath(path))
    root = _root(folder)
    above = relative(folder, root or os.curdir).split(os.sep)
    found = [*(each for each in above if each != os.curdir), os.path.splitext(file)[0]]
    # What lies above the working folder says nothing of the project.
    return found[-_FEW:] if os.pardir in found else found


@cache
def _root(folder: str) -> str:
    """The folder of the project that holds another; "" where nothing tells."""
    *above, _ = ancestors(folder)  # not the root of the file system
    home = os.path.expanduser("~")
    inside = [each for each in above if each != home]
    for marks in _MARKS:
        found = [each for each in inside if _holds(each, marks)]
        if found:
            # The nearest repository; else the highest folder, since examples have READMEs, too.
            return found[0] if ".git" in marks else found[-1]
    return ""


def _holds(folder: str, marks: tuple[str, ...]) -> bool:
    return any(os.path.exists(os.path.join(folder, each)) for each in marks)
