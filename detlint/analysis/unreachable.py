"""Code that never runs: behind a ``return`` in its block, or under a test that fails."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from detlint.names import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.module import Module

    Literal = Callable[[cst.BaseExpression], object]

_LEAVES = (cst.Return, cst.Raise, cst.Continue, cst.Break)
_EXITS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
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
    if shared is not None and module.bindings.scope_of[node].lookup(name) is shared:
        bound = rf"\b{name}\b[ \t]*(?::[^=\n]+)?[-+*/|&]?=(?!=)|\bglobal\b[^\n]*\b{name}\b"
        if len(re.findall(bound, module.source.text)) != 1:
            return UNKNOWN
    value = module.literal(node)
    return UNKNOWN if isinstance(value, list) else value  # which may be filled


def needed_parameter(module: Module, node: cst.CSTNode) -> cst.Param | None:
    """The parameter of the function around a node without which the node does not run: its
    default fails the tests around it, and it is bound to nothing else."""
    function = module.enclosing_function(node)
    if not isinstance(function, cst.FunctionDef):
        return None
    tested = {each.value for test in _tests(module, node) for each in _names(module, test)}
    for parameter in (*function.params.params, *function.params.kwonly_params):
        name, default = parameter.name.value, module.literal(parameter.default)
        if name not in tested or default is UNKNOWN or not _is_bound_once(module, function, name):
            continue
        if _is_passed_by(module, node, _standing_for(module, name, default), function):
            return parameter
    return None


def _standing_for(module: Module, name: str, value: object) -> Literal:
    def literal(node: cst.BaseExpression) -> object:
        named = isinstance(node, cst.Name) and node.value == name
        return value if named else _constant(module, node)

    return literal


def _is_bound_once(module: Module, function: cst.FunctionDef, name: str) -> bool:
    return len(module.bindings.scope_of[function.body].lookup(name)) == 1


def _tests(module: Module, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The tests that decide in a function whether a node runs."""
    below = node
    for above in module.ancestors(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            yield above.test
        elif isinstance(above, _BLOCKS):
            yield from (
                each.test for each in _before(above.body, below) if isinstance(each, cst.If)
            )
        below = above


def _names(module: Module, test: cst.BaseExpression) -> Iterator[cst.Name]:
    return (each for each in module.tree.descendants(test) if isinstance(each, cst.Name))


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
    if isinstance(statement, _BLOCKS):
        return any(_leaves(module, each, literal) for each in statement.body)
    if isinstance(statement, cst.If):
        return _branches_leave(module, statement, literal)
    return False


def _branches_leave(module: Module, statement: cst.If, literal: Literal) -> bool:
    holds = _holds(statement.test, literal)
    other = statement.orelse.body if isinstance(statement.orelse, cst.Else) else statement.orelse
    taken = {True: [statement.body], False: [other], None: [statement.body, other]}[holds]
    return all(each is not None and _leaves(module, each, literal) for each in taken)


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
        return _compares(test, literal) if len(test.comparisons) == 1 else None
    value = literal(test)
    return None if value is UNKNOWN else bool(value)


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
    return None


def _is_in(collection: cst.BaseExpression, value: object, literal: Literal) -> bool | None:
    """Whether a tuple, list or set that is written out holds a value."""
    if value is UNKNOWN or not isinstance(collection, (cst.Tuple, cst.List, cst.Set)):
        return None
    if any(isinstance(each, cst.StarredElement) for each in collection.elements):
        return None
    values = [literal(each.value) for each in collection.elements]
    return None if UNKNOWN in values else value in values
