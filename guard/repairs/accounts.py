"""What the replacements did: how often each ran, for which line, and how long it took.

As text at the end of ``guard run --repair``.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.dependencies import import_torch
from guard.observe import places

if TYPE_CHECKING:
    from collections.abc import Iterator


class Account(NamedTuple):
    """A replaced operator at a place."""

    operation: str  # the name of its row in the table
    # the line that called it, of a backward the line of its forward; None if unknown
    place: places.Place | None
    calls: int  # how often
    seconds: float  # together, as the processor sees it: a GPU works on
    share: float  # of the time since guard was enabled


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
    core: Any = import_torch("guard")._C  # noqa: SLF001
    node = core._current_autograd_node()  # noqa: SLF001
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


def would_replace(gpu: bool) -> str:
    """What ``repair=True`` would replace in this process, in words; imports torch.

    ``gpu``: whether there is one. Without one only what refuses on the CPU, too, is.
    """
    from guard.repairs.installation import offered

    found = offered("CUDA" if gpu else "CPU")
    fit = [name for name, reason in found.items() if not reason]
    where = "on this GPU" if gpu else "on this CPU, where the others are deterministic"
    parts = [f"{len(fit)} operators {where}"] if gpu else [f"{', '.join(fit)} {where}"]
    return "; ".join(
        [*parts, *(f"not {name}: {reason}" for name, reason in found.items() if reason)]
    )


def by_operation(entries: list[Account]) -> dict[str, list[Account]]:
    """The places of each operator, those that took longest first."""
    found: dict[str, list[Account]] = {}
    for each in entries:
        found.setdefault(each.operation, []).append(each)
    return found


def text(entries: list[Account]) -> str:
    """A line for each operator and place."""
    number = "1 place runs" if len(entries) == 1 else f"{len(entries)} places run"
    lines = [f"guard: {number} a deterministic replacement of torch's operator"]
    return "\n".join([*lines, *(f"  {each.operation}, {meaning(each)}" for each in entries)])


def meaning(entry: Account) -> str:
    """How often, how long, and where."""
    often = "once" if entry.calls == 1 else f"{entry.calls} times"
    return f"{often}, {entry.share:.1%} of the time: {entry.place or 'place unknown'}"


@contextmanager
def at_the_end() -> Iterator[None]:
    """Write to stderr what was replaced, however the block ends."""
    try:
        yield
    finally:
        if entries := accounts():
            sys.stderr.write(text(entries) + "\n")
