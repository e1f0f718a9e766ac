"""What code is for, where that says that it trains nothing: a test, a package, inference.

A role is told from what surrounds the code, which is never a proof: it makes a finding *possible*.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.outputs import only_shows
from detlint.dataflow.slices import closure
from detlint.index.entrypoints import main_line
from detlint.models import roles as words
from detlint.sources.kinds import NOTEBOOK
from detlint.syntax.layout import layout_of, says_in_code
from detlint.syntax.mentions import holds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Piece, Unit

_WORD = re.compile(r"[^\W\d]\w*")


class Roles:
    """The roles of the parts of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._answers: dict[str, bool] = {}

    def doubt(self, offset: int, roles: Collection[str]) -> bool:
        """Whether the file, or the function at an offset, has one of some roles."""
        return (
            self.doubt_all(roles)
            or ("test" in roles and self._is_tested(offset))
            or ("inference" in roles and self._is_of(self._asked, offset))
            or ("showing" in roles and self._is_of(self._shown, offset))
        )

    def doubt_all(self, roles: Iterable[str]) -> bool:
        """Whether all of the file has one of some roles."""
        return any(map(self._has, roles))

    def _is_of(self, parts: Collection[str], offset: int) -> bool:
        piece = self._unit.piece_at(offset)
        return piece is not None and _part(piece) in parts

    @cached_property
    def _asked(self) -> set[str]:
        """The parts of the file that ask a model for answers, or belong to one that does so."""
        if _trains(self._unit) or not says_in_code(self._unit.text, words.ANSWERS):
            return set()
        return set() if any(map(_keeps_rows, self._stores())) else self._around(words.ANSWERS)

    @cached_property
    def _shown(self) -> set[str]:
        """The same of one that only shows something: others may use the rest for more."""
        return self._around((*words.SHOWS, *words.DISPLAYS)) if _shows(self._unit) else set()

    def _around(self, signs: Collection[str]) -> set[str]:
        """The parts of the file that hold one of some words, what names these, and what they call.
        A data set is read by others: what it calls says nothing of these."""
        text, parts = self._unit.text, dict[str, str]()
        for each in self._unit.pieces:
            own = layout_of(text).code_text(each.start, each.end)
            parts[_part(each)] = parts.get(_part(each), "") + own
        asking = {name for name, own in parts.items() if any(x in own for x in signs)}
        if asking == parts.keys():
            return asking
        calls = {name: parts.keys() & set(_WORD.findall(own)) for name, own in parts.items()}
        callers: dict[str, set[str]] = {name: set() for name in parts}
        for name, called in calls.items():
            for other in called if not self._unit.defines("__getitem__", name) else ():
                callers[other].add(name)
        return set(closure(closure(sorted(asking), callers.__getitem__), calls.__getitem__))

    def _stores(self) -> Iterator[Op]:
        for word in sorted({each.rpartition(".")[2] for each in words.STORES}):
            for call in self._unit.ops_naming(word):
                if call.code == "call" and not words.STORES.isdisjoint(call.called):
                    yield call

    def _has(self, role: str) -> bool:
        if role not in self._answers:
            self._answers[role] = _OF_FILES[role](self._unit)
        return self._answers[role]

    def _is_tested(self, offset: int) -> bool:
        piece = self._unit.piece_at(offset)
        if piece is None:
            return False
        bases = self._unit.bases(piece.owner) if piece.owner else ()
        return any(each.endswith("TestCase") for each in bases) or self.is_test(piece)

    def is_test(self, piece: Piece) -> bool:
        """``def test_loss():``. One with other arguments may evaluate a model on a test set."""
        function = self._unit.function(piece) if piece.name.startswith("test_") else None
        return function is not None and function.params.keys() <= {"self", *words.FIXTURES}


def _imports(unit: Unit, libraries: Iterable[str]) -> Iterator[str]:
    """The modules of some libraries that a file imports."""
    wanted = {each for each in libraries if each in unit.text}
    for names in unit.imported.values() if wanted else ():
        yield from (each for each in names if each.partition(".")[0] in wanted)


