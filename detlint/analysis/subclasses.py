"""Classes of a file that derive from a class of a library, and run what that one does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_END = re.compile(r"^(?=[^\s)\]}#])", re.MULTILINE)
_RUNS = re.compile(r"\bdef[ \t]+(?:forward|__call__)\b")
_RUNS_BASE = re.compile(r"\bsuper\([^()]*\)\s*\.\s*(?:forward|__call__)\(|\w\.forward\(\s*self\b")
_MADE = re.compile(r"\bdef[ \t]+(__init__|__new__)\b")


class Derived(NamedTuple):
    """What a class of the file derives from, and the call whose arguments that one is given."""

    base: str
    module: Module
    call: cst.Call


def derived(module: Module, call: cst.Call) -> Iterator[Derived]:
    """The classes of libraries whose ``forward`` a module runs that a call makes:
    ``class SamePool(nn.MaxPool3d)``, ``SamePool(3)``."""
    owner = module.names.definition(call.func)
    if not isinstance(owner, cst.ClassDef) or not owner.bases:
        return
    text, start = module.source.text, module.tree.span(owner.name)[0]
    end = _END.search(text, start)
    body = text[start : end.start() if end is not None else len(text)]
    if _RUNS.search(body) and not _RUNS_BASE.search(body):
        return
    made = list(_MADE.finditer(body))
    given = _given(module, start + made[0].start(1)) if len(made) == 1 else None
    for base in owner.bases:
        name = module.qualified_name(base.value)
        if name is not None and not made:
            yield Derived(name, module, call)
        elif name is not None and given is not None:
            yield Derived(name, *given)


def _given(module: Module, head: int) -> tuple[Module, cst.Call] | None:
    """The call of the base's constructor in that of a class."""
    around = module.around([head])
    calls = around.tree.occurrences.get("__init__", []) if around is not None else []
    for each in calls:
        function = around.parent(each) if around is not None else None
        above = around.parent(function) if around is not None and function is not None else None
        if (
            around is not None
            and isinstance(function, cst.Attribute)
            and isinstance(function.value, cst.Call)
            and around.called(function.value) == "builtins.super"
            and isinstance(above, cst.Call)
            and _contains(around, head, above)
        ):
            return around, above
    return None


def _contains(module: Module, head: int, node: cst.CSTNode) -> bool:
    function = module.enclosing_function(node)
    return isinstance(function, cst.FunctionDef) and module.tree.span(function.name)[0] == head
