"""The statements of a function that is called once for each element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.body_statements import BodyStatements, any_of
from detlint.analysis.defaults import Defaults
from detlint.analysis.elements import Elements
from detlint.analysis.possessions import Possessions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption
    from detlint.analysis.definitions import Definition


class FunctionStatements(BodyStatements):
    """Answers for calls that give some of the function's parameters the element.

    varying  the parameters that depend on the element
    given    the parameters that the call gives a value
    """

    def __init__(
        self, consumption: Consumption, definition: Definition, varying: set[str], given: set[str]
    ) -> None:
        super().__init__(consumption, Elements(consumption, varying), stops=False)
        self._definition = definition
        self._varying = varying
        self._given = given
        self._defaults = Defaults(self._module, definition.node, given)
        self._possessions = Possessions(self._module, self._elements)
        self._left_out: set[cst.CSTNode] = set()

    def _runs(self, node: cst.CSTNode) -> bool:
        """Whether a node does not stand in a branch that the defaults rule out."""
        return self._left_out.isdisjoint(self._module.ancestors(node))

    def _owns(self, node: cst.CSTNode) -> bool:
        return self._possessions.hold(node)

    def _note_named(self, test: cst.BaseExpression) -> None:
        for each in self._module.tree.descendants(test):
            if isinstance(each, cst.NamedExpr):
                self._bind(each.target, each.value)

    def _bind(self, target: cst.CSTNode, value: cst.CSTNode) -> None:
        names = set(self._elements.names(target))
        if self._elements.varies(value) or not names.isdisjoint(self._elements.names(value)):
            self._elements.add(target)
        self._possessions.note(names, value)

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        if isinstance(target, (cst.Tuple, cst.List)):
            return any_of(self._assign(each.value, value, node) for each in target.elements)
        if isinstance(target, (cst.Attribute, cst.Subscript)):
            if self._elements.varies(value):  # entry["path"] = path
                self._elements.add(target.value)
            return not self._owns(target.value)
        self._bind(target, value)
        return False

    def on_aug_assign(self, node: cst.AugAssign) -> bool:
        """``total += x`` changes a list in place, so the local has to be the function's own."""
        target = node.target
        if isinstance(target, (cst.Attribute, cst.Subscript)):
            return not self._owns(target.value)
        if self._elements.varies(node.value):
            self._elements.add(target)
        return not (self._owns(target) or self._elements.is_integer(node.value))

    def on_del(self, node: cst.CSTNode) -> bool:
        """``del x``, ``del x[0]``."""
        target = getattr(node, "target", None)
        return isinstance(target, (cst.Attribute, cst.Subscript)) and not self._owns(target.value)

    def on_return(self, _: cst.Return) -> bool:
        """What becomes of the result is judged where the function is called."""
        return False

    def on_expr(self, node: cst.Expr) -> bool:
        """A call; anything else, but for a docstring, may hold calls."""
        value = node.value
        if isinstance(value, (cst.Await, cst.Call)):
            return super().on_expr(node)
        return not isinstance(value, (cst.BaseString, cst.Ellipsis))

    def on_if(self, node: cst.If) -> bool:
        """A branch that the defaults of the parameters rule out does not count."""
        self._note_named(node.test)
        holds = self._defaults.decide(node.test)
        other = node.orelse
        if holds is not None:
            self._left_out.update(filter(None, [other if holds else node.body]))
        below = holds is not False and self._any(node.body)
        if holds or other is None:
            return below
        return (self.on_if(other) if isinstance(other, cst.If) else self._any(other.body)) or below

    def on_for(self, node: cst.For) -> bool:
        """Parts of what is the function's own are so too, if they are made of the element."""
        if self._elements.varies(node.iter):
            self._possessions.note(set(self._elements.names(node.target)), node.iter)
        return super().on_for(node)

    def on_with(self, node: cst.With) -> bool:
        """``with path.open() as file:``."""
        for item in node.items:
            if item.asname is not None:
                self._bind(item.asname.name, item.item)
        return self._any(node.body)

    def on_try(self, node: cst.Try) -> bool:
        """An error tells of the element that it was raised for."""
        for each in node.handlers:
            if each.name is not None:
                self._elements.add(each.name.name)
                self._possessions.add(self._elements.names(each.name.name))
        return super().on_try(node)
