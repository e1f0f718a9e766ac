"""Whether whoever calls a function has a use for the order of what it returns."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

from detlint.dataflow.orders.listings import Listings
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.unit import Unit
from detlint.sources.kinds import PYTHON
from detlint.syntax.mentions import heads, mentions
from detlint.syntax.parsing import REFUSALS
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op
    from detlint.sources.source import Source

_READS = frozenset(("attr", "free", "global", "import"))


def is_ignored(source: Source, name: str, *, own: bool, distinct: bool = False) -> bool | None:
    """Whether no call in a file shows the order; None where it does not mean this function.
    ``distinct``: it is that of a set."""
    text = source.text
    if not mentions(text, name):
        return None
    imports = re.search(rf"^[ \t]*(?:from|import)\b[^\n]*\b{name}\b", text, re.MULTILINE)
    if not own and ((heads(text, name) and imports is None) or not _may_mean(text, name)):
        return None
    if source.kind != PYTHON or re.search(rf"[\"']{name}[\"']|\b{name}[ \t]+as\b", text):
        return False
    try:
        with closing(Unit(source, whole=True)) as unit:
            orders = Orders(unit.across, distinct=distinct)
            return in_deep_stack(lambda: _shows_nothing(unit, name, orders))
    except REFUSALS:
        return False


def _may_mean(text: str, name: str) -> bool:
    """Whether a file can name a function of another: by an import, ``*`` or an attribute."""
    several = rf"\bimport\s*\([^)]*\b{name}\b|\bimport\s*\*"
    found = rf"\bimport\b[^\n]*\b{name}\b|{several}|\.\s*{name}\b|[\"']{name}\\?[\"']"
    return re.search(found, text) is not None


def _shows_nothing(unit: Unit, name: str, orders: Orders) -> bool | None:
    listings = Listings(unit)
    calls = []
    for use, read in _uses_of(unit, name):
        if use.code != "call" or use.args[0] is not read:
            return False
        if listings.listing(use) is None:  # `os.listdir` is not the project's own `listdir`
            calls.append(use)
    shown = (
        found
        for call in calls
        for found in orders.uses(call)
        if not _is_returned_by(found.op, name)
    )
    return next(shown, None) is None if calls else None


def _uses_of(unit: Unit, name: str) -> Iterator[tuple[Op, Op]]:
    """What takes a value that is read by a name."""
    for function in unit.all_naming(name):
        for op in function.ops:
            if op.code in _READS and str(op.name).rpartition(".")[2] == name:
                # An import binds a name; that is no reading.
                yield from ((use, op) for use in op.uses if use.code != "store_global")


def _is_returned_by(op: Op, name: str) -> bool:
    """Whether a function calls itself: what it returns is for those who call it."""
    return op.code == "return" and op.function.is_defined and op.function.word == name
