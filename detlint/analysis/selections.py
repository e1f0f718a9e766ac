"""Tests by which a loop picks the same element whatever the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.module import Module


def is_unique_match(
    test: cst.BaseExpression, target: cst.CSTNode | None, varies: Callable[[cst.CSTNode], bool]
) -> bool:
    """``f == "config.json"``, ``f.name == …``: names in one folder are unique."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        sides = [test.left, test.right]
        return any(is_unique_match(side, target, varies) for side in sides)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    first = test.comparisons[0]
    sides = [test.left, first.comparator]
    if not isinstance(first.operator, cst.Equal) or not isinstance(target, cst.Name):
        return False
    names = {target.value, f"{target.value}.name"}
    found = any(dotted(_in_any_case(side)) in names for side in sides)
    return found and not all(map(varies, sides))


def _in_any_case(side: cst.BaseExpression) -> cst.BaseExpression:
    """``f.lower()`` → ``f``: two names hardly ever differ in that alone."""
    func = side.func if isinstance(side, cst.Call) and not side.args else None
    lowers = isinstance(func, cst.Attribute) and func.attr.value in ("casefold", "lower", "upper")
    return func.value if isinstance(func, cst.Attribute) and lowers else side


def keeps_best(node: cst.If, module: Module) -> bool:
    """``if step > best: best = step`` keeps a maximum, with what belongs to it."""
    test, code = node.test, module.tree.text
    tests = [test.left, test.right] if isinstance(test, cst.BooleanOperation) else [test]
    orders = (cst.GreaterThan, cst.LessThan, cst.GreaterThanEqual, cst.LessThanEqual)
    for each in tests:
        if isinstance(each, cst.Comparison) and isinstance(each.comparisons[0].operator, orders):
            pair = {code(each.left), code(each.comparisons[0].comparator)}
            if any({code(t), code(v)} == pair for t, v in _assignments(module, node.body)):
                return True
    return False


def _assignments(module: Module, block: cst.BaseSuite) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    for each in module.tree.descendants(block):
        if isinstance(each, cst.Assign):
            target = each.targets[0].target
            if isinstance(target, cst.Tuple) and isinstance(each.value, cst.Tuple):
                for left, right in zip(target.elements, each.value.elements, strict=False):
                    yield left.value, right.value
            else:
                yield target, each.value
