"""Where nodes stand: found in the text, and the same as by generating the code."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING

import libcst as cst
import pytest

from detlint.module import read
from detlint.narrowing import whole
from detlint.source import Source
from detlint.spans import Spans
from detlint.stack import in_deep_stack

if TYPE_CHECKING:
    from types import ModuleType

    from detlint.tree import Tree


def tree(text: str) -> Tree:
    return read(Source("a.py", text), whole(text)).tree


def starts_of_names(found: Tree) -> list[int]:
    spans = Spans(found)
    return [spans._generated(node)[0] for node in found.nodes if isinstance(node, cst.Name)]


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
        match a:
            case [a, b] if a: pass
            case {"a": a, **b}: pass
            case a.b(c, d=a) as b: pass
        print(f"{a:{b}} {a.b!r}", a, "a")  # a
        return (a
                # a
                .b(a,
                   b))
"""


def test_nodes_come_in_the_order_of_the_source() -> None:
    found = starts_of_names(tree(textwrap.dedent(EVERYTHING)))
    assert found == sorted(found)


def test_a_name_is_found_whatever_strings_and_comments_hold() -> None:
    text = 'a = "interpolate"  # interpolate\nb = x.interpolate(1)\n'
    found = tree(text)
    (call,) = (node for node in found.nodes if isinstance(node, cst.Call))
    assert Spans(found)._found(found, call) == (text.index("x."), len(text) - 1)


def test_a_name_in_an_f_string_leaves_it_to_generated_code() -> None:
    found = tree('a = f"{a}"\nb = a.c\n')
    (place,) = (node for node in found.nodes if isinstance(node, cst.Attribute))
    assert Spans(found)._found(found, place) is None
    assert found.span(place) == (15, 18)


@pytest.mark.parametrize("module", [inspect, textwrap, cst.metadata.span_provider, pytest])
def test_both_ways_agree_on_real_code(module: ModuleType) -> None:
    text = inspect.getsource(module)

    def differ() -> tuple[int, list[str]]:
        found = tree(text)
        spans = Spans(found)
        nodes = [node for node in found.nodes if isinstance(node, cst.BaseExpression)]
        told = [(node, spans._found(found, node)) for node in nodes]
        known = [(node, place) for node, place in told if place is not None]
        wrong = [str(place) for node, place in known if place != spans._generated(node)]
        return len(known), wrong

    known, wrong = in_deep_stack(differ)
    assert wrong == []
    assert known > len(text) / 200
