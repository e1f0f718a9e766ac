"""Hash seeds under which small sets of strings come in another order, and not by luck.

Of a set of two strings, two seeds taken at random give the same order half of the time; and of a
set of five, a given string has the same place in both once in five.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from guard.verification import string_hashes
from guard.verification.sources import program_files
from guard.verification.string_sets import string_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.verification.string_sets import Strings

FIRST = 1  # of run 0
_TRIED = 400  # seeds for a run
# What programs commonly read from elsewhere.
COMMON: tuple[Strings, ...] = (
    ("train", "test"),
    ("train", "val"),
    ("train", "val", "test"),
    ("input", "target"),
    ("image", "label"),
    ("source", "target"),
    ("weight", "bias"),
    ("x", "y"),
    ("0", "1"),
    ("cat", "dog"),
    ("a", "b", "c"),
)


class _Score(NamedTuple):
    """The more groups, the better; what is told first counts first.

    another  how many come in another order
    moved    in how many of these no element has kept its place
    """

    another: int = 0
    moved: int = 0


class HashSeeds:
    """Of the runs of a program: that of each is chosen against that of the first."""

    def __init__(self, program: str, *, module: bool) -> None:
        self._program = program
        self._module = module
        self._chosen: dict[int, int] = {0: FIRST}

    def of(self, run: int) -> int:
        """That of a run, from 0: another one for each."""
        if run not in self._chosen:
            first = FIRST + 1 + (run - 1) * _TRIED
            self._chosen[run] = best(range(first, first + _TRIED), self._groups)
        return self._chosen[run]

    @cached_property
    def _groups(self) -> tuple[Sequence[Strings], ...]:
        """By how much they count."""
        if not string_hashes.is_known():
            return ()
        found = string_sets(program_files(self._program, module=self._module))
        return found.sets, (*found.others, *COMMON)


def best(seeds: range, groups: Sequence[Sequence[Strings]], first: int = FIRST) -> int:
    """The seed under which most of the groups come in another order than under the first."""
    wanted = [{each: orders(each, first) for each in some} for some in groups]
    perfect = [_Score(len(some), len(some)) for some in wanted]
    found, scores = seeds[0], [_Score(-1)]
    for seed in seeds:
        reached: list[_Score] = []
        for some in wanted:
            reached.append(_score(some, seed))
            if reached < scores[: len(reached)]:
                break
        if reached > scores:
            found, scores = seed, reached
        if reached == perfect:
            break
    return found


def _score(groups: dict[Strings, tuple[Strings, ...]], seed: int) -> _Score:
    another = moved = 0
    for strings, before in groups.items():
        pairs = list(zip(before, orders(strings, seed), strict=True))
        another += all(one != other for one, other in pairs)
        moved += all(a != b for one, other in pairs for a, b in zip(one, other, strict=True))
    return _Score(another, moved)


def orders(strings: Strings, seed: int) -> tuple[Strings, ...]:
    """In which a set of them is gone through: filled one by one; and from a constant, as what is
    written with braces is, which the compiler makes once or makes anew."""
    elements = list(map(_Element, strings, string_hashes.hashes(strings, seed)))
    filled = frozenset(elements)
    anew = frozenset(list(filled))
    copies = [set[_Element]() for _ in range(2)]
    for copy, constant in zip(copies, (filled, anew), strict=True):
        copy.update(constant)
    return tuple(tuple(each.string for each in found) for found in (filled, anew, *copies))


class _Element:
    """Stands in a set where its string would."""

    __slots__ = ("hash", "string")

    def __init__(self, string: str, number: int) -> None:
        self.string = string
        self.hash = number

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return self is other
