"""Where in the source each character of a value stands that YAML wrote in another form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.documents.tree import Leaf

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


def places(text: str, leaf: Leaf) -> list[int]:
    """The offset of each character of a value's text, and of the end.

    Literal blocks, plain values and simple strings have a place for each character. What is
    folded or escaped has one for all: the whole value is where each of its words stands.
    """
    if leaf.style == "|":
        found = _block(text, leaf)
        if found is not None:
            return found
    for shift in (0, 1):
        start = leaf.start + shift
        if text.startswith(leaf.text, start) and start + len(leaf.text) + shift == leaf.end:
            return list(range(start, start + len(leaf.text) + 1))
    return [leaf.start] * len(leaf.text) + [leaf.end]


def _block(text: str, leaf: Leaf) -> list[int] | None:
    """Each line of a literal block is its own, behind an indentation."""
    position = text.find("\n", leaf.start) + 1
    found: list[int] = []
    for line in re.findall(r"[^\n]*\n|[^\n]+", leaf.text):
        written = _LINE.match(text, position)
        body = line.rstrip("\n")
        if written is None or position <= 0:
            return None
        at = written[0].find(body) if body else len(written[0].rstrip("\r\n"))
        if at < 0 or written[0][:at].strip():
            return None
        found += range(position + at, position + at + len(line))
        position = written.end()
    return [*found, found[-1] + 1 if found else leaf.end]
