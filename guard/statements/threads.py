"""Threads of two runs brought side by side, and what they were given to do.

By what they run and in which order they were started. Which thread of a pool is given which task
is another in each run: the same task is looked for in all threads that run the same, and in all
processes of a pool.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.diff.alignment import aligned

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from guard.statements.trees import Call, Thread

    Pair = tuple[Call | None, Call | None]

_NUMBER = re.compile(r"-\d+")  # of a process among those of a pool


def calls_of(
    ones: list[Thread], others: list[Thread]
) -> Iterator[tuple[Call | None, Call | None, str]]:
    """Pairs of calls that no statement of the program's made, with the name of their thread.

    Threads of the same role have a number in their names, but for the first.
    """
    families: dict[str, tuple[list[tuple[Call, str]], list[tuple[Call, str]]]] = {}
    for role in dict.fromkeys(each.role for each in (*ones, *others)):
        groups = ([e for e in ones if e.role == role], [e for e in others if e.role == role])
        left = families.setdefault(_NUMBER.sub("", role), ([], []))
        for number, pair in enumerate(_side_by_side(*groups)):
            name = f"{role}#{number}" if number else role
            calls = [each.calls if each else [] for each in pair]
            for one, other in aligned(calls[0], calls[1], _task):
                if one is not None and other is not None:
                    yield one, other, name
                elif one is not None:
                    left[0].append((one, name))
                elif other is not None:
                    left[1].append((other, name))
    for left in families.values():
        yield from _elsewhere(*left)


def _task(call: Call) -> Hashable:
    return call.key, call.given


def _side_by_side(
    ones: Sequence[Thread], others: Sequence[Thread]
) -> list[tuple[Thread | None, Thread | None]]:
    """Threads that begin with the same task; else in the order in which they were started."""
    rest = list(others)
    found: list[tuple[Thread | None, Thread | None]] = []
    for each in ones:
        same = (
            o for o in rest if each.calls and o.calls and _task(o.calls[0]) == _task(each.calls[0])
        )
        other = next(same, None)
        if other is not None:
            rest.remove(other)
        found.append((each, other))
    for at, (one, other) in enumerate(found):
        if other is None and rest:
            found[at] = (one, rest.pop(0))
    return [*found, *((None, each) for each in rest)]


def _elsewhere(
    ones: list[tuple[Call, str]], others: list[tuple[Call, str]]
) -> Iterator[tuple[Call | None, Call | None, str]]:
    """Tasks that another thread had; then what was given something else, in order, by role."""
    by_task: dict[Hashable, list[tuple[Call, str]]] = {}
    for each in others:
        by_task.setdefault(_task(each[0]), []).append(each)
    rest: list[tuple[Call, str]] = []
    for call, name in ones:
        same = by_task.get(_task(call))
        if same:
            yield call, same.pop(0)[0], name
        else:
            rest.append((call, name))
    unmatched = [each for same in by_task.values() for each in same]
    unmatched.sort(key=lambda each: each[0].began)
    for role in dict.fromkeys(_role(each) for each in (*rest, *unmatched)):
        left = [[each for each in some if _role(each) == role] for some in (rest, unmatched)]
        for one, other in aligned(left[0], left[1], lambda each: each[0].key):
            found = one or other
            if found is not None:
                yield (one and one[0]), (other and other[0]), found[1]


def _role(task: tuple[Call, str]) -> str:
    """Without the number of its thread."""
    return task[1].partition("#")[0]
