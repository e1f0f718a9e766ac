"""Whether attention that a program computes has a backward, for rules that see trees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import gradients, phases
from detlint.lexer import spans
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_CACHE = re.compile(r"cache|block_table|page_table|past_key", re.IGNORECASE)


def has_no_backward(module: Module, call: cst.Call, *, forward: bool = False) -> bool:
    """Whether a call is inference: without gradients, or with a cache of keys and values.

    ``forward`` as for ``phases.answers``.
    """
    for argument in call.args:
        words = [argument.keyword.value] if argument.keyword is not None else []
        words += _words(module, argument.value)
        if any(_CACHE.search(word) for word in words):
            return True
    if phases.answers(module, call, forward=forward):
        return True
    if not forward and phases.asserts_no_gradient(module, call):
        return True
    return records_none(module, call)


def records_none(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node lies where no gradients are recorded."""
    return any(_stops_gradients(module, above) for above in module.ancestors(node))


def _stops_gradients(module: Module, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.With):
        return any(gradients.stops(module, item.item) for item in node.items)
    if isinstance(node, cst.FunctionDef):
        return any(gradients.stops(module, each.decorator) for each in node.decorators)
    return False


def registers_backend(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node lies in a function that a decorator registers: choosing it is up to others."""
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            for each in above.decorators:
                if any("regist" in name for name in _words(module, each)):
                    return True
    return False


def _words(module: Module, node: cst.CSTNode) -> list[str]:
    return [each.value for each in module.tree.descendants(node) if isinstance(each, cst.Name)]


# The text, not the tree: the functions concerned may have been narrowed away.


def says(module: Module, pattern: str) -> bool:
    """Whether the pattern occurs in the file, outside comments and docstrings."""
    return _in_code(module, pattern)


def _in_code(module: Module, pattern: str) -> bool:
    text = module.source.text
    found = [match.start() for match in re.finditer(pattern, text)]
    if not found:
        return False
    hidden = [
        (start, end)
        for start, end, kind in spans(text)
        if kind == "comment"
        or (kind == "triple" and not text[text.rfind("\n", 0, start) + 1 : start].strip())
    ]
    return any(not any(start <= place < end for start, end in hidden) for place in found)
