"""The order in which a folder's entries are listed, which no file system promises."""

from __future__ import annotations

import functools
import os
import random
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Listing = Callable[..., Any]

_T = TypeVar("_T")
_NOT_FILES = ("/proc", "/sys", "/dev")  # the kernel's, in an order of its own


def permuted(names: list[_T], run: int, path: str) -> list[_T]:
    """The entries in the order of a run: as they are, in reverse, then shuffled."""
    if run == 0 or path.startswith(_NOT_FILES):
        return names
    if run == 1:
        return names[::-1]
    return random.Random(f"{run} {path}").sample(names, len(names))  # noqa: S311 - no secret


def permute(run: int) -> None:
    """Have ``os.listdir`` and ``os.scandir`` list in the order of a run from now on.

    With them ``os.walk``, ``glob`` and ``pathlib``, also where these took hold of the
    functions when they were imported. What lists folders in C++ or Rust is not covered.
    """
    originals = {os.listdir: _listdir(os.listdir, run), os.scandir: _scandir(os.scandir, run)}
    for original, new in originals.items():
        for holder in _holders():
            for name, value in list(vars(holder).items()):
                if value is original:
                    setattr(holder, name, new)
                elif isinstance(value, staticmethod) and value.__func__ is original:
                    setattr(holder, name, staticmethod(new))


def _holders() -> Iterator[Any]:
    yield os
    for name in ("glob", "pathlib", "pathlib._local", "pathlib._os", "shutil"):
        module = sys.modules.get(name)
        if module is not None:
            yield module
            yield from (each for each in vars(module).values() if isinstance(each, type))


def _path(given: tuple[Any, ...]) -> str:
    path = given[0] if given and given[0] is not None else "."
    return str(path) if isinstance(path, int) else os.path.abspath(os.fsdecode(path))


def _listdir(listdir: Listing, run: int) -> Listing:
    @functools.wraps(listdir)
    def listed(*given: Any, **named: Any) -> list[Any]:
        return permuted(listdir(*given, **named), run, _path(given or tuple(named.values())))

    return listed


def _scandir(scandir: Listing, run: int) -> Listing:
    @functools.wraps(scandir)
    def scanned(*given: Any, **named: Any) -> _Scan:
        with scandir(*given, **named) as entries:
            found = list(entries)
        return _Scan(permuted(found, run, _path(given or tuple(named.values()))))

    return scanned


class _Scan:
    """What ``os.scandir`` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> _Scan:
        return self

    def __next__(self) -> Any:  # noqa: ANN401 - an os.DirEntry, which has no public maker
        return next(self._entries)

    def close(self) -> None:
        self._entries = iter(())

    def __enter__(self) -> Any:  # noqa: ANN401 - Self, from Python 3.11 on
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
