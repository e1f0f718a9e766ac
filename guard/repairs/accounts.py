"""What the replacements did: how often each ran, for which line, and how long it took."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import torch

from guard.observe import places


class Account(NamedTuple):
    """A replaced operator at a place.

    operation  the name of its row in the table
    place      the line that called it, of a backward the line of its forward; None if unknown
    calls      how often
    seconds    together, as the processor sees it: a GPU works on
    share      of the time since guard was enabled
    """

    operation: str
    place: places.Place | None
    calls: int
    seconds: float
    share: float


_counted: dict[tuple[str, places.Place | None], list[float]] = {}  # calls, seconds
_begun = perf_counter()


def start() -> None:
    """Begin to count, where nothing was replaced before."""
    global _begun  # noqa: PLW0603
    if not _counted:
        _begun = perf_counter()


def note(operation: str, seconds: float, place: places.Place | None = None) -> None:
    """Count a call, of a place that may be known."""
    entry = _counted.setdefault((operation, place or _place()), [0, 0.0])
    entry[0] += 1
    entry[1] += seconds


def _place() -> places.Place | None:
    """Without the modules around it, which are not to be kept alive."""
    node: Any = torch._C._current_autograd_node()  # noqa: SLF001
    trail = places.here() if node is None else node.metadata.get("guard")
    return trail.place if trail is not None else None


def accounts() -> list[Account]:
    """All of them, those that took longest first."""
    elapsed = max(perf_counter() - _begun, 1e-9)
    found = [
        Account(operation, place, int(calls), seconds, seconds / elapsed)
        for (operation, place), (calls, seconds) in list(_counted.items())
    ]
    return sorted(found, key=lambda each: -each.seconds)


def forget() -> None:
    """Begin anew."""
    global _begun  # noqa: PLW0603
    _counted.clear()
    _begun = perf_counter()
