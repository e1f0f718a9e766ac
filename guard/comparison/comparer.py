"""Goes along two runs, step by step, to where they part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.comparison.causes import judge
from guard.comparison.environments import changes
from guard.comparison.lengths import judge_end, judge_missing
from guard.comparison.pairs import Pair
from guard.comparison.walks import Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.comparison.differences import Change, Difference
    from guard.comparison.walks import Parting
    from guard.trace import Trace

_STEPS = 256  # of one rank at a time, so that no rank is read far beyond where another parts


class Comparer:
    """Compares two runs while both still write.

    The sequences may grow: a rank's trace is taken in when it is there. Each ``advance`` reads
    what has been appended and goes on from where it was.

    walks    along each rank that both have
    parting  the first of all ranks, once it is known
    """

    def __init__(self, first: Sequence[Trace], second: Sequence[Trace]) -> None:
        self._runs = (first, second)
        self.walks: dict[int, Walk] = {}
        self.parting: Parting | None = None
        self._take_in()

    @property
    def steps(self) -> int:
        """How many steps were found equal on every rank."""
        return min((walk.position for walk in self.walks.values()), default=0)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What of environment, seed and command is not the same."""
        walk = next(iter(self.walks.values()), None)
        return changes(*(each.header for each in walk.pair.traces)) if walk else ()

    def advance(self) -> Difference | None:
        """The first difference in what both have written, or None so far.

        Where one is still writing, its end is no difference; where several ranks are compared,
        a difference is told when the others have come to the same step.
        """
        self._take_in()
        for walk in self.walks.values():
            walk.pair.refresh()
        return self._compare(final=False)

    def finish(self) -> Difference | None:
        """The first difference, where nothing more is written."""
        self._take_in()
        return self._compare(final=True)

    def _take_in(self) -> None:
        """Pair the traces of the ranks that both runs have by now."""
        first, second = ({each.header.rank: each for each in run} for run in self._runs)
        for rank in sorted(first.keys() & second.keys() - self.walks.keys()):
            self.walks[rank] = Walk(Pair(rank, first[rank], second[rank]))

    def _compare(self, *, final: bool) -> Difference | None:
        parting = self._walk()
        if parting is not None:
            behind = [each for each in self.walks.values() if self._is_behind(each, parting)]
            if not final and behind:
                return None
            self.parting = parting
            return judge(parting, self.changes)
        ends = (judge_end(walk.pair, final=final) for walk in self.walks.values())
        found = [each for each in ends if each is not None]
        if found:
            return min(found, key=lambda each: each.step)
        return self._missing() if final else None

    def _walk(self) -> Parting | None:
        """Take all ranks along together, to the first parting of any or to the end."""
        limit = 0
        while True:
            limit += _STEPS
            found = [each for walk in self.walks.values() if (each := walk.advance(limit))]
            if found:
                return min(found, key=lambda each: each.order)
            if all(len(walk.pair) <= limit for walk in self.walks.values()):
                return None

    @staticmethod
    def _is_behind(walk: Walk, parting: Parting) -> bool:
        """Whether a rank has yet to write the step at which another parts."""
        ended = any(trace.complete for trace in walk.pair.traces)
        return walk.parting is None and walk.position <= parting.position and not ended

    def _missing(self) -> Difference | None:
        first, second = ({each.header.rank for each in run} for run in self._runs)
        lacking = [(rank, 1) for rank in first - second] + [(rank, 0) for rank in second - first]
        return judge_missing(*min(lacking)) if lacking else None


def compare(first: Sequence[Trace], second: Sequence[Trace]) -> Difference | None:
    """Where two runs part first, and why; None where they are the same, bit for bit.

    Its ``consequences`` are counted to the end of both.
    """
    from guard.comparison.examination import examine

    return examine(first, second).difference
