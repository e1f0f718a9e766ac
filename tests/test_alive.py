"""Which trigger tokens are code, and where code uses what they stand for by another name."""

from __future__ import annotations

import pytest

from detlint.syntax.alive import alive


def rows(text: str) -> list[int]:
    """The rows in which TOKEN, or another name for it, is code."""
    found = alive(text, [place for place in range(len(text)) if text.startswith("TOKEN", place)])
    return [text.count("\n", 0, place) + 1 for place in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("x = 1  # TOKEN\n", [], id="comment"),
        pytest.param('def f():\n    """TOKEN"""\n', [], id="docstring"),
        pytest.param("x = TOKEN()\n", [1], id="call"),
        pytest.param("import a.TOKEN as b\nb.c()\nbc()\n", [1, 1, 2], id="import"),
        pytest.param("from a import TOKEN as b\nb()\n", [1, 1, 2], id="from"),
        pytest.param("b = a.TOKEN\n\ndef f():\n    b()\n", [1, 1, 4], id="alias"),
        pytest.param("class A(TOKEN):\n    x = 1\n\nA()\n", [1, 1, 4], id="derived class"),
        pytest.param("b = TOKEN()\nb.c()\n", [1], id="what a call gives"),
    ],
)
def test_tokens_in_code_and_the_names_for_them(text: str, found: list[int]) -> None:
    assert rows(text) == found
