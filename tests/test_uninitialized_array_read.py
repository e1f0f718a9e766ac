"""What a finding of DET403 says, and what its fix takes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

LOOP = """
    import numpy as np

    def f(rows):
        out = np.empty(len(rows))
        for i, row in enumerate(rows):
            if row is None:
                {}
            out[i] = row
        return out
"""


@pytest.mark.parametrize(
    ("word", "left"), [("continue", "a part of it"), ("break", "the rest of it")]
)
def test_a_partial_fill_names_what_leaves_it(
    word: str, left: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(textwrap.dedent(LOOP.format(word)), "DET403")
    assert found.message == f"out is returned, but the {word} on line 7 leaves {left} unwritten"
    assert found.advice == "write every element first, or use zeros()"


def test_a_read_names_the_place(findings: Callable[..., list[Finding]]) -> None:
    text = "import numpy as np\n\ndef f(n):\n    x = np.empty(n)\n    return x + 1\n"
    (found,) = findings(text, "DET403")
    assert found.message == ("np.empty() is read as x on line 5, before anything is written to it")


FIXES = {
    "np.empty((2, 3), np.int64)": "zeros",
    "np.empty_like(x)": "zeros_like",
    "cp.empty((2, 3))": "zeros",
    "np.ndarray((2, 3))": None,  # its parameters are others
    "empty((2, 3))": None,  # zeros may not be imported
}


@pytest.mark.parametrize(("call", "name"), FIXES.items(), ids=FIXES)
def test_the_fix_takes_the_zeroed_counterpart(
    call: str, name: str | None, findings: Callable[..., list[Finding]]
) -> None:
    imports = "import cupy as cp\nimport numpy as np\nfrom numpy import empty\n"
    (found,) = findings(f"{imports}\ndef f(x):\n    return {call} + x\n", "DET403")
    assert [edit.replacement for edit in found.edits] == ([name] if name else [])
    assert not found.edits or not found.safe
