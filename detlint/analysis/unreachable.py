"""Code that never runs: behind a ``return`` in its block, or under a test that fails."""

from __future__ import annotations

import re
from functools import partial
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

import libcst as cst

from detlint.names import UNKNOWN
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.module import Module

    Literal = Callable[[cst.BaseExpression], object]

_LEAVES = (cst.Return, cst.Raise, cst.Continue, cst.Break)
_EXITS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
_EXIST = frozenset({"exists", "is_some", "not_none"})  # of None nothing of that name holds
_ORDERS: dict[type[cst.BaseCompOp], Callable[[Any, Any], bool]] = {
    cst.LessThan: lt,
    cst.LessThanEqual: le,
    cst.GreaterThan: gt,
    cst.GreaterThanEqual: ge,
}
_BLOCKS = (cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.Module)


def never_runs(module: Module, node: cst.CSTNode) -> bool:
    """Whether nothing can lead to a node: a statement of its block leaves before it, or a test
    above it is of a constant that says no."""
    return _is_passed_by(module, node, partial(_constant, module))


def _constant(module: Module, node: cst.BaseExpression) -> object:
    """A literal, or what a name is bound to once: elsewhere in the file, too, where the name is
    not the function's own, since narrowing may have left that out."""
    name = node.value if isinstance(node, cst.Name) else ""
    shared = module.bindings.module.bindings.get(name)
    if shared is not None and module.bindings.scope_of(node).lookup(name) is shared:
        bound = rf"\b{name}\b[ \t]*(?::[^=\n]+)?[-+*/|&]?=(?!=)|\bglobal\b[^\n]*\b{name}\b"
        if len(re.findall(bound, module.source.text)) != 1:
            return UNKNOWN
    value = module.literal(node)
    return UNKNOWN if isinstance(value, list) else value  # which may be filled


def runs_without(
    module: Module, node: cst.CSTNode, place: str, value: object, function: cst.FunctionDef
) -> bool:
    """Whether a node of a function may run where a name, or ``self.name``, has some value."""

    def literal(each: cst.BaseExpression) -> object:
        return value if dotted(each) == place else _constant(module, each)

    return not _is_passed_by(module, node, literal, function)


def tested_places(module: Module, node: cst.CSTNode) -> set[str]:
    """The names, with those of attributes, that decide in a function whether a node runs."""
    found = (each for test in _tests(module, node) for each in module.tree.descendants(test))
    return {name for each in found if (name := dotted(each)) is not None}


def _tests(module: Module, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The tests that decide in a function whether a node runs."""
    below = node
    for above in module.ancestors(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            yield above.test
        elif isinstance(above, cst.BooleanOperation) and below is above.right:
            yield above.left
        elif isinstance(above, _BLOCKS):
            yield from (
                each.test for each in _before(above.body, below) if isinstance(each, cst.If)
            )
        below = above


def _is_passed_by(
    module: Module,
    node: cst.CSTNode,
    literal: Literal,
    within: cst.FunctionDef | None = None,
) -> bool:
    below = node
    for above in module.ancestors(node):
        if above is within:
            return False
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            passed = _holds(above.test, literal) is (below is above.orelse)
        elif isinstance(above, cst.BooleanOperation) and below is above.right:
            passed = _holds(above.left, literal) is isinstance(above.operator, cst.Or)
        else:
            before = _before(above.body, below) if isinstance(above, _BLOCKS) else ()
            passed = any(_leaves(module, each, literal) for each in before)
        if passed:
            return True
        below = above
    return False


def _before(statements: Sequence[cst.CSTNode], node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for each in statements:
        if each is node:
            return
        yield each


def _leaves(module: Module, statement: cst.CSTNode, literal: Literal) -> bool:
    """Whether what follows a statement in its block does not run."""
    if isinstance(statement, _LEAVES):
        return True
    if isinstance(statement, cst.Expr):
        return module.called(statement.value) in _EXITS
    if isinstance(statement, cst.Assert):
        return _holds(statement.test, literal) is False
    if isinstance(statement, _BLOCKS):
        return any(_leaves(module, each, literal) for each in statement.body)
    if isinstance(statement, cst.If):
        return _branches_leave(module, statement, literal)
    return False


def _branches_leave(module: Module, statement: cst.If, literal: Literal) -> bool:
    holds = _holds(statement.test, literal)
    other = statement.orelse.body if isinstance(statement.orelse, cst.Else) else statement.orelse
    return all(
        each is not None and _leaves(module, each, literal)
        for each, when in ((statement.body, True), (other, False))
        if holds in (when, None)
    )


def _holds(test: cst.BaseExpression, literal: Literal) -> bool | None:
    """Whether a test of constants holds; None if that is not known."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        holds = _holds(test.expression, literal)
        return None if holds is None else not holds
    if isinstance(test, cst.BooleanOperation):
        sides = _holds(test.left, literal), _holds(test.right, literal)
        decides = isinstance(test.operator, cst.Or)
        return decides if decides in sides else None if None in sides else not decides
    if isinstance(test, cst.Comparison):
        return _compares(test, literal) if len(test.comparisons) == 1 else _chains(test, literal)
    if isinstance(test, cst.Call) and dotted(test.func) in _EXIST and len(test.args) == 1:
        return False if literal(test.args[0].value) is None else None
    value = literal(test)
    return None if value is UNKNOWN else bool(value)


def _chains(test: cst.Comparison, literal: Literal) -> bool | None:
    """``0 < share < 1``."""
    sides = [test.left, *(each.comparator for each in test.comparisons)]
    found = [
        _compares(cst.Comparison(left, [each]), literal)
        for left, each in zip(sides, test.comparisons, strict=False)
    ]
    return False if False in found else None if None in found else True


def _compares(test: cst.Comparison, literal: Literal) -> bool | None:
    operator, value = test.comparisons[0].operator, literal(test.left)
    if isinstance(operator, (cst.In, cst.NotIn)):
        found = _is_in(test.comparisons[0].comparator, value, literal)
        return found if isinstance(operator, cst.In) or found is None else not found
    other = literal(test.comparisons[0].comparator)
    if value is UNKNOWN or other is UNKNOWN:
        return None
    if isinstance(operator, (cst.Is, cst.Equal)):
        return value == other
    if isinstance(operator, (cst.IsNot, cst.NotEqual)):
        return value != other
    compare = _ORDERS.get(type(operator))
    numbers = isinstance(value, (int, float)) and isinstance(other, (int, float))
    return compare(value, other) if compare is not None and numbers else None


def _is_in(collection: cst.BaseExpression, value: object, literal: Literal) -> bool | None:
    """Whether a tuple, list or set that is written out holds a value."""
    if value is UNKNOWN or not isinstance(collection, (cst.Tuple, cst.List, cst.Set)):
        return None
    if any(isinstance(each, cst.StarredElement) for each in collection.elements):
        return None
    values = [literal(each.value) for each in collection.elements]
    return None if UNKNOWN in values else value in values
