"""Whether the hashes of strings may decide about anything in a file."""

from __future__ import annotations

import re
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.dataflow.orders.given_sets import leaving
from detlint.dataflow.orders.sets import Sets
from detlint.dataflow.unit import Unit, asked

if TYPE_CHECKING:
    from detlint.sources.source import Source

_HASHES = re.compile(r"(?<![\w.])hash\(")
# Sets, but for keywords that end a word: ``reset(x)``, ``x.set(y)``.
_SETS = re.compile(
    r"(?<![\w.])(?:frozen)?set[(),\]]|\.keys\(\)\s*[-&|^]"
    r"|(?:[=(,]|\b(?:in|return))\s*\{\s*[\w.\"']+\s*(?:,|for\b)"
)
_FILES = 256  # whose answers are kept: the programs of a project share most of theirs


@lru_cache(maxsize=_FILES)
def depends_on_hashes(source: Source) -> bool:
    """Whether a file calls ``hash``, shows the order of a set, or gives others one; so may one
    that does not parse."""
    if _HASHES.search(source.text):
        return True
    if not _SETS.search(source.text):
        return False
    with closing(Unit(source.code)) as unit:
        return asked(unit, _shows_order, failed=True)


def _shows_order(unit: Unit) -> bool:
    sets = Sets(unit)
    near = sets.near([each.start() for each in _SETS.finditer(sets.unit.text)])
    shown = any(True for each in near for _ in sets.of_function(each))
    return shown or bool(sets.left) or any(True for _ in leaving(sets, near))
