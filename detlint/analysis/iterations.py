"""What loops and comprehensions over an unordered value do with its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import selections
from detlint.analysis.order import Use
from detlint.analysis.pools import only_worked_on
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.analysis.order import Flow


class Iterations:
    """Handlers for ``for`` statements and the ``for`` of comprehensions."""

    def __init__(self, consumption: Consumption) -> None:
        self._all = consumption
        self._module = consumption.module

    def in_for(self, loop: cst.For, flow: Flow) -> Iterator[Use]:
        """``for name in x:``."""
        if loop.iter is not flow.node:
            return
        positions = self._positions(flow.node, loop.target)
        if positions and self._all.indices.parallels.only_index(_first(loop.target), loop):
            positions = frozenset()
        yield from self._all.body(loop, positions).uses()

    def in_comp_for(self, clause: cst.CompFor, flow: Flow) -> Iterator[Use]:
        """``… for name in x``."""
        outer = self._module.parent(clause)
        while isinstance(outer, cst.CompFor):
            outer = self._module.parent(outer)
        if not flow.filled and self._finds_one(clause):
            return
        if outer is not None and self._all.conditions.draws(outer):
            yield Use(outer, "looped over with random draws")
            return
        if isinstance(outer, cst.DictComp):
            names = self._names(outer.key) | self._names(outer.value)
        elif isinstance(outer, (cst.ListComp, cst.GeneratorExp)):
            names = self._names(outer.elt)
        else:
            return  # a set
        if names & self._positions(flow.node, clause.target):
            yield Use(outer, "numbered by enumerate()")
        elif names & self._targets(clause):  # else all elements are equal
            if isinstance(outer, cst.ListComp) and self._only_worked_on(outer, clause):
                return
            keyed = isinstance(outer, cst.DictComp)
            yield from self._all.follow(flow.into(outer)._replace(keyed=keyed))

    def _only_worked_on(self, made: cst.ListComp, clause: cst.CompFor) -> bool:
        return only_worked_on(self._all, made, self._targets(clause))

    def _finds_one(self, clause: cst.CompFor) -> bool:
        """``for x in folder.iterdir() if x.name == "config.json"``."""

        def varies(node: cst.CSTNode) -> bool:
            return not self._names(node).isdisjoint(self._targets(clause))

        return self._all.lists_one_folder() and any(
            selections.is_unique_match(each.test, clause.target, varies) for each in clause.ifs
        )

    def _targets(self, clause: cst.CompFor | None) -> set[str]:
        """The names that a clause binds, and those that clauses after it make of them."""
        found: set[str] = set()
        while clause is not None:
            found |= self._names(clause.target)
            clause = clause.inner_for_in
        return found

    def _names(self, node: cst.CSTNode) -> set[str]:
        below = self._module.tree.descendants(node)
        return {each.value for each in below if isinstance(each, cst.Name)}

    def _positions(self, node: cst.CSTNode, target: cst.CSTNode) -> frozenset[str]:
        """The names in a loop's target that count: the first of ``enumerate``."""
        while isinstance(node, cst.Call) and self._module.called(node) != "builtins.enumerate":
            if not node.args:
                return frozenset()
            node = node.args[0].value
        if not isinstance(node, cst.Call) or not isinstance(target, (cst.Tuple, cst.List)):
            return frozenset()
        first = target.elements[0].value
        return frozenset((first.value,)) if isinstance(first, cst.Name) else frozenset()


def _first(target: cst.CSTNode) -> cst.CSTNode:
    """The counter in ``for i, x in enumerate(y)``."""
    return target.elements[0].value if isinstance(target, (cst.Tuple, cst.List)) else target
