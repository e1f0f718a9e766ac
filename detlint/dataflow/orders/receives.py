"""Messages that are received from whichever process sends first, and where that shows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.calls import said, word_of
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.orders.use import Flow
from detlint.dataflow.slices import behind
from detlint.models import names
from detlint.models import receives as models

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Op, Region
    from detlint.dataflow.unit import Unit

_MOST = 50  # operations behind an expression
_SENDERS = frozenset(("Get_source", "source"))
_TAKING = frozenset(("append", "extend", "put"))
_ADDING = frozenset(("add_", "sub_", "__iadd__"))


class Receive(NamedTuple):
    """A receive from any process.

    call      the operation
    shown     how the source says it
    message   what was sent
    senders   what tells who sent it
    explicit  whether the source says that any process may have sent it
    """

    call: Op
    shown: str
    message: Op
    senders: frozenset[Op]
    explicit: bool


class Found(NamedTuple):
    """A receive, with what becomes of the messages in the order in which they arrive."""

    receive: Receive
    how: str


class Receives:
    """Looks for them in the functions of one file."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.values = unit.values
        self.orders = Orders(self.values, finishing=True)

    def near(self, offsets: Iterable[int]) -> Iterator[Found]:
        """Those of the functions that some offsets lie in."""
        for call in self.unit.ops_at(offsets):
            found = self._receive(call)
            loop = call.loop
            if found is None or loop is None:
                continue
            if found.explicit or _is_over_processes(loop):
                how = next(self._uses(found, loop), None)
                if how is not None:
                    yield Found(found, how)

    # What receives

    def _receive(self, call: Op) -> Receive | None:
        if call.unpacks:
            return None
        for name in self.values.called(call):
            if name in models.TORCH:
                return self._of_torch(call, models.TORCH[name])
        return self._of_mpi(call) if call.args[0].code == "attr" else None

    def _of_torch(self, call: Op, position: int) -> Receive | None:
        given = [call.given("src", 1), call.given("group_src", position)]
        told = [each for each in given if each is not None]
        buffer = call.given("tensor", 0) or call.given("object_list", 0)
        if buffer is None or not all(each.is_none for each in told):
            return None
        shown = f"{said(call)}(src=None)" if told else f"{said(call)}() without a sender"
        return Receive(call, shown, buffer, frozenset([call]), bool(told))

    def _of_mpi(self, call: Op) -> Receive | None:
        method, owner = str(call.args[0].name), call.args[0].args[0]
        if method not in models.METHODS:
            return None
        source = call.given("source", 1)
        explicit = source is not None and models.ANY in self.values.qualified(source)
        if not explicit and (source is not None or not self._is_communicator(owner)):
            return None
        written = said(call)
        shown = f"{written}(source=MPI.ANY_SOURCE)" if explicit else f"{written}() without a source"
        message = call
        if models.METHODS[method]:
            buffer = call.given("buf", 0)
            if buffer is None:
                return None
            listed = buffer.code in ("list", "tuple") and buffer.args  # [data, MPI.DOUBLE]
            message = buffer.args[0] if listed else buffer
        return Receive(call, shown, message, frozenset(self._senders(call)), explicit)

    def _is_communicator(self, owner: Op) -> bool:
        """``MPI.COMM_WORLD``, or what its ``Dup()`` and ``Split()`` make."""
        known = [*self.values.qualified(owner), *self.values.called(owner)]
        return any(map(models.is_communicator, known))

    @staticmethod
    def _senders(call: Op) -> Iterator[Op]:
        """``status.Get_source()``, of the status that a receive fills."""
        status = call.given("status")
        for use in status.uses if status is not None else ():
            if use.code == "attr" and use.name in _SENDERS:
                yield use
                yield from (each for each in use.uses if each.code == "call")

    # Where the order shows

    def _uses(self, found: Receive, loop: Region) -> Iterator[str]:
        """What the loop does with the messages, where the order of arrival tells."""
        if loop.kind == "comprehension":
            if loop.head is not None:
                yield from self._of_comprehension(found.call, loop.head)
        elif not self._notes_sender(found, loop):
            taken = {found.message, *found.senders}
            for use in self.orders.uses_of_rounds(loop, taken):
                if _adds(use.op) and not self._is_list(use.op):
                    if any(map(self._is_inexact, _parts(use.op))):
                        yield "added up in that order"
                elif not use.assumed:
                    yield "put together in that order"

    def _is_list(self, op: Op) -> bool:
        """``found += parts``, of a list."""
        return op.code == "augment" and lattice.are(self.values.types(op.args[0]), "list")

    def _of_comprehension(self, call: Op, head: Op) -> Iterator[str]:
        for made in head.uses:
            if made.code == "comprehension" and made.args[0] is call:
                flow = Flow(keyed=made.name == "dict")
                yield from ("collected in a list" for _ in self.orders.uses(made, flow))

    @staticmethod
    def _notes_sender(found: Receive, loop: Region) -> bool:
        """Whether the loop keeps who sent: ``senders.append(status.Get_source())``."""
        return any(
            op.code == "change"
            and op.name in _TAKING
            and any(not found.senders.isdisjoint(_parts(each)) for each in op.args[1].args[1:])
            for op in loop.ops()
        )

    def _is_inexact(self, op: Op) -> bool:
        """Whether a number or array is certainly, or by its name, one of floats."""
        named = [str(op.name)] if op.code == "attr" else op.function.names_of(op)
        if any(map(names.seems_inexact, named)):
            return True
        makers = [op, *op.args] if op.code in ("phi", "augment") else [op]
        return any(
            lattice.are(self.values.types(each), "float") or self._makes_floats(each)
            for each in makers
        )

    def _makes_floats(self, op: Op) -> bool:
        if op.code != "call":
            return False
        kind = op.given("dtype")
        if kind is not None:
            said = [str(self.values.constant(kind)), *self.values.qualified(kind)]
            return any(map(models.is_float, said))
        return any(map(models.makes_floats, self.values.called(op)))


def _is_over_processes(loop: Region) -> bool:
    if loop.kind == "while" or loop.head is None or not loop.head.args:
        return False
    return models.are_processes(ast.unparse(loop.head.args[0].node))


def _adds(op: Op) -> bool:
    """``total += x``, ``total + x``, ``total.add_(x)``."""
    if op.code == "call":
        return word_of(op) in _ADDING
    return op.code == "augment" or (op.code == "binary" and op.name in ("Add", "Sub", "Mult"))


def _parts(op: Op) -> set[Op]:
    """What an expression is made of."""
    return set(behind(op, most=_MOST))
