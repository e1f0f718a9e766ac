"""Loops whose passes only add to the lists of a dict, each under a key of its own.

A pass that reads nothing of those before it leaves the same under its key in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.body_statements import BodyStatements, any_of
from detlint.analysis.elements import Elements
from detlint.analysis.filled_dicts import is_filled_at
from detlint.analysis.function_body import TAKING, is_generator
from detlint.analysis.possessions import Possessions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption

_TAKING = TAKING | {"read", "readline", "send"}


class Passes(BodyStatements):
    """The passes of one loop, each with the locals that it binds."""

    def __init__(self, consumption: Consumption, loop: cst.For) -> None:
        self._loop = loop
        self._key = loop.target.value if isinstance(loop.target, cst.Name) else ""
        super().__init__(consumption, Elements(consumption, [self._key]), stops=False)
        self._reads = consumption.reads
        self._own = Possessions(self._module, self._elements)
        self._bound = {self._key}

    def add_apart(self, slot: cst.CSTNode) -> bool:
        """Whether the order of the passes shows neither in ``d[key]`` nor in anything else."""
        return self._is_slot(slot) and not self._any(self._loop.body)

    def _is_slot(self, node: cst.CSTNode) -> bool:
        name = node.value if isinstance(node, cst.Subscript) else None
        return isinstance(name, cst.Name) and is_filled_at(self._consumption, name, self._loop)

    # Statements: whether they read something of other passes, or change what others read

    def _statement(self, node: cst.CSTNode) -> bool:
        simple = (cst.SimpleStatementLine, cst.Assign, cst.AugAssign, cst.Expr, cst.Pass)
        known = isinstance(node, (*simple, cst.Continue, cst.If, cst.For, cst.With))
        return not known or super()._statement(node)

    def on_aug_assign(self, node: cst.AugAssign) -> bool:
        """``d[key] += x``."""
        own = not self._shows(node.target) and self._own.hold(node.target)
        return self._shows(node.value) or not (own or self._is_slot(node.target))

    def on_expr(self, node: cst.Expr) -> bool:
        """``d[key].append(x)``, or a call that can change nothing but what the pass made."""
        call = node.value
        if not isinstance(call, cst.Call) or self._consumption.conditions.is_log(call):
            return not isinstance(call, cst.Call)
        function, changed = call.func, list[cst.CSTNode](call.args)
        if isinstance(function, cst.Attribute) and self._is_slot(function.value):
            adds = function.attr.value in ("append", "extend")
            return not adds or any(map(self._shows, changed))
        if isinstance(function, cst.Attribute) and self._module.called(call) is None:
            changed.append(function.value)
        names = (name for each in changed for name in self._reads.variables(each))
        return self._shows(call) or not all(map(self._own.hold, names))

    def on_if(self, node: cst.If) -> bool:
        """What only one branch binds is not bound."""
        before = set(self._bound)
        shows = self._shows(node.test) or self._any(node.body)
        first, self._bound = self._bound, before
        other = node.orelse
        if other is not None:
            shows |= self.on_if(other) if isinstance(other, cst.If) else self._any(other.body)
        self._bound &= first
        return shows

    def on_for(self, node: cst.For) -> bool:
        """The body of a loop may not run at all."""
        before, shows = set(self._bound), self._shows(node.iter)
        shows |= self._assign(node.target, node.iter, node) or self._any(node.body)
        self._bound = before
        return shows or node.orelse is not None

    def on_with(self, node: cst.With) -> bool:
        """``with open(key) as file:``."""
        for each in node.items:
            target = each.asname.name if each.asname is not None else None
            if self._shows(each.item) or (target and self._assign(target, each.item, node)):
                return True
        return self._any(node.body)

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        if isinstance(target, (cst.Tuple, cst.List)):
            return any_of(self._assign(each.value, value, node) for each in target.elements)
        if self._shows(value):
            return True
        if not isinstance(target, cst.Name):
            return self._shows(target) or not self._own.hold(target)
        if self._elements.varies(value):
            self._elements.add(target)
        self._own.note([target.value], value)
        self._bound.add(target.value)
        return target.value == self._key

    # Expressions

    def _shows(self, node: cst.CSTNode) -> bool:
        below = list(self._module.tree.descendants(node))
        if any(is_generator(each) or self._takes(each) for each in below):
            return True
        return not all(map(self._is_bound, self._reads.variables(node)))

    def _is_bound(self, name: cst.Name) -> bool:
        """Whether a variable has its value from the same pass, or from before the loop."""
        stores = [each.statement for each in self._reads.stores(name)]
        inside = [each for each in stores if self._loop.body in self._module.ancestors(each)]
        return name.value in self._bound or all(isinstance(each, cst.CompFor) for each in inside)

    def _takes(self, call: cst.CSTNode) -> bool:
        """``next(numbers)``, ``runs.pop()``: what the next pass gets is another."""
        if not isinstance(call, cst.Call):
            return False
        if self._module.called(call) == "builtins.next":
            return not (call.args and self._own.hold(call.args[0].value))
        taking = isinstance(call.func, cst.Attribute) and call.func.attr.value in _TAKING
        return taking and not self._own.hold(call.func)
