"""Whether code sorts an attribute, or an element of a collection, after it was given its value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.layout import layout_of
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption

# Not `key=len`, nor `key=lambda x: len(x)`: equals keep the order that they had.
_NO_TIES = r"(?![^\n]*\bkey[ \t]*=[ \t]*(?:lambda[ \t]+(\w+):[ \t]*-?[ \t]*len\(\1\)|len\b))"


def is_sorted_later(consumption: Consumption, target: cst.CSTNode) -> bool:
    """``self.names.sort()`` in the file, ``found[kind].sort()`` in the function."""
    if _sorts_own(consumption, target):
        return True
    module = consumption.module
    around = module.enclosing_function(target) or module.tree.module
    below = module.tree.descendants(around)
    return any(
        consumption.sorts(each) and (each.deep_equals(target) or _may_be(each, target))
        for each in below
        if type(each) is type(target)
    ) or any(_sorts_values(consumption, each, target) for each in below)


def _sorts_own(consumption: Consumption, target: cst.CSTNode) -> bool:
    """Whether some method sorts an attribute: ``self.x.sort()``, ``self.x = sorted(self.x)``."""
    name = dotted(target) if isinstance(target, cst.Attribute) else None
    if name is None or not name.startswith(("self.", "cls.")):
        return False
    own = re.escape(name)
    # The name first, which sre finds as it is, and then what is before it.
    found = rf"{own}(?<!\w{own})(?:\.sort\(|[ \t]*=[ \t]*[\w.]*sort\w*\([ \t]*{own}\b){_NO_TIES}"
    owner, text = consumption.module.enclosing_class(target), consumption.module.source.text
    # The text, because other methods may have been cut from the region.
    if owner is None or re.search(found, text) is None:
        return False
    start = consumption.module.tree.span(owner)[0]
    indent = re.search(r"[ \t]*$", text[:start])
    block = next(layout_of(text).blocks(start, len(text), indent[0] if indent else ""), None)
    return block is not None and re.search(found, text[start : block.end]) is not None


def _may_be(each: cst.CSTNode, target: cst.CSTNode) -> bool:
    """``found[key]``, where ``target`` is ``found["train"]``: a name stands for every key."""
    if not isinstance(each, cst.Subscript) or not isinstance(target, cst.Subscript):
        return False
    index = each.slice[0].slice
    named = isinstance(index, cst.Index) and isinstance(index.value, cst.Name)
    return named and each.value.deep_equals(target.value)


def _sorts_values(consumption: Consumption, loop: cst.CSTNode, target: cst.CSTNode) -> bool:
    """``for names in found.values(): names.sort()``."""
    if not isinstance(loop, cst.For) or not isinstance(target, cst.Subscript):
        return False
    view = loop.iter.func if isinstance(loop.iter, cst.Call) else None
    if not isinstance(view, cst.Attribute) or not view.value.deep_equals(target.value):
        return False
    return any(map(consumption.sorts, _mentions(consumption, loop)))


def _mentions(consumption: Consumption, loop: cst.For) -> Iterator[cst.Name]:
    names = {each.value for each in consumption.reads.variables(loop.target)}
    for each in consumption.reads.variables(loop.body):
        if each.value in names:
            yield each
