"""The calls of a function that no other file is likely to call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definition
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module


def private_calls(
    module: Module, function: cst.FunctionDef | cst.Lambda | None
) -> Iterator[tuple[Definition, cst.Call | None]]:
    """The function, and each call of it; None for a mention that is no call. Each in a module
    that holds both. Nothing for what is public, decorated, or defined more than once."""
    if not isinstance(function, cst.FunctionDef) or function.decorators:
        return
    name, text = function.name.value, module.source.text
    if not name.startswith("_") or name.endswith("__"):
        return
    if len(re.findall(rf"\bdef[ \t]+{name}\b", text)) > 1:
        return
    around = module.around([each.start() for each in re.finditer(rf"\b{name}\b", text)])
    if around is None:
        return
    mentions = around.tree.occurrences.get(name, [])
    heads = [
        above for each in mentions if isinstance(above := around.parent(each), cst.FunctionDef)
    ]
    if len(heads) == 1:
        offset = around.tree.span(heads[0].name)[0]
        for each in mentions:
            if around.parent(each) is not heads[0]:
                call, method = _call(around, each)
                yield Definition(around, heads[0], offset, method), call


def _call(module: Module, name: cst.Name) -> tuple[cst.Call | None, bool]:
    """The call in which a mention of a function calls it, and whether on ``self``."""
    function: cst.CSTNode = name
    above, method = module.parent(name), False
    if isinstance(above, cst.Attribute) and module.names.is_self(above.value):
        function, above, method = above, module.parent(above), True
    return (above if isinstance(above, cst.Call) and above.func is function else None), method
