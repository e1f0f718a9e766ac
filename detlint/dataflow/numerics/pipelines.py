"""Which values are datasets of ``tf.data``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.numerics.tensors import annotated
from detlint.dataflow.slices import SAME, alternatives, closure
from detlint.models import tf_data as rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Op

_MOST = 60  # values of one pipeline that are looked at


def names(op: Op) -> list[str]:
    """The plain names of what a value stands for."""
    return [rows.plain_name(each) for each in op.values.qualified(op)]


def called(call: Op) -> list[str]:
    """The plain names of what a call calls."""
    return names(call.args[0])


def holds(op: Op) -> bool:
    """Whether a value certainly is a dataset: by what made it, by what an annotation says, or by
    what else is done with it that no other library's data sets know."""
    pipeline = list(_before([op]))
    return any(_is_one(each) for each in pipeline) or any(
        _only_with_one(each) for each in _beside(pipeline)
    )


def _is_one(op: Op) -> bool:
    if op.code == "call":
        if word_of(op) in rows.GIVING or any(map(rows.makes_dataset, called(op))):
            return True
        if _method_of(op) is not None and not called(op):
            return False  # what it is called on follows
    said = annotated(op) if op.code in ("param", "declared") else []
    return any(rows.is_dataset(rows.plain_name(each)) for each in said) or any(
        rows.makes_dataset(rows.plain_name(name))
        for made in op.origins
        if made is not None and made.called
        for name in made.names
    )


def _method_of(op: Op) -> Op | None:
    """On what a method is called, if the value is what it gives."""
    function = op.args[0] if op.code == "call" else op
    return function.args[0] if op.code == "call" and function.code == "attr" else None


def _before(ops: Iterable[Op]) -> Iterator[Op]:
    """Some values, and the datasets that they are made of by methods, and by choosing a part."""
    return closure(ops, _made_of, _MOST)


def _made_of(op: Op) -> Sequence[Op]:
    owner = _method_of(op)
    if owner is not None:
        return [owner]
    return op.args[:1] if op.code in ("item", "change", "unpack") else alternatives(op)


def _beside(pipeline: list[Op]) -> Iterator[Op]:
    """The calls of methods on some values, and on what these give."""
    starts = [each for each in pipeline if not names(each)]
    for each in list(starts):
        if each.code == "attr":  # as often as `self.data` is read, it is the same
            same = each.function.reads("attr", each.name)
            starts += [other for other in same if other.args[0] is each.args[0]]
    values = closure(
        starts, lambda op: [*_methods(op), *(use for use in op.uses if use.code in SAME)], _MOST
    )
    for each in values:
        yield from _methods(each)


def _methods(value: Op) -> Iterator[Op]:
    """The calls of methods on a value."""
    reads = (use for use in value.uses if use.code == "attr")
    return (x for read in reads for x in read.uses if x.code == "call" and x.args[0] is read)


def _only_with_one(call: Op) -> bool:
    """Whether only a dataset of ``tf.data`` has a method, or takes what it is given."""
    if word_of(call) in rows.METHODS or not rows.KEYWORDS.isdisjoint(call.name):
        return True
    given = (value for _, value in call.arguments() if value.code in ("attr", "global"))
    return any(name.startswith("tensorflow.data.") for each in given for name in names(each))


def is_endless(op: Op) -> bool:
    """Whether a dataset repeats without an end: after that no batch is smaller than the others."""
    return any(
        each.code == "call" and word_of(each) == "repeat" and not _ends(each)
        for each in _before([op])
    )


def _ends(repeat: Op) -> bool:
    count = repeat.given("count", 0)
    found = repeat.values.constant(count) if count is not None else -1
    return isinstance(found, int) and found >= 0
