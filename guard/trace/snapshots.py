"""The file of a snapshot: what a program held as a step began, beside the trace of its rank."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard.program import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUFFIX = ".held"


class Held(NamedTuple):
    """A value that a program holds.

    path       of the variable or attribute of the program's that leads to it: "self.scheduler"
    below      the rest of the way: ".last_epoch"
    digest     equal for equal contents
    text       a number or a short text itself, else ""
    owner      the program's own class or function that has the attribute or the variable
    file       of that
    name       of that attribute or variable: "scheduler"
    is_field   whether it is an attribute
    kind       the class of what is bound to it, where that is an object: "CosineAnnealingLR"
    role       of the object that the value is in: "scheduler"; "" for one of no known role
    """

    path: str
    below: str = ""
    digest: int = 0
    text: str = ""
    owner: str = ""
    file: str = ""
    name: str = ""
    is_field: bool = False
    kind: str = ""
    role: str = ""


class Snapshots(NamedTuple):
    """What a process held as its first step began, and as a later one did."""

    first: Sequence[Held]
    later: Sequence[Held]


def path_of(trace: str) -> str:
    """The file that belongs to a trace."""
    return trace.removesuffix(".trace") + _SUFFIX


def write(trace: str, found: Snapshots) -> None:
    """Write beside a trace. Raises OSError."""
    write_whole(path_of(trace), json.dumps(found))


def read(trace: str) -> Snapshots | None:
    """What lies beside a trace, or None."""
    with suppress(OSError, ValueError):
        first, later = json.loads(Path(path_of(trace)).read_text(encoding="utf-8"))
        return Snapshots([Held(*each) for each in first], [Held(*each) for each in later])
    return None
