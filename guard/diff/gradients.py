"""In which gradient a difference entered: backward runs from the last module to the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.diff.alignment import is_other_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.diff.alignment import Mismatch
    from guard.trace import Event

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
