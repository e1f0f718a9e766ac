"""Embeddings of positions, which are made to fit another size: most configurations ask for none,
and where they do it is mostly once, as weights are loaded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.text_places import function_of, name_of
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.module import Module

_POSITIONS = re.compile(
    r"pos(?:ition(?:al)?)?_?(?:emb|enc|bias|interpol|resiz)|(?:abs|rel)_?pos|relative_pos"
    r"|(?:interpolate|resize)_pos"
)


def resizes_positions(text: str, offset: int) -> bool:
    """Whether a function of torch is called, by the text, in one that makes embeddings of
    positions fit another size."""
    around = function_of(text, offset) if text[offset].islower() else None
    name = name_of(text, around) if around is not None else None
    return name is not None and _POSITIONS.search(name) is not None


def is_of_positions(module: Module, call: cst.Call, tensors: Iterable[cst.BaseExpression]) -> bool:
    """Whether a call, or the function that it stands in, is about embeddings of positions."""
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return resizes_positions(module.source.text, module.span(name)[0]) or any(
        _POSITIONS.search(module.tree.text(each)) for each in tensors
    )
