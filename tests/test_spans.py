"""Where nodes stand, by Python's own tree or by libcst."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import libcst as cst
import pytest

from detlint.module import read
from detlint.narrowing import narrow, whole
from detlint.source import Source
from detlint.spans import Spans
from detlint.tree import walk

if TYPE_CHECKING:
    from detlint.tree import Tree


def tree(text: str) -> Tree:
    return read(Source("a.py", text), whole(text)).tree


EVERYTHING = """
    @a.b(c=a)
    async def a(a, /, b: a = b, *c, d=a, **e) -> a:
        a = [a for a in b if a for c in a]
        b = {a: b for a, b in c} | {a, b}
        c = a if c else a
        d = lambda a, *, b=a: a[a:b, c] or not b
        with a as b, c(a) as d:
            await a
        try:
            a.b
        except a as b:
            raise b from a
        else:
            del a
        print(f"{a:{b}} {a.b!r}", a, "a")  # a
        return (a
                # a
                .b(a,
                   b))
"""


CASE = """
        match a:
            case [a, b] if a: pass
            case {"a": a, **b}: pass
            case a.b(c, d=a) as b: pass
"""
TEXTS = [textwrap.dedent(each) for each in (EVERYTHING, EVERYTHING + CASE)]


@pytest.mark.parametrize("text", TEXTS, ids=["made of Python's tree", "parsed by libcst"])
def test_nodes_come_in_the_order_of_the_source(text: str) -> None:
    found = tree(text)
    starts = [found.span(each)[0] for each in found.nodes if isinstance(each, cst.Name)]
    assert starts == sorted(starts)


@pytest.mark.parametrize("text", TEXTS, ids=["made of Python's tree", "parsed by libcst"])
def test_each_node_stands_where_libcst_says(text: str) -> None:
    found, own = tree(text), cst.parse_module(text)
    spans = Spans(own)
    for node, same in zip(found.nodes, walk(own), strict=True):
        start, end = found.span(node)
        assert (start, max(start, end)) == spans.find(same), own.code_for_node(same)


def test_a_place_in_a_region_is_one_in_the_source() -> None:
    text = "def a():\n    pass\n\n\ndef b():\n    # c\n    return torch.empty(1), d(*e)  # f\n"
    region = narrow(text, [(text.index("torch"), "function")])
    assert region is not None
    found = read(Source("a.py", text), region).tree
    calls = [each for each in found.nodes if isinstance(each, cst.Call)]
    asked = [*calls, calls[1].args[0]]  # an argument's place is asked of libcst
    assert [text[slice(*found.span(each))] for each in asked] == ["torch.empty(1)", "d(*e)", "*e"]


def test_the_text_of_a_node_has_no_comment() -> None:
    text = "def a():\n    return (b +  # c\n            d)\n"
    region = narrow(text, [(text.index("b"), "function")])
    assert region is not None
    found = read(Source("a.py", text), region).tree
    (sum_,) = (each for each in found.nodes if isinstance(each, cst.BinaryOperation))
    assert found.text(sum_).split() == ["b", "+", "d"]
