"""Two sequences side by side, and where the events of two steps part.

Of gradients that differ it is the one of the module that ran last in forward: backward runs from
the last module to the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from guard.diff.names import describe
from guard.diff.pairs import key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from guard.trace import Event

_SHOWN = 6  # of the events that only one run has
_WINDOW = 400  # entries that are looked through for where they meet again
_SURE = 2  # that agree in a row
Each = TypeVar("Each")


def either(first: Each | None, second: Each | None) -> Each:
    """What the first run has; where it has nothing, the second."""
    if (found := first or second) is None:
        raise AssertionError("it is of no run")
    return found


class Mismatch(NamedTuple):
    """The first event that is not the same; None where a run has none there."""

    first: Event | None
    second: Event | None
    at: int  # how many events agree before it
    # where other events ran: those that only one run has, "+" for the second
    parted: tuple[str, ...] = ()

    @property
    def is_other(self) -> bool:
        """Whether other things happened, and not the same with another value."""
        return bool(self.parted)


def find_mismatch(first: Sequence[Event], second: Sequence[Event]) -> Mismatch | None:
    """The first event, in causal order, that differs."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if key(one) != key(other):
            return Mismatch(one, other, at, _parted(first[at:], second[at:]))
        if is_other_value(one, other):
            return Mismatch(one, other, at)
    at = min(len(first), len(second))
    if len(first) == len(second):
        return None
    ended, more = (each[at] if len(each) > at else None for each in (first, second))
    return Mismatch(ended, more, at, _parted(first[at:], second[at:]))


def is_other_value(one: Event, other: Event) -> bool:
    """Whether the same thing holds something else. An operator's inputs count as well."""
    of_operator = one.kind == "operator"  # of a batch, the same samples in another order
    return one.digest != other.digest or (of_operator and one.inputs != other.inputs)


def _parted(first: Sequence[Event], second: Sequence[Event]) -> tuple[str, ...]:
    """What only one run has of two sequences of events, in order; what is left out, counted."""
    if sorted(map(key, first)) == sorted(map(key, second)):
        one, other = describe(first[0]), describe(second[0])
        return (f"{one} in one run comes where {other} is in the other",)
    told = []
    for left, right in aligned(first, second, key):
        if left is None and right is not None:
            told.append(f"+ {describe(right)}")
        elif right is None and left is not None:
            told.append(f"- {describe(left)}")
    more = len(told) - _SHOWN
    return (*told[:_SHOWN], f"and {more} more") if more > 0 else tuple(told)


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


_UNKNOWN = -1


def entered(events: tuple[list[Event], list[Event]], found: Mismatch) -> Mismatch:
    """Where a gradient differs first, the one of the module that ran last in forward.

    Gradients are recorded as an optimizer reads them, which is the order of the parameters and
    not that of backward. Anything else is left as it is.
    """
    if found.first is None or found.second is None or found.is_other:
        return found
    if found.first.kind != "gradient":
        return found
    ran = _order(events[0])
    best, rank = found, ran.get(owner(found.first.name), _UNKNOWN)
    for at, (one, other) in enumerate(zip(*events, strict=False)):
        if one.kind != "gradient" or (one.name, one.call) != (other.name, other.call):
            continue
        if not is_other_value(one, other):
            continue
        place = ran.get(owner(one.name), _UNKNOWN)
        if place > rank:
            best, rank = found._replace(first=one, second=other, at=at), place
    return best


def owner(parameter: str) -> str:
    """The module that holds a parameter, by its path."""
    return parameter.rpartition(".")[0]


def output_of(events: Sequence[Event], module: str) -> Event | None:
    """The last output of a module in a step."""
    outputs = (each for each in reversed(events) if each.kind == "output")
    return next((each for each in outputs if each.name == module), None)


def _order(events: Sequence[Event]) -> dict[str, int]:
    """When modules without others inside ran last. Those with others inside say nothing: their
    own parameters may be read at the beginning or at the end."""
    order = {each.name: at for at, each in enumerate(events) if each.kind == "output"}
    outer = {name for path in order for name in _around(path)}
    return {name: at for name, at in order.items() if name not in outer}


def _around(path: str) -> list[str]:
    parts = path.split(".")
    found = [".".join(parts[:end]) for end in range(1, len(parts))]
    return [*found, ""] if path else found
