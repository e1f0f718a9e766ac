"""What became of a difference: which events differ in which steps, to the end of both runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from guard.comparison.layouts import KIND, SIGNATURE
from guard.comparison.walks import START

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from guard.comparison.layouts import Key, Layout
    from guard.comparison.pairs import Pair

COLUMNS = 240  # as many as a page has room for


class Tally:
    """Counts of a rank's events, by column of steps and by what they are of.

    Columns are of equal width, so that 10,000 steps fit on a page.

    differing_steps  how many steps differ
    trainings        how many are training steps
    held             by column and by the events a step has: how many steps
    differing        likewise: how often each event differs
    since            of each event the position where it first differs
    """

    def __init__(self, pair: Pair, parted: int | None, generators: Mapping[str, int]) -> None:
        self.pair = pair
        self.length = len(pair)
        self.width = max(1, -(-self.length // COLUMNS))
        self.parted = self.length if parted is None else parted
        self.ignored = {name for name, since in generators.items() if since == START}
        self.differing_steps = 0
        self.trainings = 0
        self.held: Counter[tuple[int, tuple[Key, ...]]] = Counter()
        self.differing: dict[tuple[int, tuple[Key, ...]], Counter[int]] = {}
        self.since: dict[Key, int] = {}
        self._keys: dict[tuple[Key, ...], tuple[Key, ...]] = {}
        self._layouts: dict[bytes, tuple[Key, ...]] = {}
        self._seen: dict[tuple[Key, ...], set[int]] = {}

    def count(self) -> None:
        """Look at every step. Those before the difference are known to be equal."""
        for position in range(self.parted):
            index = self.pair.places(position)[0]
            raw = self.pair.traces[0].raw(index)
            self.trainings += not raw[KIND]
            self.held[position // self.width, self._of(0, index, raw)] += 1
        for position in range(self.parted, self.length):
            self._compare(position)

    def _compare(self, position: int) -> None:
        first, second = self.pair.raws(position)
        places = self.pair.places(position)
        keys = self._of(0, places[0], first)
        self.trainings += not first[KIND]
        if first == second:
            self.held[position // self.width, keys] += 1
            return
        if self.pair.strict and keys is self._of(1, places[1], second):
            differing = self._layout(0, places[0], first).differing(first, second)
        else:
            keys, differing = self._by_key(position)
        self._note(position, keys, differing)

    def _by_key(self, position: int) -> tuple[tuple[Key, ...], list[int]]:
        """The events of both, and which differ or stand in one run alone."""
        steps = self.pair.steps(position)
        held: list[dict[Key, bytes]] = [
            {(each.kind, each.name, each.call): each.digest for each in events}
            for events in self.pair.events(steps)
        ]
        first, second = held
        keys = tuple(first | second)
        keys = self._keys.setdefault(keys, keys)
        return keys, [at for at, key in enumerate(keys) if first.get(key) != second.get(key)]

    def _note(self, position: int, keys: tuple[Key, ...], differing: Sequence[int]) -> None:
        column = position // self.width, keys
        self.held[column] += 1
        if not differing:
            return
        self.differing.setdefault(column, Counter()).update(differing)
        seen = self._seen.setdefault(keys, set())
        if len(seen) < len(keys):
            for at in set(differing) - seen:
                self.since.setdefault(keys[at], position)
            seen.update(differing)
        ignored = self.ignored
        if any(keys[at][0] != "generator" or keys[at][1] not in ignored for at in differing):
            self.differing_steps += 1

    def _of(self, run: int, index: int, raw: bytes) -> tuple[Key, ...]:
        """What the events of a step are of: the same object for the same."""
        found = self._layouts.get(raw[:SIGNATURE])
        if found is None:
            keys = self._layout(run, index, raw).keys
            found = self._layouts[raw[:SIGNATURE]] = self._keys.setdefault(keys, keys)
        return found

    def _layout(self, run: int, index: int, raw: bytes) -> Layout:
        return self.pair.layouts[run].of(index, raw)

    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """How many events differ, and how many there are, by kind, from the difference on."""
        differing, totals = Counter[str](), Counter[str]()
        for (_, keys), found in self.differing.items():
            for at, times in found.items():
                kind, name, _ = keys[at]
                if kind != "generator" or name not in self.ignored:
                    differing[kind] += times
        start = self.parted // self.width
        for (column, keys), steps in self.held.items():
            if column >= start:
                for kind, number in Counter(key[0] for key in keys).items():
                    totals[kind] += number * steps
        return differing, totals

    @property
    def kinds(self) -> set[str]:
        """The kinds of events in all that was looked at."""
        return {key[0] for keys in self._keys for key in keys}
