"""The calls of a function that stand in its file: all that there are, if it is private."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definition
from detlint.mentions import is_head, mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

    Calls = Iterator[tuple[Definition, cst.Call | None]]

# Before the next statement that is not indented.
_CONSTRUCTOR = re.compile(r"^(?=[^\s)\]}#])|\bdef[ \t]+(__init__)\b", re.MULTILINE)


def is_private(name: str) -> bool:
    """``_name``."""
    return name.startswith("_") and not name.endswith("__")


def file_calls(module: Module, function: cst.FunctionDef) -> Calls:
    """The function, and each call of it; None for a mention that is no call. Each in a module
    that holds the call. Nothing for what is decorated, or defined more than once."""
    name, text = function.name.value, module.source.text
    places = mentions(text, name)
    uses = [each for each in places if not is_head(text, each)]
    if function.decorators or len(places) - len(uses) > 1:
        return
    around = module.around(uses)
    if around is None:
        return
    offset, top = module.span(function.name)[0], module.parent(function) is module.tree.module
    for each in around.tree.occurrences.get(name, []):
        head = isinstance(around.parent(each), cst.FunctionDef)
        if not head and not (top and _is_other(around, each)):
            call, method = _call(around, each)
            yield Definition(around, function, offset, method), call


def calls_or_makings(module: Module, function: cst.FunctionDef) -> Calls:
    """``file_makings`` of the class whose constructor a function is, else ``file_calls``."""
    owner = module.parent(module.parent(function) or function)
    if function.name.value == "__init__" and isinstance(owner, cst.ClassDef):
        return file_makings(module, owner)
    return file_calls(module, function)


def _is_other(module: Module, name: cst.Name) -> bool:
    """Whether a mention of a function at the top is of another thing by that name: a keyword, an
    attribute of ``self``, a local."""
    above = module.parent(name)
    if isinstance(above, cst.Arg) and above.keyword is name:
        return True
    if isinstance(above, cst.Attribute) and above.attr is name:
        return module.names.is_self(above.value)
    kinds = {each.kind for each in module.names.visible(name)}
    return bool(kinds) and "definition" not in kinds


def file_makings(module: Module, owner: cst.ClassDef) -> Calls:
    """The ``__init__`` of a class at the top of a file, and each call of the class; None for a
    mention that is no call."""
    name, text = owner.name.value, module.source.text
    found = _CONSTRUCTOR.search(text, module.tree.span(owner.name)[0])
    if found is None or found[1] is None:
        return
    around = module.around([found.start(1), *mentions(text, name)])
    for head in around.tree.occurrences.get("__init__", []) if around is not None else ():
        function = around.parent(head) if around is not None else None
        if around is None or around.tree.span(head)[0] != found.start(1):
            continue
        if isinstance(function, cst.FunctionDef):
            for each in around.tree.occurrences.get(name, []):
                if not (isinstance(around.parent(each), cst.ClassDef) or _is_supers(around, each)):
                    definition = Definition(around, function, found.start(1), method=True)
                    yield definition, _call(around, each)[0]


def _is_supers(module: Module, name: cst.Name) -> bool:
    """``super(Name, self)``."""
    argument = module.parent(name)
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    return module.called(call) == "builtins.super"


def _call(module: Module, name: cst.Name) -> tuple[cst.Call | None, bool]:
    """The call in which a mention of a function calls it, and whether on ``self``."""
    function: cst.CSTNode = name
    above, method = module.parent(name), False
    if isinstance(above, cst.Attribute) and module.names.is_self(above.value):
        function, above, method = above, module.parent(above), True
    return (above if isinstance(above, cst.Call) and above.func is function else None), method
