"""libcst's nodes made faster while a text is parsed: the same nodes."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from detlint.quick_nodes import quick_nodes

PACKAGE = Path(__file__).parents[1] / "detlint"


@pytest.mark.parametrize("name", ["tree.py", "cli.py", "rules/cudnn_benchmark.py"])
def test_trees_are_the_same(name: str) -> None:
    text = (PACKAGE / name).read_text(encoding="utf-8")
    with quick_nodes():
        quick = cst.parse_module(text)
    assert quick.code == text
    assert quick.deep_equals(cst.parse_module(text))


def test_every_kind_of_node_is_the_same() -> None:
    text = "".join(
        [
            "# a\nfrom . import (a as b, c,)\n\nclass A(b, k=1):\n    '''d'''\n\t\n    x: int = 0x1\n",
            "    @c\n    async def f(self, /, a, *b, d=(1), **e) -> x: return a.b [1:2, ...] ; pass\n",
            "try:\n  x = y = {**a, 'b': [*c]} if not d else lambda: (yield)\nexcept* E as e: \\\n raise\n",
            "match a:\n    case {'b': [1, *_]} if c: del d\nprint(f'{a!r:>{b}}', *c, **d)  # e\n",
        ]
    )
    with quick_nodes():
        quick = cst.parse_module(text)
    assert quick.deep_equals(cst.parse_module(text))
    assert quick.code == text


def test_libcst_is_as_it_was_afterwards() -> None:
    names = ("Name", "SimpleWhitespace", "Comma")
    usual = [getattr(cst, each) for each in names]
    with pytest.raises(cst.ParserSyntaxError), quick_nodes():
        cst.parse_module("a b")
    assert [getattr(cst, each) for each in names] == usual
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")
