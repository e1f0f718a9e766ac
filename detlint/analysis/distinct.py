"""Where the order of distinct elements reaches a result: those of a set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.argument import Argument
from detlint.analysis.attributes import Attributes
from detlint.analysis.call_names import takes_order
from detlint.analysis.conditions import call_word
from detlint.analysis.consumption import Consumption
from detlint.analysis.distinct_bodies import DistinctBody
from detlint.analysis.messages import Messages
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.conditions import Conditions
    from detlint.analysis.loop_body import LoopBody
    from detlint.analysis.order import Flow, Use
    from detlint.module import Module
    from detlint.scope import Scope

# What is listed under such a name goes into a message: `missing_keys`, `self.unexpected`.
_FAULTS = re.compile(
    r"(?:^|_)(?:conflicting|illegal|incompatible|invalid|mismatch(?:ed|ing)?|missing|undefined"
    r"|unexpected|unrecognized|unsupported|unused)(?:_|$)"
)
_HANDED_ON = (
    *("assigned", "collected", "cut", "indexed", "joined", "passed", "returned", "sliced"),
    *("stored", "unpacked"),
)


class Distinct(Consumption):
    """The uses of the order of distinct elements, in one module.

    A function that cannot be seen uses the order only if its name says so: most look things up.
    """

    def __init__(
        self, module: Module, conditions: type[Conditions] = Messages, depth: int = 0
    ) -> None:
        super().__init__(module, conditions, depth)
        self._globals = Attributes(module)

    def body(self, loop: cst.For, positions: frozenset[str]) -> LoopBody:
        return DistinctBody.of(self, loop, positions)

    def of_other(self, module: Module) -> Consumption:
        return Distinct(module, type(self.conditions), self._depth + 1)

    def follow(self, flow: Flow) -> Iterator[Use]:
        for use in super().follow(flow):
            if self._matters(use, flow):
                yield use

    def follow_name(
        self,
        name: cst.Name,
        statement: cst.CSTNode,
        *,
        keyed: bool = False,
        filled: bool = False,
    ) -> Iterator[Use]:
        tells = _FAULTS.search(name.value) is not None
        for use in super().follow_name(name, statement, keyed=keyed, filled=filled):
            if not (tells and use.how.startswith(_HANDED_ON)):
                yield use

    def holds_one(self, flow: Flow) -> bool:
        """Also what two sets have in common: whoever takes one of that expects no more."""
        made = self.module.names.value_of(self._root) if self._root is not None else None
        return super().holds_one(flow) or (not flow.filled and _is_common(made))

    def _matters(self, use: Use, flow: Flow) -> bool:
        """Whether a use shows the order to more than a reader of messages."""
        if use.how.startswith("passed to ") and isinstance(use.node, cst.Call):
            return flow.filled or self._takes_order(use.node, flow)
        if use.how.startswith("assigned to "):
            return not _FAULTS.search(use.how.rpartition(".")[2])
        if use.how == "returned":
            function = self.module.enclosing_function(use.node)
            return not (
                isinstance(function, cst.FunctionDef) and _FAULTS.search(function.name.value)
            )
        return True

    def _takes_order(self, call: cst.Call, flow: Flow) -> bool:
        """``train_on(x)``, ``f(*x)``, or a function of the file that goes through what it gets."""
        argument = self.module.parent(flow.node)
        if not isinstance(argument, cst.Arg) or self.module.parent(argument) is not call:
            return True  # the use of an expression in this one
        word = call_word(call)
        if reductions.REMOVING.search(word) or word == "select":
            return False
        if argument.star or takes_order(word):
            return True
        if Argument(self.module, argument, call).chooses():
            return True
        seen = self.definitions.of(call.func) is not None
        return seen and not self.functions.ignore_order(call, argument.value, keyed=flow.keyed)

    def _outlives(
        self, name: cst.Name, scope: Scope | None, reads: list[cst.Name], *, filled: bool
    ) -> bool:
        seen = super()._outlives(name, scope, reads, filled=filled)
        if seen and scope is not None and isinstance(scope.node, cst.Module):
            return not self._globals.global_only_looked_up(name.value)
        return seen


def _is_common(node: cst.CSTNode | None) -> bool:
    """``a & b``, ``a.intersection(b)``."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.BitAnd)
    return isinstance(node, cst.Call) and call_word(node) == "intersection"
