"""Modules that code makes, keeps and calls later: ``self.loss = nn.CrossEntropyLoss()``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# They give the module itself: ``loss.to(device)``.
_MOVES = frozenset({"to", "cuda", "cpu", "eval", "float", "half"})


def maker(module: Module, function: cst.BaseExpression) -> cst.Call | None:
    """The call that made what another calls: ``loss = nn.NLLLoss()``, ``loss = loss.cuda()``."""
    value = _unmoved(module.names.value_of(function))
    if isinstance(value, cst.Name):
        bindings = module.names.visible(value)
        values = [_unmoved(each.node) for each in bindings if each.kind == "value"]
        made = [each for each in values if not _is_named(each, value.value)]
        if len(values) == len(bindings) and len(made) == 1:
            value = made[0]
    return value if isinstance(value, cst.Call) else None


def _unmoved(node: cst.CSTNode | None) -> cst.CSTNode | None:
    while (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value in _MOVES
    ):
        node = node.func.value
    return node


def _is_named(node: cst.CSTNode | None, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def kept_in(module: Module, made: cst.Call) -> cst.BaseExpression | None:
    """The variable or attribute that a module is assigned to, moved or not."""
    above = module.parent(made)
    while isinstance(above, cst.Attribute) and above.attr.value in _MOVES:
        moved = module.parent(above)
        above = module.parent(moved) if isinstance(moved, cst.Call) else None
    single = isinstance(above, cst.Assign) and len(above.targets) == 1
    return above.targets[0].target if single and isinstance(above, cst.Assign) else None


def later_calls(module: Module, made: cst.Call) -> Iterator[tuple[Module, cst.Call]]:
    """The calls, in other functions, of a module that is kept in an attribute of ``self`` or in a
    variable of the file; each in a module that holds it."""
    target = kept_in(module, made)
    if isinstance(target, cst.Attribute) and module.names.is_self(target.value):
        name, pattern = target.attr.value, r"self\.{}[ \t]*\("
    elif isinstance(target, cst.Name) and module.enclosing_function(made) is None:
        name, pattern = target.value, r"{0}(?<![\w.]{0})[ \t]*\("
    else:
        return
    uses = re.compile(pattern.format(re.escape(name))).finditer(module.source.text)
    places = [each.start() for each in uses]
    around = module.around(places) if places else None
    if around is None:
        return
    for each in around.tree.occurrences.get(name, []):
        call = _called(around, each)
        if call is not None and _is_of(around, call, module.enclosing_class(made)):
            yield around, call


def _called(module: Module, name: cst.Name) -> cst.Call | None:
    above = module.parent(name)
    function = above if isinstance(above, cst.Attribute) and above.attr is name else name
    call = module.parent(function)
    return call if isinstance(call, cst.Call) and call.func is function else None


def _is_of(module: Module, call: cst.Call, owner: cst.ClassDef | None) -> bool:
    """Whether a call is of what the class keeps, or of a variable of the file."""
    if module.enclosing_function(call) is None:
        return False
    if isinstance(call.func, cst.Attribute):
        inside = module.enclosing_class(call)
        named = inside is not None and owner is not None and inside.name.value == owner.name.value
        return named and module.names.is_self(call.func.value)
    if not isinstance(call.func, cst.Name) or owner is not None:
        return False
    name = call.func.value
    seen = module.bindings.scope_of(call.func).lookup(name)
    return seen is module.bindings.module.bindings.get(name)
