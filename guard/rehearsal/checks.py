"""What a check finds in values that nobody knows: that all is well.

A program that refuses its own values ends with an error, and nothing more of it is seen.
"""

from __future__ import annotations

import ast
import linecache
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType


class _Check(NamedTuple):
    """A test that refuses values, from its first line to its last, and by which answer not."""

    first: int
    last: int
    passes: bool


def passing(frame: FrameType) -> bool | None:
    """The truth value by which the test that a frame is at comes to no ``raise``.

    None where it does not refuse anything, and where its parts ask for different ones.
    """
    line = frame.f_lineno
    found = [each for each in _checks(frame.f_code.co_filename) if each.first <= line <= each.last]
    return max(found).passes if found else None


@cache
def _checks(filename: str) -> tuple[_Check, ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):  # a notebook's cell may hold commands of its own
        return ()
    return tuple(_found(tree))


def _found(tree: ast.AST) -> Iterator[_Check]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            wanted = True
        elif isinstance(node, ast.If) and _raises(node.body) != _raises(node.orelse):
            wanted = not _raises(node.body)
        else:
            continue
        answers = set(_answers(node.test, wanted=wanted))
        if len(answers) == 1:
            yield _Check(node.test.lineno, node.test.end_lineno or node.test.lineno, *answers)


def _raises(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _answers(test: ast.expr, *, wanted: bool) -> Iterator[bool]:
    """Of each part of a test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _answers(test.operand, wanted=not wanted)
    elif isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _answers(each, wanted=wanted)
    elif isinstance(test, ast.Compare) and any(map(_is_truth, test.comparators)):
        yield from (True, False)  # what is compared with may be what is asked for
    else:
        yield wanted


def _is_truth(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)
