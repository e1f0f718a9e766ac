"""How an argument is added to a call: laid out as the others are, and no comment moves."""

from __future__ import annotations

import ast

import pytest

from detlint.dataflow.unit import Unit
from detlint.sources.source import Source

CALLS = {
    "none": ("f()", "f(seed=0)"),
    "one line": ("f(a, b=1)", "f(a, b=1, seed=0)"),
    "a trailing comma": ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    seed=0,\n)"),
    "a comment behind the last one": (
        "f(\n    a,\n    b=1,  # why\n)",
        "f(\n    a,\n    b=1,  # why\n    seed=0,\n)",
    ),
    "a comment and no comma": (
        "f(\n    a,\n    b=1  # why\n)",
        "f(\n    a,\n    b=1,  # why\n    seed=0\n)",
    ),
    "comments of other arguments": ("f(\n  a,  # 1\n  b,\n)", "f(\n  a,  # 1\n  b,\n  seed=0,\n)"),
    "a comment below": (
        "f(\n    a,\n    b,  # 1\n    # 2\n)",
        "f(\n    a,\n    b,  # 1\n    seed=0,\n    # 2\n)",
    ),
    "one argument": ("f(  # 0\n    a,  # 1\n)", "f(  # 0\n    a,  # 1\n    seed=0,\n)"),
    "a comma of its own": ("f(\n    a  # 1\n    ,\n)", "f(\n    a  # 1\n    ,\n    seed=0,\n)"),
}


@pytest.mark.parametrize(("before", "after"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_an_argument_is_added(before: str, after: str, newline: str) -> None:
    text = f"x = {before}\n".replace("\n", newline)
    unit = Unit(Source("a.py", text))
    (call,) = (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call))
    edit = unit.add_argument(call, "seed=0")
    made = text[: edit.start] + edit.replacement + text[edit.end :]
    assert made == f"x = {after}\n".replace("\n", newline)
    assert not unit.drops_comment(edit)
