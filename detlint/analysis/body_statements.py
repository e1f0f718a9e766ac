"""The statements of a body that runs once for each element, one handler for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.body_calls import BodyCalls
from detlint.analysis.handlers import handler
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterable


class BodyStatements(BodyCalls):
    """Each handler answers whether the order of the elements shows in its statement.

    A subclass says what an assignment, an ``if`` and a ``return`` mean.
    """

    def _any(self, block: cst.BaseSuite) -> bool:
        return any_of(self._statement(each) for each in block.body)

    def _statement(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.SimpleStatementLine):
            return any_of(self._statement(each) for each in node.body)
        found = handler(self, "on_", node)
        if found is not None:
            return bool(found(node))
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return self._elements.varies(node)
        return not isinstance(node, _quiet())

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        """What giving a value to a target means."""
        raise NotImplementedError

    def _note_named(self, test: cst.BaseExpression) -> None:
        """``if match := pattern.search(element):``."""
        for each in self._module.tree.descendants(test):
            if isinstance(each, cst.NamedExpr) and self._elements.varies(each.value):
                self._elements.add(each.target)

    def on_while(self, node: cst.While) -> bool:
        """``while x:``."""
        self._note_named(node.test)
        return self._any(node.body)

    def on_for(self, node: cst.For) -> bool:
        """``for part in element:``."""
        if self._elements.varies(node.iter):
            self._elements.add(node.target)
        return self._any(node.body)

    def on_with(self, node: cst.With) -> bool:
        """``with open(element) as file:``."""
        for item in node.items:
            if item.asname is not None and self._elements.varies(item.item):
                self._elements.add(item.asname.name)
        return self._any(node.body)

    def on_try(self, node: cst.Try) -> bool:
        """``try: …``."""
        parts = [node.body, *(each.body for each in node.handlers)]
        parts += [each.body for each in (node.orelse, node.finalbody) if each is not None]
        return any_of(self._any(part) for part in parts)

    def on_raise(self, _: cst.CSTNode) -> bool:
        """``raise ValueError(element)``."""
        self._effects += 1
        return False

    on_assert = on_del = on_raise

    def on_ann_assign(self, node: cst.AnnAssign) -> bool:
        """``x: str = y``."""
        return node.value is not None and self._assign(node.target, node.value, node)

    def on_assign(self, node: cst.Assign) -> bool:
        """``x = y``."""
        return any_of(self._assign(each.target, node.value, node) for each in node.targets)

    def on_expr(self, node: cst.Expr) -> bool:
        """``f(x)``, ``await f(x)``."""
        value = node.value.expression if isinstance(node.value, cst.Await) else node.value
        return isinstance(value, cst.Call) and self._call(value)


def _quiet() -> tuple[type[cst.CSTNode], ...]:
    """Statements that do nothing to an element. A function: libcst is not imported before use."""
    return (
        cst.Pass,
        cst.Continue,
        cst.Break,
        cst.Import,
        cst.ImportFrom,
        cst.Global,
        cst.Nonlocal,
    )


def any_of(answers: Iterable[bool]) -> bool:
    """Every statement has to be read, also after one that depends on the order."""
    return any(list(answers))
