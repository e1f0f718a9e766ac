"""Findings of a text, moved to where they stand after a change of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.finding import Edit, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.finding import Finding
    from detlint.sources.source import Source

_CHUNK = 4096


class Shift:
    """One text became another, by a change in one place: what is around it stays."""

    def __init__(self, before: Source, after: Source) -> None:
        self._before, self._after = before, after
        old, new = before.text, after.text
        self._same = _shared(old, new, min(len(old), len(new)))
        left = min(len(old), len(new)) - self._same
        self._tail = _shared_end(old, new, left)
        self._delta = len(new) - len(old)

    def moved(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings that stand beside the change, where they stand now."""
        for each in findings:
            place = self._rows(each[1:5])
            if place is not None:
                way = [step if step.path else self._rows(step[:4]) for step in each.way]
                steps = [
                    Step(*rows[:4], step.text, step.path)
                    for rows, step in zip(way, each.way, strict=True)
                    if rows is not None
                ]
                yield each._replace(
                    row=place.row,
                    column=place.column,
                    end_row=place.end_row,
                    end_column=place.end_column,
                    edits=self._edits(each.edits),
                    way=tuple(steps) if len(steps) == len(way) else (),
                )

    def _edits(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """The edits of a fix; none where one lies in the change."""
        places = [self._span(each.start, each.end) for each in edits]
        moved = [
            Edit(*place, each.replacement)
            for place, each in zip(places, edits, strict=True)
            if place is not None
        ]
        return tuple(moved) if len(moved) == len(edits) else ()

    def _rows(self, rows: tuple[int, int, int, int]) -> _Rows | None:
        row, column, end_row, end_column = rows
        starts = self._before.line_starts
        if end_row > len(starts):
            return None
        span = self._span(starts[row - 1] + column - 1, starts[end_row - 1] + end_column - 1)
        if span is None:
            return None
        start, end = map(self._after.location, span)
        return _Rows(*start, *end)

    def _span(self, start: int, end: int) -> tuple[int, int] | None:
        if end <= self._same:
            return start, end
        if start >= len(self._before.text) - self._tail:
            return start + self._delta, end + self._delta
        return None


class _Rows(NamedTuple):
    row: int
    column: int
    end_row: int
    end_column: int


def _shared(one: str, other: str, most: int) -> int:
    """How many characters two texts begin with alike."""
    place = 0
    while place < most and one[place : place + _CHUNK] == other[place : place + _CHUNK]:
        place += _CHUNK
    while place < most and one[place] == other[place]:
        place += 1
    return min(place, most)


def _shared_end(one: str, other: str, most: int) -> int:
    """How many characters two texts end with alike."""
    count = 0
    while count + _CHUNK <= most and (
        one[len(one) - count - _CHUNK : len(one) - count]
        == other[len(other) - count - _CHUNK : len(other) - count]
    ):
        count += _CHUNK
    while count < most and one[len(one) - count - 1] == other[len(other) - count - 1]:
        count += 1
    return count
