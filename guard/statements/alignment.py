"""Two lists brought side by side: what both have, and what only one has."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

Each = TypeVar("Each")
_WINDOW = 400  # entries that are looked through for where they meet again
_SURE = 2  # that agree in a row


def aligned(
    first: Sequence[Each], second: Sequence[Each], key: Callable[[Each], Hashable]
) -> list[tuple[Each | None, Each | None]]:
    """Pairs in order; None where one has nothing. They meet again where least is left out."""
    ones, others = [key(each) for each in first], [key(each) for each in second]
    found: list[tuple[Each | None, Each | None]] = []
    i = j = 0
    while i < len(ones) and j < len(others):
        if ones[i] == others[j]:
            found.append((first[i], second[j]))
            i, j = i + 1, j + 1
            continue
        di, dj = _meeting(ones[i : i + _WINDOW], others[j : j + _WINDOW])
        found += [(each, None) for each in first[i : i + di]]
        found += [(None, each) for each in second[j : j + dj]]
        i, j = i + di, j + dj
    found += [(each, None) for each in first[i:]]
    found += [(None, each) for each in second[j:]]
    return found


def _meeting(ones: Sequence[Hashable], others: Sequence[Hashable]) -> tuple[int, int]:
    """How far to go in each until they agree again."""
    places: dict[Hashable, list[int]] = {}
    for at, each in enumerate(others):
        places.setdefault(each, []).append(at)
    best = (len(ones), len(others))
    for i, each in enumerate(ones):
        if i >= sum(best):
            break
        for j in places.get(each, ()):
            run = i + _SURE, j + _SURE
            is_sure = list(ones[i : run[0]]) == list(others[j : run[1]])
            if is_sure and i + j < sum(best):
                best = (i, j)
                break
    return best
