"""libcst's nodes made faster while a text is parsed: the same nodes."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from detlint.quick_nodes import quick_nodes

# Of each kind of node one, with blanks, comments and brackets.
EVERY = r"""# a
from . import (a as b, c,)

class A(b, k=1):
    '''d'''

    x: int = 0x1
    @c
    async def f(self, /, a, *b, d=(1), **e) -> x: return a.b [1:2, ...] ; pass
try:
  x = y = {**a, 'b': [*c]} if not d else lambda: (yield)
except* E as e: \
 raise
match a:
    case {'b': [1, *_]} if c: del d
print(f'{a!r:>{b}}', *c, **d)  # e
"""
PACKAGE = Path(__file__).parents[1] / "detlint"


OWN = [(PACKAGE / name).read_text(encoding="utf-8") for name in ("tree.py", "cli.py")]


@pytest.mark.parametrize("text", [EVERY, *OWN], ids=["every kind", "tree.py", "cli.py"])
def test_trees_are_the_same(text: str) -> None:
    with quick_nodes():
        quick = cst.parse_module(text)
    assert quick.code == text
    assert quick.deep_equals(cst.parse_module(text))


def test_libcst_is_as_it_was_afterwards() -> None:
    names = ("Name", "SimpleWhitespace", "Comma")
    usual = [getattr(cst, each) for each in names]
    with pytest.raises(cst.ParserSyntaxError), quick_nodes():
        cst.parse_module("a b")
    assert [getattr(cst, each) for each in names] == usual
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")
