"""Which operations may run before which, as far as the regions that they lie in tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op, Region

_SIDES = frozenset(("if", "else", "except"))
_CONDITIONAL = frozenset(("if", "else", "try", "except", "for", "while", "comprehension"))


def may_run_before(earlier: Op, later: Op, since: Op) -> bool:
    """Whether an operation may have run when another one runs for the first time after ``since``.

    In a loop around both, that is a later round if what is asked about can be left out of a round.
    """
    if earlier.place < later.place and _falls_through(earlier, later):
        return True
    return any(may_skip(later, loop) for loop in loops_around(earlier, later, since))


def loops_around(earlier: Op, later: Op, since: Op) -> Iterator[Region]:
    """The loops that two operations lie in, and a third one not."""
    for region in later.region.around():
        if region.loops and earlier.within(region) and not since.within(region):
            yield region


def may_skip(op: Op, loop: Region) -> bool:
    """Whether a round of a loop may leave out an operation of it."""
    for region in op.region.around():
        if region is loop:
            break
        if region.kind in _CONDITIONAL:
            return True
    return is_chosen(op) or any(
        each.code == "leave" and each.name == "continue" and loop_of(each) is loop
        for each in op.function.ops[loop.start : op.place]
    )


def is_certain(op: Op) -> bool:
    """Whether an operation runs whenever its function does, failures and early returns aside."""
    around = next(each for each in op.region.around() if each.kind != "finally")
    return around.kind == "function" and not is_chosen(op)


def is_chosen(op: Op) -> bool:
    """Whether a value is only computed for one side of ``a if b else c``, or of ``a and b``."""
    for use in op.uses:
        if use.region is not op.region or not _holds(use.node, op.node):
            continue
        if use.code in ("choice", "boolean") and op is not use.args[0]:
            return True
        if use.code != "phi" and is_chosen(use):
            return True
    return False


def contexts(op: Op) -> Iterator[Op]:
    """What the ``with`` statements around an operation enter."""
    place = op.row, getattr(op.node, "col_offset", 0)
    for each in op.function.coded("enter"):
        first = each.name.body[0]
        if (first.lineno, first.col_offset) <= place < _end(each.name):
            yield each


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    if not isinstance(outer, ast.expr) or not isinstance(inner, ast.expr) or outer is inner:
        return False
    start = (outer.lineno, outer.col_offset) <= (inner.lineno, inner.col_offset)
    return start and _end(inner) <= _end(outer)


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _falls_through(earlier: Op, later: Op) -> bool:
    """Whether control gets from an operation to one further down without another round."""
    around = set(later.region.around())
    inner = []
    for region in earlier.region.around():
        if region in around:
            break
        inner.append(region)
    return not (inner and is_beside(inner[-1], later)) and not _leaves(earlier, inner)


def conditions(op: Op) -> Iterator[Op]:
    """What is tested by the branches that an operation lies in, inner ones first."""
    for region in op.region.around():
        if region.kind in ("if", "else") and region.head is not None:
            yield region.head.args[0]


def exclude(one: Op, other: Op) -> bool:
    """Whether only one of two operations of a function runs: in two branches of a statement, or
    one where the other has been left by an early ``return``."""
    first, second = sorted((one, other), key=lambda each: each.place)
    return not _falls_through(first, second)


def are_sides(one: Op, other: Op) -> bool:
    """Whether only one of two operations runs, as they lie in two branches of a statement."""
    return any(is_beside(region, other) for region in one.region.around())


def is_beside(region: Region, later: Op) -> bool:
    """Whether an operation lies in another branch of the same statement."""
    return region.kind in _SIDES and any(
        each is not region and each.kind in _SIDES and _is_same_choice(each, region)
        for each in later.region.around()
    )


def _is_same_choice(one: Region, other: Region) -> bool:
    """Branches of one statement, or of one ``a if b else c``."""
    return one.node is other.node or (one.head is not None and one.head is other.head)


def _leaves(op: Op, regions: list[Region]) -> bool:
    """Whether what comes after an operation in some regions always leaves them all."""
    handled = any(each.kind == "try" for each in op.region.around())
    left: Region | None = None
    for region in regions:
        if left is not None:
            left = None if region is left else left
            continue
        for each in op.function.ops[op.place : region.end]:
            if each.region is not region:
                continue
            if each.code == "leave" and each.name != "return":
                left = loop_of(each)
                if left not in regions:
                    return True
                left = None if left is region else left
                break
            stops = each.code in ("return", "leave") or (each.code == "raise" and not each.name)
            if stops and not handled:
                return True
    return False


def loop_of(op: Op) -> Region | None:
    """The innermost loop that an operation lies in, which ``break`` and ``continue`` are of."""
    loops = (each for each in op.region.around() if each.kind in ("for", "while"))
    return next(loops, None)
