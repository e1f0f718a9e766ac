"""Python files in which ``# %%`` begins a cell, as editors run them: magics may stand in them."""

from __future__ import annotations

import re

from detlint.notebooks.magics import find_magics, mask
from detlint.sources.source import Source

_CELL = re.compile(r"^#[ \t]*%%.*\n?", re.MULTILINE)


class Script(Source):
    """A file whose ``text`` has its magics masked, where ``written`` has them."""

    def __init__(self, path: str, text: str, encoding: str = "utf-8", bom: bytes = b"") -> None:
        super().__init__(path, _masked(text), encoding, bom)
        self.written = text

    def with_text(self, text: str) -> Script:
        """The same file holding another text."""
        return Script(self.path, text, self.encoding, self.bom)


def _masked(text: str) -> str:
    pieces, position = [], 0
    for start in [*(match.end() for match in _CELL.finditer(text)), len(text)]:
        cell = text[position:start]
        pieces.append(mask(cell, find_magics(cell)))
        position = start
    return "".join(pieces)
