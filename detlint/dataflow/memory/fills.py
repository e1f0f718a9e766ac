"""Arrays of which a part is left unwritten: by a ``continue`` or ``break`` of the loop that fills
their rows, or as all is written from some place on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.control import contexts, loop_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op, Region
    from detlint.dataflow.memory.initialisation import Initialisation
    from detlint.dataflow.unit import Unit

_OPAQUE = {ast.Subscript, ast.IfExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp}

_BINDING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)

_JOINS = frozenset(("free", "phi"))  # through which a value may come round to itself


class PartialFill(NamedTuple):
    """An array that may be returned partly unwritten; ``skip``: what leaves a round too early, or
    the slice that begins too late."""

    allocation: Op
    name: str
    skip: Op

    def claim(self, unit: Unit) -> str:
        """What is wrong."""
        line = unit.source.spoken_place(unit.span(self.skip.node)[0])
        if isinstance(self.skip.node, ast.Slice):
            part = unit.text_of(self.skip.node)
            return f"{self.name} is returned, but {line} writes it from `{part}` on alone"
        what = "leaves the rest of it" if self.skip.name == "break" else "leaves a part of it"
        return f"{self.name} is returned, but the {self.skip.name} on {line} {what} unwritten"


def partial_fill(engine: Initialisation, allocation: Op) -> PartialFill | None:
    """What an allocation is, if a loop certainly can leave it partly unwritten."""
    written = allocation.function.names_of(allocation) or list(_holders(allocation))
    write = _only_write(engine, allocation)
    if not written or write is None:
        return None
    loop, name = loop_of(write), written[0]
    skip = _late_start(write)
    if skip is None and loop is not None and _goes_through(loop, write, allocation):
        skip = next(_skips(loop, write), None)
    if skip is None or not _is_returned(write, name):
        return None
    return PartialFill(allocation, name, skip)


def _holders(allocation: Op) -> Iterator[str]:
    """The names of a dict that an array is written into: ``rows = {"x": np.empty(n)}``."""
    for entry in allocation.uses:
        for outer in entry.uses if entry.code == "entry" else ():
            yield from outer.function.names_of(outer)


def _only_write(engine: Initialisation, allocation: Op) -> Op | None:
    """The one operation that writes to an array; None if there are others, or unknown uses."""
    memory = engine.memory(allocation)
    others = [each for each in memory.writes if each.code != "store_item"]
    others += [by for by, _ in memory.reads]
    stores = [each for each in memory.writes if each.code == "store_item"]
    if memory.is_lost or memory.is_kept or len(stores) != 1 or not all(map(_in_return, others)):
        return None
    return stores[0] if stores[0].within(allocation.region) else None


def _in_return(op: Op) -> bool:
    """Whether an operation returns, or its result is only returned in the statement that has it."""
    if op.code == "return":
        return True
    return bool(op.uses) and all(
        use.code == "return" or (use.code not in _JOINS and _in_return(use)) for use in op.uses
    )


def _goes_through(loop: Region, write: Op, allocation: Op) -> bool:
    """Whether each round of a loop writes a place of its own, and nothing else is around."""
    if loop.kind != "for" or getattr(loop.node, "orelse", None):
        return False
    inside = [each for each in write.region.around() if not allocation.within(each)]
    if loop not in inside or any(each.kind == "while" for each in inside):
        return False
    if any(each.place > allocation.place for each in contexts(write)):
        return False
    return bool(_counters(write, loop))


def _counters(write: Op, loop: Region) -> list[Op]:
    """The parts of an index that a loop counts: ``i`` and ``j`` of ``x[i, :, j]``."""
    key = write.args[1]
    parts = key.args if key.code == "tuple" else [key]
    return [each for each in parts if _counted(each, loop)]


def _counted(op: Op, loop: Region) -> bool:
    while op.code == "unpack":
        op = op.args[0]
    return op is loop.head


def _skips(loop: Region, write: Op) -> Iterator[Op]:
    """Where a round is left before it writes, or the loop before its last round."""
    counters = set(_counters(write, loop))
    for op in loop.ops():
        if op.code != "leave" or op.name == "return" or loop_of(op) is not loop:
            continue
        if op.name == "break":
            if not any(_asks(test, counters) for test in _tests_around(op, loop)):
                yield op
        elif op.place < write.place or _handles_failure(op, write):
            yield op


def _tests_around(op: Op, loop: Region) -> Iterator[Op]:
    for region in op.region.around():
        if region is loop:
            return
        if region.kind in ("if", "else") and region.head is not None:
            yield region.head


def _asks(test: Op, counters: set[Op]) -> bool:
    """Whether a test is about a loop's counters."""
    if test in counters:
        return True
    return test.code not in _JOINS and any(_asks(each, counters) for each in test.args)


def _handles_failure(op: Op, write: Op) -> bool:
    """Whether a round is left because what writes has failed."""
    for region in op.region.around():
        if region.kind == "except":
            attempt = [x for x in write.region.around() if x.kind == "try"]
            return any(region.node in getattr(x.node, "handlers", ()) for x in attempt)
    return False


def _late_start(write: Op) -> Op | None:
    """The slice to whose end all is written, if it certainly begins after the first element:
    ``1:`` and ``window - 1:``, of a parameter."""
    key = write.args[1]
    for part in key.args if key.code == "tuple" else [key]:
        node = part.node
        if isinstance(node, ast.Slice) and node.upper is node.step is None:
            first = part.args[0] if part.args else part
            less = first.args if first.code == "binary" and first.name == "Sub" else [first]
            counts = type(less[-1].constant) is int and less[-1].constant != 0
            if counts and all(each.code == "param" for each in less[:-1]):
                return part
    return None


def _is_returned(write: Op, name: str) -> bool:
    """Whether an array is returned after what writes it, and nothing tells what was written."""
    loop = loop_of(write)
    others = set() if loop is None or loop.node is None else {*_changed(loop.node)} - {name}
    for op in write.function.coded("return"):
        if loop is None or not op.within(loop):
            names, parts = set(_names(op.node)), map(type, ast.walk(op.node))
            if name in names and others.isdisjoint(names) and _OPAQUE.isdisjoint(parts):
                return True
    return False


def _changed(loop: ast.AST) -> Iterator[str]:
    """The names that a loop binds, counts up or stores to, or whose methods it calls."""
    for node in ast.walk(loop):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if isinstance(node, _BINDING):
            for each in targets:
                yield from _names(each)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _names(node.func.value)


def _names(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
