"""What a name is a part of, where an assignment or a loop takes something apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module


def unpacked(module: Module, name: cst.Name) -> Iterator[tuple[cst.CSTNode, int]]:
    """What is taken apart wherever the function around a name binds it so, and the part's place:
    ``name, other = value``, ``for place, name in enumerate(values)``."""
    function = module.enclosing_function(name)
    for each in module.tree.occurrences.get(name.value, []):
        element = module.parent(each)
        if not isinstance(element, (cst.Element, cst.StarredElement)):
            continue
        target = module.parent(element)
        if not isinstance(target, (cst.Tuple, cst.List)):
            continue
        origin = _origin(module, target)
        if origin is not None and module.enclosing_function(each) is function:
            yield origin, next(i for i, part in enumerate(target.elements) if part is element)


def origins(module: Module, name: cst.Name) -> Iterator[cst.CSTNode]:
    """The same without the places, however deep in the target a name stands:
    ``for step, (name, other) in enumerate(loader)``."""
    function = module.enclosing_function(name)
    parts = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)
    for each in module.tree.occurrences.get(name.value, []):
        target: cst.CSTNode | None = each
        while isinstance(above := module.parent(target) if target else None, parts):
            target = above
        origin = _origin(module, target) if target is not None and target is not each else None
        if origin is not None and module.enclosing_function(each) is function:
            yield origin


def _origin(module: Module, target: cst.CSTNode) -> cst.CSTNode | None:
    above = module.parent(target)
    if isinstance(above, cst.AssignTarget):
        assignment = module.parent(above)
        return assignment.value if isinstance(assignment, cst.Assign) else None
    if isinstance(above, (cst.For, cst.CompFor)):
        return above.iter if above.target is target else None
    return None
