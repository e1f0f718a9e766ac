"""What several threads change of what they share, in the order in which they come to it; also in
the functions that they call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import Named, path_of, spoken, word_of
from detlint.dataflow.orders.threads import whole
from detlint.dataflow.slices import behind, closure
from detlint.models.containers import ADDING, CHANGING
from detlint.models.model import Names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.threads import Start, Threads

_OUTER = ("free", "global")
_PUTS = ADDING | {"put_nowait"}
_STORES = ("store_attr", "store_global")
_ASKING = ("len", "next")  # what tells how far others have come
_SET_ALIKE = ("const", "augment", "function")  # each thread sets the same, or it is told as a sum
_MOST = 200  # operations behind a value, and functions


_is_initialising = Names("torch.nn.init.**")


class _Run(NamedTuple):
    """A function that several threads run, and the parameters of which they share what they are
    given: all of that, and of ``fields`` what the object that it is a method of was made with."""

    function: Function
    shared: frozenset[str]
    fields: frozenset[str] = frozenset()


def shared_changes(threads: Threads) -> Iterator[Named]:
    """What gives something else where another thread comes first: what grows, is set anew, or is
    given a number by how many there are."""
    begun = [run for start in threads.starts if start.is_of_several for run in _begun(start)]
    found: dict[tuple[str, int], Named] = {}
    for run in closure(begun, lambda each: _called(each, threads), _MOST):
        for op in run.function.ops:
            if named := _changed(run, op):
                found.setdefault(named.place, named)
    yield from found.values()


def added_up(threads: Threads) -> Iterator[Named]:
    """Of these, what is computed and kept: sums are rounded by their order."""
    for each in shared_changes(threads):
        stored = each.op.code in _STORES and each.op.args[-1].code == "binary"
        if stored or each.op.code == "augment":
            yield each


def _begun(start: Start) -> Iterator[_Run]:
    for function in start.functions:
        fields = start.fields if function.class_name else frozenset[str]()
        names = [*function.params]
        given = [start.is_bound, *start.given] if names[:1] == ["self"] else start.given
        yield _Run(function, _those(names, given), fields)


def _those(names: Sequence[str], given: Sequence[bool]) -> frozenset[str]:
    return frozenset(name for name, is_one in zip(names, given, strict=False) if is_one)


def _called(run: _Run, threads: Threads) -> Iterator[_Run]:
    """The functions of the program's that it calls, by their names; of methods, those of what is
    shared or is given something of that."""
    yield from (_Run(each, run.shared, run.fields) for each in run.function.nested)
    for call in run.function.coded("call"):
        arguments = [(name, _is_shared(run, each)) for name, each in call.arguments()]
        given = [is_one for name, is_one in arguments if name is None]
        keywords = {name for name, is_one in arguments if name and is_one}
        is_method = call.args[0].code == "attr"
        is_own = is_method and _is_shared(run, call.args[0].args[0])
        if is_method and not (is_own or keywords or any(given)):
            continue
        for each in threads.named({word_of(call)} - {""}):
            names = [*each.params]
            known = [is_own, *given] if names[:1] == ["self"] else given
            yield _Run(each, _those(names, known) | keywords)


def _changed(run: _Run, op: Op) -> Named | None:
    """What an operation changes that others have as well, if it matters who is first."""
    if op.code == "augment":  # what counts gives the same in whatever order
        counts = isinstance(op.args[1].literal, int) or word_of(op.args[1]) == "len"
        grows = not counts and _is_shared(run, op.args[0])
        return Named(op, path_of(op.args[0])) if grows else None
    if op.code in _STORES:
        is_one = op.code == "store_global" or _is_shared(run, op.args[0])
        name = path_of(op.args[0]) + f".{op.name}" if op.code == "store_attr" else str(op.name)
        return Named(op, name) if is_one and op.args[-1].code not in _SET_ALIKE else None
    if op.code == "store_item":
        is_one = _is_shared(run, op.args[0]) and op.args[2].code != "augment"
        return Named(op, path_of(op.args[0])) if is_one and _asks(run, op.args[1:]) else None
    if op.code != "call" or op.args[0].code != "attr":
        return None
    word = word_of(op)
    in_place = word.endswith("_") and not any(map(_is_initialising, op.called))
    orders = in_place or word in _PUTS or (word in CHANGING and _asks(run, op.args[1:]))
    is_one = orders and _is_shared(run, op.args[0].args[0])
    return Named(op, f"{spoken(op.args[0])}()") if is_one else None


def _asks(run: _Run, values: Collection[Op]) -> bool:
    """Whether values are made of how far others have come: of the size of what all have."""
    calls = (each for each in behind(*values, most=_MOST) if word_of(each) in _ASKING)
    return any(_is_shared(run, each) for call in calls for each in call.args[1:])


def _is_shared(run: _Run, held: Op) -> bool:
    """Whether it is, or is a part of, what the other threads have as well."""
    return any(
        (each.code in _OUTER and not _is_of_each(each))
        or (each.code == "param" and each.word in run.shared)
        or (each.code == "attr" and each.args[0].is_self and each.name in run.fields)
        for each in closure([held], whole, _MOST)
    )


def _is_of_each(op: Op) -> bool:
    """Whether each thread has its own: ``threading.local()``."""
    made = op.args if op.code == "free" else op.function.unit.module.bindings.get(str(op.name), [])
    return any(word_of(each) == "local" for each in made)