def _keeps_rows(store: Op) -> bool:
    """``np.save("labels", labels)``, ``open("metadata.jsonl", "w")``."""
    if "builtins.open" not in store.called:
        return any(_is_of_rows(value) for _, value in store.arguments())
    mode = store.given("mode", 1)
    writes = mode is not None and mode.text[:1] in ("a", "w", "x")
    return writes and any(words.is_data(x) or x.endswith(words.DATA) for x in _texts(store))


def _is_of_rows(value: Op) -> bool:
    if value.code == "call" and not words.JOINS.isdisjoint(value.called):
        return any(_is_of_rows(each) for each in value.args[1:2])
    return lattice.are(value.values.types(value), "list")


def _part(piece: Piece) -> str:
    """The function at the top, or the class, that a piece is of; "" for the module's own code."""
    return piece.owner or piece.name


def _tests(unit: Unit) -> bool:
    found = _imports(unit, words.TESTING)
    return any(not each.startswith(words.NO_TESTING) for each in found) or _is_collected(unit)


def _is_collected(unit: Unit) -> bool:
    """Whether pytest finds tests in a file, by its name and theirs, that need nothing else, and
    nothing there starts by itself."""
    name = os.path.basename(unit.source.path)
    if not name.startswith("test_") or main_line(unit.text) is not None:
        return False
    found = (each for each in unit.pieces if each.name.startswith("test_") and not each.owner)
    return any("assert " in unit.text[x.start : x.end] and unit.roles.is_test(x) for x in found)


def _packs(unit: Unit) -> bool:
    return says_in_code(unit.text, [words.SETS_UP]) and any(_imports(unit, words.PACKAGING))


def _shows(unit: Unit) -> bool:
    return only_shows(unit.source, lambda libraries: any(_imports(unit, libraries)))


def _trains(unit: Unit) -> bool:
    if says_in_code(unit.text, words.TRAINS):
        return True
    given = unit.ops_naming(words.TRAIN) if f".{words.TRAIN}(" in unit.text else ()
    return any(word_of(call) == words.TRAIN and _takes_data(call) for call in given)


def _takes_data(call: Op) -> bool:
    """``model.train(rows, labels)``: what takes a mode alone, as a module of torch, trains
    nothing."""
    return len(call.args) > 2 and call.args[0].code == "attr"


def _answers(unit: Unit) -> bool:
    return any(_imports(unit, words.ANSWERING)) and not _trains(unit)


def _shows_all(unit: Unit) -> bool:
    return unit.source.kind == NOTEBOOK and _shows(unit)


_OF_FILES = {"test": _tests, "packaging": _packs, "showing": _shows_all, "inference": _answers}


# What a listing lists


def are_sources(call: Op) -> bool:
    """Whether a listing is of what a compiler is given, or of archives of code."""
    listed = list(_texts(call))
    if any(each.endswith(words.COMPILED) for each in listed):
        return True
    named = any(each.endswith(words.PERHAPS_COMPILED) for each in listed)
    return named and any(holds(call.function.unit.text, each) for each in words.COMPILES)


def are_shards(call: Op) -> bool:
    """``pytorch_model-*.bin``, numbered anew with a map of what is in which."""
    return holds(call.function.unit.text, "weight_map") and any(
        "*" in each
        and each.endswith(words.SHARD_ENDINGS)
        and any(word in each.partition("*")[0] for word in words.SHARDS)
        for each in _texts(call)
    )


def _texts(call: Op) -> Iterator[str]:
    """The texts that are written in a call, and in the conditions of a clause around it."""
    clauses = (x for x in call.uses if x.code == "iter" and x.name == "comprehension")
    conditions = (each for clause in clauses for each in clause.region.conditions())
    starts = [*call.args[1:], *conditions]
    for each in closure(starts, lambda op: () if op is call else op.args):
        if each.text:
            yield each.text
