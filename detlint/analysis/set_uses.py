"""What the code that goes through a set does with an element, and what that says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import kind_tables as tables
from detlint.analysis.kinds import Kind, value_by_name
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module


def elements_by_use(module: Module, node: cst.CSTNode) -> Kind | None:
    """The kind of what a loop or comprehension takes from a set; None if nothing tells."""
    loop = module.parent(node)
    if not isinstance(loop, (cst.For, cst.CompFor)) or not isinstance(loop.target, cst.Name):
        return None
    around = module.parent(loop) if isinstance(loop, cst.CompFor) else loop
    if around is None:
        return None
    name = loop.target.value
    if value_by_name(name) is Kind.LIKELY:
        return Kind.LIKELY  # `for word in set(x)`
    for mention in _mentions(module, around, name):
        if mention is not loop.target and _is_text(module, mention):
            return Kind.LIKELY
    return None


def _mentions(module: Module, node: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    for each in module.tree.descendants(node):
        if isinstance(each, cst.Name) and each.value == name:
            yield each


def _is_text(module: Module, name: cst.Name) -> bool:
    """``name.startswith(x)``, ``name == "cpu"``, ``os.path.join(folder, name)``."""
    above = module.parent(name)
    if isinstance(above, cst.Attribute):
        return above.value is name and above.attr.value in tables.TEXT_USES
    if isinstance(above, cst.ComparisonTarget):
        comparison = module.parent(above)
        return isinstance(comparison, cst.Comparison) and _is_string(comparison.left)
    if isinstance(above, cst.Comparison):
        return _is_string(above.comparisons[0].comparator)
    if isinstance(above, cst.BinaryOperation):
        adds = isinstance(above.operator, cst.Add)
        return adds and any(map(_is_string, (above.left, above.right)))
    return isinstance(above, cst.Arg) and _is_taken_for_text(module, above)


def _is_string(node: cst.CSTNode) -> bool:
    """``"cpu"``, or ``("cpu", "disk")`` to look it up in."""
    if isinstance(node, (cst.List, cst.Set, cst.Tuple)):
        return any(isinstance(each.value, cst.BaseString) for each in node.elements)
    return isinstance(node, cst.BaseString)


def _is_taken_for_text(module: Module, argument: cst.Arg) -> bool:
    """``getattr(x, name)``, ``open(name)``."""
    call = module.parent(argument)
    if not isinstance(call, cst.Call):
        return False
    called = module.called(call)
    if called in ("builtins.getattr", "builtins.hasattr", "builtins.setattr"):
        return len(call.args) > 1 and call.args[1] is argument
    return called in tables.TEXT_TAKERS
