"""Where other files read what a file defines."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from detlint.dataflow.imported_types import is_property
from detlint.dataflow.origins import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_MOST = 60  # functions that are looked at for one name


class Importers:
    """Answers for one file: what reads a part of it by its name, ``labels`` or ``Table.names``."""

    def __init__(self, unit: Unit, others: OtherFiles) -> None:
        self._unit = unit
        self._others = others

    def naming(self, part: str) -> Iterator[tuple[Function, str]]:
        """The functions of other files that may read it, and by which word."""
        return ((function, word) for function, word, _ in self._reading(part))

    def calls(self, function: Function) -> Iterator[Op]:
        """The calls of a function or method, and what reads a property."""
        if function.outer is not None:
            return
        if is_property(function):
            yield from self.reads(function.name)
            return
        for read in self.reads(function.name):
            yield from read.calls

    def reads(self, part: str) -> Iterator[Op]:
        """What reads a function, a variable, or an attribute of objects of a class."""
        owner, _, name = part.rpartition(".")
        for function, _, full in self._reading(part):
            values = function.unit.across
            for each in function.everything():
                for op in each.ops:
                    if op.code not in ("attr", "global", "import"):
                        continue
                    if owner:
                        if op.code == "attr" and op.name == name and self._is_of(op.args[0], owner):
                            yield op
                    elif full in values.qualified(op):
                        yield op

    def _reading(self, part: str) -> Iterator[tuple[Function, str, str]]:
        """With the qualified name by which they may do so."""
        owner, _, name = part.rpartition(".")
        seen: set[Function] = set()
        imported = (
            self._having(self._unit, owner, name)
            if owner
            else self._others.importing(self._unit, name, name)
        )
        for other, bound, full in imported:
            word = name if owner else bound
            for each in islice(other.functions_naming(word), _MOST):
                if each not in seen:
                    seen.add(each)
                    yield each, word, full

    def _having(
        self, unit: Unit, owner: str, member: str, *, nested: bool = False
    ) -> Iterator[tuple[Unit, str, str]]:
        """The files that may read a member of a class: that import it, a class of these files that
        derives from it, or a function of its file that gives an object of it."""
        for name in (owner, *unit.derived(owner)):
            for each in self._others.importing(unit, name, member):
                yield each
                other, word, _ = each
                for below in () if nested else other.deriving(word):
                    yield from self._having(other, below, member, nested=True)
        for name in unit.naming(owner):
            found = self._others.importing(unit, name, member)
            function = unit.defined(name) if found else None
            given = unit.values.returned(function) if function is not None else ()
            if any(one.of == f".{owner}" for one in given):
                yield from found

    def _is_of(self, op: Op, owner: str) -> bool:
        """Whether a value is an object of a class of the file, or of one that derives from it."""
        elsewhere = op.function.unit.across.elsewhere
        if elsewhere is None:
            return False
        sought = Place(self._unit, owner)
        return any(sought in elsewhere.lineage(each) for each in elsewhere.classes(op))
