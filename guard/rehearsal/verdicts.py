"""What becomes of an operator on CUDA: looked up in the table, by its name and its node."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import torch

from detlint.operations import OPERATIONS, Operation
from detlint.switched_operations import SWITCHED, Switched
from guard.rehearsal import conditions
from guard.rehearsal.findings import DETERMINISTIC, RAISES, SILENT, SWITCH, UNKNOWN, Verdict

if TYPE_CHECKING:
    from guard.observe.modes import Run

# torch's own; every other is a library's, of which the table knows nothing.
_KNOWN = {"aten", "prims", "prim", "profiler", "inductor", "c10d", "c10d_functional"}
COMPILED = "torch.cumsum under torch.compile"


class LibraryRow(NamedTuple):
    """What the report says of a library's kernel, in the place of a row of torch's operators."""

    name: str
    reason: str


class Judgement(NamedTuple):
    """A verdict, and the row of a table that it stands in."""

    verdict: Verdict
    row: Operation | Switched | LibraryRow | None = None


def judge(run: Run, node: str = "", *, compiled: bool = False) -> Judgement:
    """What an operator does on CUDA with determinism on, called by a node of that name or by the
    forward."""
    if run.func.namespace not in _KNOWN:
        return Judgement(UNKNOWN)
    name = plain_name(run.name)
    rows, switched = _refused().get(name, ()), _switched().get(name, ())
    if not rows and not switched:
        return Judgement(DETERMINISTIC)
    given = run.named()
    found = [
        row for row in rows if conditions.holds(row, given) and (compiled or row.name != COMPILED)
    ]
    if found:
        row = next((each for each in found if node in each.nodes), found[0])
        return Judgement(SILENT if row.silent else RAISES, row)
    for each in switched:
        if conditions.switched(each.name, given):
            return Judgement(SWITCH, each)
    return Judgement(DETERMINISTIC)


def judge_node(name: str) -> Judgement:
    """What a node's backward does on CUDA, where it is known by its name alone."""
    for row in OPERATIONS:
        if name in row.nodes and "cuda" in row.devices and in_force(row):
            return Judgement(SILENT if row.silent else RAISES, row)
    return Judgement(DETERMINISTIC)


def plain_name(name: str) -> str:
    """An operator's name as the table writes it: without what tells where the result goes."""
    packet, _, overload = name.partition(".")
    return packet if overload in ("out", "grad_input", "X", "values") else name


@cache
def _refused() -> dict[str, list[Operation]]:
    found: dict[str, list[Operation]] = {}
    for row in OPERATIONS:
        if "cuda" in row.devices and in_force(row):
            for overload in row.overloads:
                found.setdefault(overload, []).append(row)
    return found


@cache
def _switched() -> dict[str, list[Switched]]:
    found: dict[str, list[Switched]] = {}
    for row in SWITCHED:
        if "cuda" in row.devices and in_force(row):
            for overload in row.overloads:
                found.setdefault(overload, []).append(row)
    return found


def in_force(row: Operation | Switched) -> bool:
    """Whether a row holds for the torch that is installed."""
    release = _release(torch.__version__)
    begun = not row.since or release >= _release(row.since)
    return begun and not (row.until and release >= _release(row.until))


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:2]))
