"""Slices of the def-use graph: what a value is made of, and what is made of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Op

T = TypeVar("T")

# What leaves something behind of the code that does it.
LEAVING = frozenset(
    (
        *("augment", "change", "delete", "return", "store_attr", "store_global", "store_item"),
        *("yield", "yield_from"),
    )
)

# What gives the value that it takes, or one of several.
SAME = frozenset(("await", "boolean", "choice", "declared", "enter", "free", "phi"))
# What gives the next state of a container, or another name to it.
STATES = frozenset(("change", "declared", "delete", "free", "phi", "store_item"))


def closure(
    starts: Iterable[T], step: Callable[[T], Iterable[T]], most: float = math.inf
) -> Iterator[T]:
    """Some values, and all that a step leads to from them, each once, nearest first; ``most``: no
    step is taken any more once there are so many."""
    pending = list(dict.fromkeys(starts))
    seen = set(pending)
    for each in pending:  # grows
        yield each
        for one in step(each) if len(pending) < most else ():
            if one not in seen:
                seen.add(one)
                pending.append(one)


def behind(*values: Op, most: float = math.inf) -> Iterator[Op]:
    """Some values, and all that they are made of."""
    return closure(values, lambda op: op.args, most)


def ahead(values: Iterable[Op], codes: Collection[str], most: float = math.inf) -> Iterator[Op]:
    """Some values, and what operations of some codes make of them, one after the other."""
    return closure(values, lambda op: (use for use in op.uses if use.code in codes), most)


def readers(value: Op) -> Iterator[Op]:
    """What takes a value, also through joints."""
    for each in ahead([value], ("phi",)):
        yield from (use for use in each.uses if use.code != "phi")


def alternatives(op: Op) -> Sequence[Op]:
    """The values one of which an operation gives as it is; none of one that makes its own."""
    if op.code == "choice":
        return op.args[1:]
    return op.args if op.code in SAME else ()


def before(op: Op) -> Sequence[Op]:
    """What a value was before it was changed, or is as it is, also by a variable of its file."""
    if op.code == "global":
        return op.function.unit.module.bindings.get(str(op.name), [])
    return states_before(op) or alternatives(op)


def states_before(op: Op) -> Sequence[Op]:
    """What a container was before an operation changed it, or gave it another name."""
    if op.code in ("free", "phi"):
        return op.args
    return op.args[:1] if op.code in STATES else ()


def states_after(op: Op) -> Iterator[Op]:
    """What a container is next."""
    return (use for use in op.uses if op in states_before(use))
