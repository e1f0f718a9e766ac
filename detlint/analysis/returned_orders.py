"""Whether whoever calls a function has a use for the order of what it returns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.kinds import PYTHON
from detlint.mentions import heads, mentions
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
    places = mentions(text, name)
    if not places:
        return None
    imports = re.search(rf"^[ \t]*(?:from|import)\b[^\n]*\b{name}\b", text, re.MULTILINE)
    if not own and ((heads(text, name) and imports is None) or not _may_mean(text, name)):
        return None
    if source.kind != PYTHON or re.search(rf"[\"']{name}[\"']|\b{name}[ \t]+as\b", text):
        return False
    region = narrow(text, [(each, "function") for each in places])
    if region is None:
        return None
    try:
        return in_deep_stack(lambda: _shows_nothing(read(source, region), name))
    except (cst.ParserSyntaxError, RecursionError):
        return False


def _may_mean(text: str, name: str) -> bool:
    """Whether a file can name a function of another: by an import, ``*`` or an attribute."""
    several = rf"\bimport\s*\([^)]*\b{name}\b|\bimport\s*\*"
    found = rf"\bimport\b[^\n]*\b{name}\b|{several}|\.\s*{name}\b|[\"']{name}\\?[\"']"
    return re.search(found, text) is not None


def _shows_nothing(module: Module, name: str) -> bool | None:
    from detlint.analysis.consumption import Consumption

    used = list(_mentions(module, name))
    if not all(isinstance(each, cst.Call) for each in used):
        return False
    consumption = Consumption(module)
    shown = (
        use
        for each in used
        for use in consumption.uses(each)
        if not _is_returned_by(module, use, name)
    )
    return next(shown, None) is None if used else None


def _is_returned_by(module: Module, use: Use, name: str) -> bool:
    """Whether a function calls itself: what it returns is for those who call it."""
    function = module.enclosing_function(use.node)
    own = isinstance(function, cst.FunctionDef) and function.name.value == name
    return own and isinstance(use.node, cst.Return)


def _mentions(module: Module, name: str) -> Iterator[cst.CSTNode]:
    """The calls of a function, and what else mentions it but to import or to define it.

    ``os.listdir`` is not the project's own ``listdir``.
    """
    from detlint.analysis.listings import Listings

    listings = Listings(module)
    for each in module.tree.occurrences.get(name, ()):
        node: cst.CSTNode = each
        above = module.parent(node)
        if isinstance(above, (cst.FunctionDef, cst.ImportAlias)):
            continue
        if isinstance(above, cst.Attribute) and above.attr is node:
            node, above = above, module.parent(above)
        if not isinstance(above, cst.Call) or above.func is not node:
            yield node
        elif listings.of(above) is None:
            yield above
