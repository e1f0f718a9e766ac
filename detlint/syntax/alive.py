"""Which trigger tokens are code, and the names under which code uses what they stand for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.syntax.layout import layout_of
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# "…token as alias" of an import, and "alias = a.b.token": uses of the alias are triggers too.
_IMPORTED_AS = re.compile(r"[\w.]*[ \t]+as[ \t]+(\w+)")
# "class Name(…token…):" likewise.
_DERIVED = re.compile(r"class[ \t]+(\w+)[ \t]*\([^()#]*$")
_ASSIGNED_TO = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*[\w.]*$")
_END_OF_NAME = re.compile(r"[\w.]*[ \t]*(?:#.*)?$", re.MULTILINE)


def alive(text: str, offsets: Iterable[int]) -> list[int]:
    """The tokens that are code, and where names are used that an import or a definition gives
    them, in order."""
    layout = layout_of(text)
    live = {offset for offset in offsets if not layout.hides(offset)}
    return sorted(live | renamed(text, live))


def renamed(text: str, offsets: Iterable[int]) -> set[int]:
    """Where names are used that an import or a definition gives what some tokens stand for."""
    named = ((offset, name) for offset in offsets for name in _aliases(text, offset))
    # Most have none, and lexing takes long.
    aliases = {name for offset, name in named if not layout_of(text).hides(offset)}
    return {place for each in aliases for place in mentions(text, each)}


def _aliases(text: str, offset: int) -> Iterator[str]:
    imported = _IMPORTED_AS.match(text, offset)
    if imported:
        yield imported[1]
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    derived = _DERIVED.match(line)
    if derived:
        yield derived[1]
    assigned = _ASSIGNED_TO.match(line)
    if assigned and _END_OF_NAME.match(text, offset):
        yield assigned[1]
