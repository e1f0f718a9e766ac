"""The first operator of a step that gave two runs different results, and what to do about it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from detlint.operations import OPERATIONS, Operation
from detlint.switched_operations import SWITCHED, Switched
from guard.comparison import Cause, Operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.trace import Event, Step

_SWITCH = "torch.use_deterministic_algorithms(True), which `python -m guard run` switches on"
_SUFFIXES = ("out", "grad_input", "X", "values")  # overloads that only tell where a result goes
_UNWRITTEN = (
    "write every element before it is read: torch.zeros or torch.full in the place of torch.empty"
)
_SEEDED = "seed the generator that it draws from, before the program draws for the first time"
# In a backward they add up, where indices occur twice: the table has this under another name.
_ADDING = ("index_put", "unsafe_index_put", "index_put_impl")
_ADDS = "torch.index_put(accumulate=True)"
_EMPTY = ("empty", "new_empty", "resize")  # what they give is not written by anyone
_DRAWS = (
    "rand",
    "bernoulli",
    "dropout",
    "normal",
    "uniform",
    "multinomial",
    "exponential",
    "poisson",
    "cauchy",
    "geometric",
    "rrelu",
)


class Culprit(NamedTuple):
    """An operator, and what it shows: its inputs agreed and its result did not, or it read memory
    that nothing had written."""

    operator: Operator
    cause: Cause


def culprit(first: Step, second: Step, device: str) -> Culprit | None:
    """The first operator whose results part, in two recordings of the same step in detail.

    Where its inputs differ already, though no operator before it gave different results, what it
    read was written by none: memory of ``torch.empty``, or data from outside.
    """
    others: dict[tuple[object, ...], deque[Event]] = {}
    for event in _operators(second):
        others.setdefault(_key(event), deque()).append(event)
    for event in _operators(first):
        found = others.get(_key(event))
        if not found:
            continue
        other = found.popleft()
        # zero_() and their like read what was there before, and give the same for all that.
        if event.digest != other.digest:
            return _culprit(event, device, reads=event.inputs != other.inputs)
    return None


def _operators(step: Step) -> Iterator[Event]:
    found = (event for event in step.events if event.kind == "operator")
    return (event for event in found if not _packet(event.name).startswith(_EMPTY))


def _key(event: Event) -> tuple[object, ...]:
    return event.name, event.call, event.phase


def _culprit(event: Event, device: str, *, reads: bool) -> Culprit:
    packet = _packet(event.name)
    draws = not reads and any(word in packet for word in _DRAWS)
    row = None if reads or draws else row_of(event.name, device, backward=_is_backward(event))
    operator = Operator(
        name=event.name,
        phase=event.phase,
        place=event.place,
        module=event.module,
        alternative=_UNWRITTEN if reads else _SEEDED if draws else alternative(row),
        row=None if row is None else row.name,
    )
    if reads:
        return Culprit(operator, Cause.UNWRITTEN_MEMORY)
    return Culprit(operator, Cause.GENERATOR if draws else Cause.KERNEL)


def _packet(name: str) -> str:
    return name.partition(".")[2].partition(".")[0]


def _is_backward(event: Event) -> bool:
    return event.phase == "backward"


def row_of(name: str, device: str, *, backward: bool = False) -> Operation | Switched | None:
    """The row of an operator as the dispatcher names it: "aten.index_put_.default"."""
    overload = _overload(name)
    if backward and overload.partition("::")[2].strip("_") in _ADDING:
        return next((e for e in SWITCHED if e.name == _ADDS and device in e.devices), None)
    tables: tuple[Sequence[Operation | Switched], ...] = (OPERATIONS, SWITCHED)
    for rows in tables:
        for row in rows:
            if overload in row.overloads and device in row.devices:
                return row
    return None


def _overload(name: str) -> str:
    namespace, _, rest = name.partition(".")
    packet, _, overload = rest.partition(".")
    if overload in ("", "default", *_SUFFIXES):
        return f"{namespace}::{packet}"
    return f"{namespace}::{packet}.{overload}"


def alternative(row: Operation | Switched | None) -> str:
    """What to do, by the tables."""
    if row is None:
        return f"not in the table of operators; see whether it helps: {_SWITCH}"
    if isinstance(row, Switched):
        return f"{_SWITCH}; by default it {row.reason}"
    text = row.alternatives[0].text if row.alternatives else _SWITCH
    return f"{text} (where {row.condition})" if row.condition else text
