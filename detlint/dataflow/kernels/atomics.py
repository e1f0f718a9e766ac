"""What an atomic addition in a kernel written in Python adds, and what becomes of what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.arguments.settings import names_tested
from detlint.dataflow.calls import word_of
from detlint.dataflow.slices import ahead
from detlint.models import atomics as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op

_MOST = 400  # operations that depend on one
_COMPUTING = frozenset(("binary", "call", "phi", "choice", "unary", "compare", "augment"))


def adds_integers(place: Op | None, value: Op) -> bool:
    """Whether a counter is added to, or whole numbers, which add up the same in any order."""
    if place is not None and any(map(rows.counts, _names(_first(place)))):
        return True
    return _is_integer(value, set())


def _first(place: Op) -> Op:
    """The pointer of a pointer plus offsets; the array of an array at an index."""
    while place.code in ("binary", "item") and place.args:
        place = place.args[0]
    return place


def _names(op: Op) -> list[str]:
    return [*op.function.names_of(op), op.word]


def _is_integer(op: Op, seen: set[Op]) -> bool:
    if op in seen:
        return True
    seen.add(op)
    values = op.values
    number = values.constant(op)
    if isinstance(number, (int, float)):
        return float(number).is_integer()
    if lattice.are(values.types(op), "int", "bool") or op.code == "compare":
        return True
    if op.code in ("binary", "phi", "choice"):
        return all(_is_integer(each, seen) for each in op.args[op.code == "choice" :])
    if op.code == "call":
        return _gives_integers(op, seen)
    return any(each.isupper() or rows.counts(each) for each in _names(op))


def _gives_integers(call: Op, seen: set[Op]) -> bool:
    word, given = word_of(call), [value for _, value in call.arguments()]
    if rows.is_whole(word) or any(map(_is_integer_type, given)):
        return True
    if word == "where":
        return len(given) == 3 and all(_is_integer(each, seen) for each in given[1:])
    return word in rows.KEEPING and bool(given) and _is_integer(given[0], seen)


def _is_integer_type(op: Op) -> bool:
    """``x.to(tl.int32)``, ``tl.full(s, 1, dtype=tl.int32)``."""
    return rows.is_integer_type(str(op.name) if op.code == "attr" else op.text)


def slot(call: Op) -> str:
    """The variable that takes the old value, if rows are then stored at places computed from it,
    or if it is stored itself. Not where what is stored there was loaded from there, too: then it
    hands out work, not places.
    """
    taken = call
    while taken.uses and not (names := call.function.names_of(taken)):
        if taken.uses[0].code != "binary":  # ``start + tl.atomic_add(…)``
            return ""
        taken = taken.uses[0]
    if not taken.uses:
        return ""
    computed = set(ahead([taken], _COMPUTING, _MOST))
    for place, value in _stored(call):
        if (place in computed) is not (value in computed):
            return names[0]
    return ""


def _stored(call: Op) -> Iterator[tuple[Op | None, Op | None]]:
    """Places and values of the stores of a kernel."""
    values = call.values
    for op in call.function.ops:
        if op.code == "store_item":
            yield op.args[1], op.args[2]
        elif op.code == "call" and rows.STORE in values.called(op):
            yield op.given("pointer", 0), op.given("value", 1)


def is_chosen(op: Op) -> bool:
    """Whether a flag for determinism decides about some code: ``if not DETERMINISTIC:``."""
    return any(map(rows.is_choice, names_tested(op)))
