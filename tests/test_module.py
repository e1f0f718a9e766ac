"""Edits that rules propose: arguments, laid out as the others are."""

from __future__ import annotations

import libcst as cst
import pytest

from detlint.finding import Edit, Finding
from detlint.fixes import apply_edits
from detlint.module import Module
from detlint.narrowing import whole
from detlint.source import Source


def module(text: str) -> Module:
    return Module(Source("example.py", text), whole(text))


def applied(text: str, edits: tuple[Edit, ...]) -> str:
    finding = Finding("example.py", 1, 1, 1, 1, "DET000", "x", "x", edits=edits)
    return apply_edits(text, [finding], unsafe=True)[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f()", "f(a=1)", id="no argument"),
        pytest.param("f(x)", "f(x, a=1)", id="one line"),
        pytest.param("f(x,)", "f(x, a=1,)", id="trailing comma"),
        pytest.param("f(\n    x,\n    y,\n)", "f(\n    x,\n    y,\n    a=1,\n)", id="a line each"),
        pytest.param("f(\n    x, y\n)", "f(\n    x, y, a=1\n)", id="all on one line of their own"),
    ],
)
def test_an_argument_is_laid_out_as_the_others_are(before: str, after: str) -> None:
    parsed = module(before)
    call = next(node for node in parsed.tree.nodes if isinstance(node, cst.Call))
    assert applied(before, (parsed.add_argument(call, "a=1"),)) == after


def test_what_lies_around_a_place_is_parsed_once() -> None:
    text = "def f():\n    pass\n\ndef g():\n    f()\n"
    whole_file = module(text)
    around = whole_file.around([text.index("f()")])
    assert around is not None
    assert around is whole_file.around([text.index("pass")])
    assert around is around.around([text.index("f()")])
    assert around is not whole_file.around([text.rindex("f()")])
