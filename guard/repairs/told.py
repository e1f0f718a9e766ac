"""What the replacements did, as text: at the end of ``guard run --repair``."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from guard.dependencies import loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.repairs.accounts import Account


def counted() -> list[Account]:
    """What has run so far, those that took longest first; empty where nothing was replaced."""
    if loaded("guard.repairs.accounts") is None:
        return []
    from guard.repairs.accounts import accounts

    return accounts()


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
        if entries := counted():
            sys.stderr.write(text(entries) + "\n")
