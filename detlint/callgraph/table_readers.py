"""Which files of a project may read a table that another one writes, and go by its order."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from detlint.dataflow.orders.tables import may_be_same, reads
from detlint.models import files
from detlint.models.model import words
from detlint.sources.kinds import CUDA, NOTEBOOK, PYTHON, kind_of_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from detlint.callgraph.other_files import OtherFiles
    from detlint.index.index import Index

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
            self._reads(each, kind, names) if _is_code(each) else self._names(each, names)
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


def _is_code(path: str) -> bool:
    return kind_of_name(path) in (PYTHON, NOTEBOOK, CUDA)
