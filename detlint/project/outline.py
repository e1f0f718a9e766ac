"""Which names each part of a file uses: a call graph by name, good enough to tell what runs."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from detlint.layout import Layout
from detlint.project.entrypoints import MAIN_BLOCK
from detlint.project.imports import bound_names, without_imports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.layout import Block

MAIN = "__main__"  # what runs under `if __name__ == "__main__"`
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_EXPORTS = re.compile(r"__all__\b")


def outline(text: str) -> dict[str, list[str]]:
    """For each function and class at the top of a file, and for "" and MAIN, the names of the
    file, or of what it imports, that its code uses.

    Strings and comments do not count. What is decorated counts as used: it may be registered.
    """
    layout = Layout(text)
    blocks = list(layout.blocks(0, len(text), ""))
    codes = [_code(layout, block.start, block.end) for block in blocks]
    aliases = bound_names("\n".join(codes))
    known = {block.name for block in blocks if block.kind} | aliases.keys()
    found: dict[str, set[str]] = {"": set(), MAIN: set()}
    for block, code in zip(blocks, codes, strict=True):
        names = found.setdefault(_part(block, text), set())
        names.update(_used(without_imports(code), known, aliases))
        names.discard(block.name)
        if block.kind and text.startswith("@", block.start):
            found[""].add(block.name)
    return {part: sorted(names) for part, names in found.items()}


def definitions(text: str) -> list[str]:
    """The functions and classes at the top of a file, with any that stand so in a string: told
    soon, and of the outline's all."""
    return sorted(set(_DEFINITION.findall(text)))


def parts(text: str) -> list[tuple[str, int, int]]:
    """Where each part of the outline lies: its name, start and end; some lie in pieces."""
    blocks = Layout(text).blocks(0, len(text), "")
    return [(_part(each, text), each.start, each.end) for each in blocks]


def _part(block: Block, text: str) -> str:
    if block.kind:
        return block.name
    return MAIN if MAIN_BLOCK.match(text, block.start) else ""


def _code(layout: Layout, start: int, end: int) -> str:
    """A block without its strings and comments."""
    pieces = []
    for span in layout.spans[bisect_left(layout.starts, start) :]:
        if span.start >= end:
            break
        pieces.append(layout.text[start : span.start])
        start = span.end
    return " ".join([*pieces, layout.text[start:end]])


def _used(code: str, known: set[str], aliases: dict[str, str]) -> Iterator[str]:
    if _EXPORTS.match(code):
        return
    for dotted in set(_DOTTED.findall(code)):
        first, *looked_up = dotted.split(".")
        if first in known or "*" in aliases:
            yield first
        if first in aliases:
            yield aliases[first]
            yield from looked_up  # in a module, or in its modules
