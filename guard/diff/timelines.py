"""The time line: steps by modules and by what is no module."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from guard.diff.alignment import owner
from guard.diff.differences import Row, Timeline
from guard.diff.names import KINDS, several
from guard.diff.pairs import END, KIND, SIGNATURE
from guard.diff.walks import START

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from guard.diff.alignment import Mismatch
    from guard.diff.pairs import Key, Layout, Pair

MODULES, OTHER = "modules", "other"
_ROWS = 120  # of modules; beyond, those inside a module are shown as that module
_OF_MODULES = ("output", "gradient", "parameter", "buffer")
_MODEL = "(model)"
_FIRST = ("batch",)  # of what is no module, above the modules: causes stand above effects

RowName = tuple[str, str]
COLUMNS = 240  # as many as a page has room for

Cell = tuple[int, int]  # a column, and the number of a shape


class Tally:
    """Counts of a rank's events, by column of steps and by what they are of.

    Columns are of equal width, so that 10,000 steps fit on a page. A shape is what the events of
    a step are of; its number stands for it, since its hash takes long.
    """

    def __init__(self, pair: Pair, parted: int | None, generators: Mapping[str, int]) -> None:
        self.pair = pair
        self.length = len(pair)
        self.width = max(1, -(-self.length // COLUMNS))
        self.parted = self.length if parted is None else parted
        self.ignored = {name for name, since in generators.items() if since == START}
        self.shapes: list[tuple[Key, ...]] = []  # by number
        self.differing_steps = 0  # how many steps differ; the state at the end is none
        self.trainings = 0  # how many are training steps
        self.held: Counter[Cell] = Counter()  # by column and shape: how many steps
        self.differing: dict[Cell, Counter[int]] = {}  # likewise: how often each event differs
        self.since: dict[Key, int] = {}  # of each event the position where it first differs
        self._after: Counter[int] = Counter()  # steps from the difference on, by shape
        self._numbers: dict[tuple[Key, ...], int] = {}
        self._of: dict[bytes, int] = {}
        self._decisive: list[set[int]] = []
        self._seen: list[set[int]] = []

    def count(self) -> None:
        """Look at every step. Those before the difference are known to be equal."""
        trace = self.pair.traces[0]
        for position in range(self.parted):
            index = self.pair.places(position)[0]
            raw = trace.raw(index)
            self.trainings += not raw[KIND]
            self.held[position // self.width, self._shape(0, index, raw)] += 1
        for position in range(self.parted, self.length):
            self._compare(position)

    def _compare(self, position: int) -> None:
        first, second = self.pair.raws(position)
        places = self.pair.places(position)
        shape = self._shape(0, places[0], first)
        self.trainings += not first[KIND]
        differing: Sequence[int] = ()
        if first != second:
            if self.pair.strict and shape == self._shape(1, places[1], second):
                differing = self._layout(0, places[0], first).differing(first, second)
            else:
                shape, differing = self._by_key(position)
        self.held[position // self.width, shape] += 1
        self._after[shape] += 1
        if differing:
            self._note(position, shape, differing)
            if first[KIND] != END and not self._decisive[shape].isdisjoint(differing):
                self.differing_steps += 1

    def _by_key(self, position: int) -> tuple[int, list[int]]:
        """The events of both, and which differ or stand in one run alone."""
        steps = self.pair.steps(position)
        held: list[dict[Key, bytes]] = [
            {(each.kind, each.name, each.call): each.digest for each in events}
            for events in self.pair.events(steps)
        ]
        first, second = held
        keys = tuple(first | second)
        differing = [at for at, key in enumerate(keys) if first.get(key) != second.get(key)]
        return self._number(keys), differing

    def _note(self, position: int, shape: int, differing: Sequence[int]) -> None:
        self.differing.setdefault((position // self.width, shape), Counter()).update(differing)
        seen = self._seen[shape]
        if len(seen) < len(self.shapes[shape]):
            for at in set(differing) - seen:
                self.since.setdefault(self.shapes[shape][at], position)
            seen.update(differing)

    def _shape(self, run: int, index: int, raw: bytes) -> int:
        """The number of what the events of a step are of: the same in both runs."""
        found = self._of.get(raw[:SIGNATURE])
        if found is None:
            found = self._of[raw[:SIGNATURE]] = self._number(self._layout(run, index, raw).keys)
        return found

    def _number(self, keys: tuple[Key, ...]) -> int:
        found = self._numbers.setdefault(keys, len(self.shapes))
        if found == len(self.shapes):
            self.shapes.append(keys)
            self._seen.append(set())
            self._decisive.append({at for at, key in enumerate(keys) if self.counts_in(key)})
        return found

    def counts_in(self, key: Key) -> bool:
        """Whether an event counts: not a generator that never was the same."""
        return key[0] != "generator" or key[1] not in self.ignored

    def _layout(self, run: int, index: int, raw: bytes) -> Layout:
        return self.pair.layouts[run].of(index, raw)

    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """How many events differ, and how many there are, by kind, from the difference on."""
        differing, totals = Counter[str](), Counter[str]()
        for (_, shape), found in self.differing.items():
            for at, times in found.items():
                if at in self._decisive[shape]:
                    differing[self.shapes[shape][at][0]] += times
        for shape, steps in self._after.items():
            counted = Counter(key[0] for key in self.shapes[shape] if self.counts_in(key))
            for kind, number in counted.items():
                totals[kind] += number * steps
        return differing, totals

    @property
    def kinds(self) -> set[str]:
        """The kinds of events in all that was looked at."""
        return {key[0] for keys in self.shapes for key in keys}


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
        held = (cells[name].get(at, (0, 0)) for at in range(len(starts)))
        parts = tuple((differ, all_of_it) for differ, all_of_it in held)
        first = tally.pair.number(since[name]) if name in since else None
        rows.append(Row(name[1], name[0], parts, first))
    last = tally.pair.number(tally.length - 1) if tally.length else 0
    entered = _entered(tally, mismatch, order, depth)
    return Timeline(tally.pair.rank, numbers, tuple(rows), entered, tally.width, last)


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
