"""What in the body of a loop, or of a function, depends on the element, or on its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.analysis.consumption import Consumption


_INTEGER = re.compile(r"^(?:builtins\.|numpy\.u?)(?:int\d*|bool)$")


class Elements:
    """The names of one body that hold the element, what is made of it, and counters.

    own  counters that the body sets anew for each element
    """

    def __init__(
        self, consumption: Consumption, names: Iterable[str], positions: Iterable[str] = ()
    ) -> None:
        self._consumption = consumption
        self._module = consumption.module
        self._positions = set(positions)
        self.tainted = {*names, *self._positions}
        self.own: set[str] = set()

    def names(self, node: cst.CSTNode) -> Iterator[str]:
        """The variables that an expression mentions."""
        return (each.value for each in self._consumption.reads.variables(node))

    def varies(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression depends on the element."""
        return node is not None and not self.tainted.isdisjoint(self.names(node))

    def counts(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression depends on how many elements came before."""
        return node is not None and not self._positions.isdisjoint(self.names(node))

    def count_with(self, names: set[str]) -> bool:
        """Whether one of some variables says how many elements came before."""
        return not self._positions.isdisjoint(names)

    def add(self, target: cst.CSTNode, *, counted: bool = False) -> None:
        """Note that a target is made of the element."""
        self.tainted.update(self.names(target))
        if counted:
            self._positions.update(self.names(target))

    def find_counters(self, loop: cst.For | cst.While) -> None:
        """Note the locals that a loop counts up; what the body sets anew is the element's own."""
        for name in self._counters(loop):
            self.tainted.add(name.value)
            if self._begins_anew(name, loop):
                self.own.add(name.value)
            else:
                self._positions.add(name.value)

    def _counters(self, loop: cst.For | cst.While) -> Iterator[cst.Name]:
        """Locals that the body counts up and reads, logs aside."""
        for each in self._module.tree.descendants(loop.body):
            if isinstance(each, cst.AugAssign) and isinstance(each.target, cst.Name):
                name = each.target
                reads = [
                    load
                    for load in self._consumption.reads.loads(name)
                    if load is not name
                    and loop in self._module.ancestors(load)
                    and each not in self._module.ancestors(load)
                    and not self._consumption.conditions.is_diagnostic(load)
                ]
                if reads and self.is_integer(each.value):
                    yield name

    def _begins_anew(self, name: cst.Name, loop: cst.For | cst.While) -> bool:
        """``n = 16`` in the body, above all that reads ``n`` there or counts it up."""
        reads = self._consumption.reads
        stores = (each.statement for each in reads.stores(name))
        inside = (each for each in stores if loop.body in self._module.ancestors(each))
        first = next(inside, None)
        given = first.value if isinstance(first, (cst.Assign, cst.AnnAssign)) else None
        if first is None or given is None or name.value in self.names(given):
            return False
        return all(
            reads.place(each) > reads.place(first) and reads.dominates(first, each)
            for each in reads.variables(loop.body)
            if each.value == name.value
        )

    def is_integer(self, node: cst.BaseExpression) -> bool:
        """Whether a value is visibly a whole number: such sums have no order."""
        if isinstance(node, (cst.Integer, cst.Comparison)):
            return True
        if isinstance(node, cst.Attribute):
            return node.attr.value in ("st_size", "size")
        if isinstance(node, cst.Call):
            if self._module.called(node) == "builtins.sum" and node.args:
                return self._are_integers(node.args[0].value)
            if isinstance(node.func, cst.Attribute) and node.func.attr.value == "astype":
                kind = self._module.argument(node, "dtype", 0)
                return _INTEGER.search(self._module.qualified_name(kind) or "") is not None
            return self._module.called(node) in reductions.INTEGERS
        return False

    def _are_integers(self, node: cst.BaseExpression) -> bool:
        """``len(x) for x in y``, ``map(len, y)``."""
        if isinstance(node, (cst.GeneratorExp, cst.ListComp)):
            return self.is_integer(node.elt)
        if not isinstance(node, cst.Call) or self._module.called(node) != "builtins.map":
            return False
        return self._module.qualified_name(node.args[0].value) in reductions.INTEGERS
