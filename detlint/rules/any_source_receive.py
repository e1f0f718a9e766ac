"""DET704 any-source-receive."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.consumption import Consumption
from detlint.analysis.receives import is_inexact, receive
from detlint.analysis.switches import code
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.receives import Receive

_ADDING_METHODS = frozenset({"add_", "sub_", "mul_", "lerp_"})
_TAKING_METHODS = frozenset({"append", "extend", "put"})
# A loop over processes receives once from each.
_PROCESSES = re.compile(
    r"world|rank|worker|client|peer|nproc|num_proc|size|slave|node|agent|actor|replica",
    re.IGNORECASE,
)
_SENDER = re.compile(r"\.(?:Get_source\(\)|source)$|^(?:src|source|sender)(?:_?rank)?$")


class AnySourceReceive(Rule):
    """Why runs differ: `dist.recv` without `src`, and MPI's `ANY_SOURCE`, take the message that
    arrives first. Which process that is differs from run to run. Floats that are added up in this
    order round differently, and a list that is filled in it has another order.

    Reported:
    - messages of several senders whose floats are added up as they come
    - messages that are put in a list as they come

    Not reported:
    - messages that are stored by their sender, or sorted later
    - sums of whole numbers, which do not round
    - without `src`, a loop that is not over processes: there may be one sender

    What to do: Receive from one rank after the other: `dist.recv(part, src=rank)`. Or store each
    message by its sender and add up afterwards, or use a collective: `dist.all_reduce(total)`.
    """

    code = "DET704"
    summary = "messages are taken in the order in which they arrive"
    triggers = ("recv(", "irecv(", "recv_object_list(", "Recv(", "Irecv(")
    needs = ("torch.distributed", "from torch import distributed", "mpi4py")
    source = "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.recv"
    shown = "CPU"
    confidence = Confidence.LIKELY
    examples = (
        Example(
            bad="""
                import torch
                import torch.distributed as dist

                def total(part, world_size):
                    total = torch.zeros(10)
                    for _ in range(1, world_size):
                        dist.recv(part)  # DET704
                        total += part
                    return total
            """,
            good="""
                import torch
                import torch.distributed as dist

                def total(part, world_size):
                    total = torch.zeros(10)
                    for rank in range(1, world_size):
                        dist.recv(part, src=rank)
                        total += part
                    return total
            """,
        ),
        Example(
            bad="""
                from mpi4py import MPI

                def gather(comm, size):
                    losses = []
                    for _ in range(1, size):
                        losses.append(comm.recv(source=MPI.ANY_SOURCE))  # DET704
                    return losses
            """,
            good="""
                from mpi4py import MPI

                def gather(comm, size):
                    losses = {}
                    status = MPI.Status()
                    for _ in range(1, size):
                        loss = comm.recv(source=MPI.ANY_SOURCE, status=status)
                        losses[status.Get_source()] = loss
                    return [losses[rank] for rank in sorted(losses)]
            """,
        ),
    )

    @cached_property
    def _consumption(self) -> Consumption:
        return Consumption(self.module)

    def visit_Call(self, node: cst.Call) -> None:
        found = receive(self.module, node)
        if found is None:
            return
        loop = self._loop(node)
        if loop is None or not (found.explicit or _is_over_processes(loop)):
            return
        how = next(self._uses(node, found, loop), None)
        if how is not None:
            self.report(
                node,
                f"{found.shown} takes the message that arrives first, and here it is {how}",
                advice="receive from each rank in turn, or store what comes by its sender",
            )

    def _loop(self, node: cst.CSTNode) -> cst.For | cst.While | cst.ListComp | None:
        """The innermost loop that receives again and again."""
        for above in self.module.ancestors(node):
            if isinstance(above, (cst.FunctionDef, cst.Lambda)):
                return None
            if isinstance(above, (cst.For, cst.While, cst.ListComp)):
                return above
        return None

    def _uses(
        self, call: cst.Call, found: Receive, loop: cst.For | cst.While | cst.ListComp
    ) -> Iterator[str]:
        """What the loop does with the message, where the order of arrival tells."""
        if isinstance(loop, cst.ListComp):
            if found.buffer is None and loop.elt is call and self._matters(loop):
                yield "collected in a list"
            return
        if self._notes_sender(loop):
            return
        names = self._names(call, found, loop)
        for node in self.module.tree.descendants(loop.body):
            if isinstance(node, cst.AugAssign):
                yield from self._of_operation(node, names, call)
            elif isinstance(node, cst.Assign) and len(node.targets) == 1:
                target = node.targets[0].target
                if self._adds_to_itself(target, node.value, names, call):
                    yield f"added to {code(target)}"
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                yield from self._of_method(node, node.func, names, call)

    def _of_operation(self, node: cst.AugAssign, names: set[str], call: cst.Call) -> Iterator[str]:
        adding = (cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign)
        if not isinstance(node.operator, adding):
            return
        if self._adds(node.target, node.value, names, call):
            yield f"added to {code(node.target)}"
        elif self._mentions(node.value, names, call) and self._is_list(node.target):
            yield from self._put(node.target, node)

    def _names(self, call: cst.Call, found: Receive, loop: cst.For | cst.While) -> set[str]:
        """The locals that hold the message, or something made of it, in the loop's body."""
        names = {code(found.buffer)} if found.buffer is not None else set()
        for node in self.module.tree.descendants(loop.body):
            if not isinstance(node, cst.Assign) or len(node.targets) != 1:
                continue
            holds = node.value is call if found.buffer is None else False
            if holds or (node.value is not call and self._mentions(node.value, names, call)):
                target = node.targets[0].target
                parts = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
                names |= {code(each.value) for each in parts} or {code(target)}
        return names

    def _mentions(self, node: cst.CSTNode, names: set[str], call: cst.Call) -> bool:
        return any(
            each is call or (isinstance(each, (cst.Name, cst.Attribute)) and code(each) in names)
            for each in self.module.tree.descendants(node)
        )

    def _adds(
        self, target: cst.BaseExpression, value: cst.CSTNode, names: set[str], call: cst.Call
    ) -> bool:
        """Whether floats of the message are added to what one loop after another adds to."""
        if not isinstance(target, (cst.Name, cst.Attribute)) or code(target) in names:
            return False
        if isinstance(value, (cst.List, cst.ListComp)) or not self._mentions(value, names, call):
            return False
        parts = [each for each in self.module.tree.descendants(value) if _is_place(each)]
        return any(is_inexact(self.module, each) for each in (target, *parts))

    def _adds_to_itself(
        self, target: cst.BaseExpression, value: cst.CSTNode, names: set[str], call: cst.Call
    ) -> bool:
        """``total = total + part``."""
        if not isinstance(value, cst.BinaryOperation):
            return False
        sides = (value.left, value.right)
        own = [each for each in sides if _is_place(each) and code(each) == code(target)]
        return bool(own) and self._adds(target, value, names - {code(target)}, call)

    def _of_method(
        self, node: cst.Call, function: cst.Attribute, names: set[str], call: cst.Call
    ) -> Iterator[str]:
        values = [argument.value for argument in node.args]
        given = any(self._mentions(each, names, call) for each in values)
        owner = function.value
        if not given or (isinstance(owner, cst.Subscript) and not self._is_constant(owner)):
            return
        if function.attr.value in _ADDING_METHODS:
            if any(self._adds(owner, each, names, call) for each in values):
                yield f"added to {code(owner)}"
        elif function.attr.value in _TAKING_METHODS and not any(map(_is_labelled, values)):
            yield from self._put(owner, node)

    def _put(self, container: cst.BaseExpression, node: cst.CSTNode) -> Iterator[str]:
        if next(self._consumption.uses_of_filled(container, node), None) is not None:
            yield f"put into {code(container)} in that order"

    def _is_list(self, target: cst.CSTNode) -> bool:
        bound = self.module.names.visible(target) if isinstance(target, cst.Name) else []
        return any(isinstance(each.node, cst.List) for each in bound)

    def _is_constant(self, place: cst.Subscript) -> bool:
        index = place.slice[0].slice
        value = index.value if isinstance(index, cst.Index) else None
        return isinstance(self.module.literal(value), str)

    def _notes_sender(self, loop: cst.For | cst.While) -> bool:
        """Whether the loop keeps who sent: ``senders.append(status.Get_source())``."""
        return any(
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value in _TAKING_METHODS
            and any(_SENDER.search(code(argument.value)) for argument in node.args)
            for node in self.module.tree.descendants(loop.body)
        )

    def _matters(self, values: cst.ListComp) -> bool:
        return next(self._consumption.uses(values), None) is not None


def _is_over_processes(loop: cst.For | cst.While | cst.ListComp) -> bool:
    if isinstance(loop, cst.While):
        return False
    clause = loop.for_in if isinstance(loop, cst.ListComp) else loop
    return bool(_PROCESSES.search(code(clause.iter)))


def _is_place(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.Name, cst.Attribute))


def _is_labelled(value: cst.BaseExpression) -> bool:
    """``(rank, part)``: whoever reads the list can tell whose it is."""
    return isinstance(value, (cst.Tuple, cst.Dict)) and len(value.elements) > 1
