"""The time line: steps by modules and by what is no module."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from guard.comparison.differences import Row, Timeline
from guard.comparison.gradients import owner
from guard.comparison.names import KINDS, several

if TYPE_CHECKING:
    from guard.comparison.alignment import Mismatch
    from guard.comparison.layouts import Key
    from guard.comparison.tallies import Tally

MODULES, OTHER = "modules", "other"
_ROWS = 120  # of modules; beyond, those inside a module are shown as that module
_OF_MODULES = ("output", "gradient", "parameter", "buffer")
_MODEL = "(model)"
_FIRST = ("batch",)  # of what is no module, above the modules: causes stand above effects

RowName = tuple[str, str]


def draw(tally: Tally, mismatch: Mismatch | None) -> Timeline:
    """The time line of a tally; ``mismatch`` is where the first difference entered."""
    depth = _depth(tally)
    cells: dict[RowName, dict[int, list[int]]] = {}
    since: dict[RowName, int] = {}
    named = [[_row(key, depth) for key in keys] for keys in tally.shapes]
    for (column, shape), steps in tally.held.items():
        differing = tally.differing.get((column, shape), Counter())
        for at, key in enumerate(tally.shapes[shape]):
            if not tally.counts_in(key):
                continue
            cell = cells.setdefault(named[shape][at], {}).setdefault(column, [0, 0])
            cell[0] += differing.get(at, 0)
            cell[1] += steps
    for key, position in tally.since.items():
        name = _row(key, depth)
        since[name] = min(since.get(name, position), position)
    order = _order(tally, depth, cells)
    starts = range(0, tally.length, tally.width)
    numbers = tuple(tally.pair.number(at) for at in starts)
    rows = []
    for name in order:
        parts = tuple(_part(cells[name].get(at)) for at in range(len(starts)))
        first = tally.pair.number(since[name]) if name in since else None
        rows.append(Row(name[1], name[0], parts, first))
    last = tally.pair.number(tally.length - 1) if tally.length else 0
    entered = _entered(tally, mismatch, order, depth)
    return Timeline(tally.pair.rank, numbers, tuple(rows), entered, tally.width, last)


def _part(cell: list[int] | None) -> tuple[int, int]:
    return (cell[0], cell[1]) if cell else (0, 0)


def _entered(
    tally: Tally, mismatch: Mismatch | None, order: list[RowName], depth: int
) -> tuple[int, int] | None:
    event = (mismatch.first or mismatch.second) if mismatch else None
    if event is None:
        return None
    name = _row((event.kind, event.name, event.call), depth)
    return (tally.parted // tally.width, order.index(name)) if name in order else None


def _row(key: Key, depth: int) -> RowName:
    kind, name, _ = key
    if kind not in _OF_MODULES:
        return OTHER, several(kind)
    path = name if kind == "output" else owner(name)
    return MODULES, ".".join(path.split(".")[:depth]) or _MODEL


def _depth(tally: Tally) -> int:
    """How deep modules are shown, so that there are not too many."""
    keys = {key for keys in tally.shapes for key in keys if key[0] in _OF_MODULES}
    deepest = max((key[1].count(".") + 1 for key in keys), default=1)
    for depth in range(deepest, 1, -1):
        if len({_row(key, depth) for key in keys}) <= _ROWS:
            return depth
    return 1


def _order(tally: Tally, depth: int, cells: dict[RowName, dict[int, list[int]]]) -> list[RowName]:
    """Rows in causal order: batches, modules as they run forward, then the rest."""
    first = [(OTHER, several(kind)) for kind in _FIRST]
    ran = dict.fromkeys(
        _row(key, depth)
        for kinds in (("output",), _OF_MODULES)
        for keys in tally.shapes
        for key in keys
        if key[0] in kinds
    )
    rest = [(OTHER, several(kind)) for kind in KINDS if kind not in (*_FIRST, *_OF_MODULES)]
    return [name for name in (*first, *ran, *rest) if name in cells]
