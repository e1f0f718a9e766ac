"""Whether whoever calls a function has a use for the order of what it returns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.kinds import PYTHON
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.order import Use
    from detlint.module import Module
    from detlint.source import Source


# What the advice of a finding ends with that callers may make pointless.
RETURNED = ", here or where it is returned to"


def only_returned(module: Module, uses: list[Use]) -> bool:
    """Whether an order is seen only by whoever calls the function around, which is at the top."""
    functions = {module.enclosing_function(each.node) for each in uses}
    function = functions.pop() if len(functions) == 1 else None
    if not isinstance(function, cst.FunctionDef) or function.decorators or function.asynchronous:
        return False
    outer = module.enclosing_function(function) or module.enclosing_class(function)
    return outer is None and all(isinstance(each.node, cst.Return) for each in uses)


def is_ignored(source: Source, name: str, *, own: bool) -> bool | None:
    """Whether no call in a file shows the order; None where it does not mean this function."""
    from detlint.module import read
    from detlint.narrowing import narrow
    from detlint.stack import in_deep_stack

    text = source.text
    defines = re.search(rf"\bdef[ \t]+{name}\b", text) is not None
    imports = re.search(rf"^[ \t]*(?:from|import)\b[^\n]*\b{name}\b", text, re.MULTILINE)
    if defines and not own and imports is None:
        return None
    if source.kind != PYTHON or re.search(rf"[\"']{name}[\"']|\b{name}[ \t]+as\b", text):
        return False
    region = narrow(
        text, [(each.start(), "function") for each in re.finditer(rf"\b{name}\b", text)]
    )
    if region is None:
        return None
    try:
        return in_deep_stack(lambda: _shows_nothing(read(source, region), name))
    except (cst.ParserSyntaxError, RecursionError):
        return False


def _shows_nothing(module: Module, name: str) -> bool | None:
    from detlint.analysis.consumption import Consumption

    mentions = list(_mentions(module, name))
    if not all(isinstance(each, cst.Call) for each in mentions):
        return False
    consumption = Consumption(module)
    shown = (use for each in mentions for use in consumption.uses(each))
    return next(shown, None) is None if mentions else None


def _mentions(module: Module, name: str) -> Iterator[cst.CSTNode]:
    """The calls of a function, and what else mentions it but to import or to define it."""
    for each in module.tree.occurrences.get(name, ()):
        node: cst.CSTNode = each
        above = module.parent(node)
        if isinstance(above, (cst.FunctionDef, cst.ImportAlias)):
            continue
        if isinstance(above, cst.Attribute) and above.attr is node:
            node, above = above, module.parent(above)
        yield above if isinstance(above, cst.Call) and above.func is node else node
