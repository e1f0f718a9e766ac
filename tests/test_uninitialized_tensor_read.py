"""What DET401 says, and what its fix writes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint.finding import Confidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding


def test_the_message_names_the_variable_and_the_line_of_the_read(
    findings: Callable[..., list[Finding]],
) -> None:
    text = "import torch\n\ndef f(x):\n    out = torch.empty(3)\n    y = 1\n    return out + x\n"
    (found,) = findings(text, "DET401")
    assert (found.row, found.column) == (4, 11)
    assert found.message == (
        "torch.empty() is read as out on line 6, before anything is written to it"
    )
    assert found.advice == "write every element first, or use zeros()"


def test_a_read_on_the_spot_needs_no_line(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings("import torch\nprint(torch.Tensor(2, 3))\n", "DET401")
    assert found.message == "torch.Tensor() is read before anything is written to it"
    assert found.advice == "write every element first"
    assert not found.fixable


@pytest.mark.parametrize(
    ("read", "confidence"),
    [
        ("F.relu(x)", Confidence.CERTAIN),
        ("model(x)", Confidence.LIKELY),
        ("x + 1", Confidence.CERTAIN),
    ],
)
def test_what_only_seems_to_read_lowers_the_confidence(
    read: str, confidence: Confidence, findings: Callable[..., list[Finding]]
) -> None:
    head = "import torch\nimport torch.nn.functional as F\n\n"
    text = f"{head}def f(model, n):\n    x = torch.empty(n)\n    return {read}\n"
    (found,) = findings(text, "DET401")
    assert found.confidence == confidence


FIXES = {
    "torch.empty(2, 3, device=d)": "zeros",
    "torch.empty_like(x, memory_format=torch.contiguous_format)": "zeros_like",
    "x.new_empty(2, 3)": "new_zeros",
    "torch.empty(2, 3, memory_format=torch.channels_last)": None,  # zeros() takes none
    "torch.empty_strided((2, 3), (3, 1))": None,
    "torch.FloatTensor(2, 3)": None,
    "torch.empty(0).resize_(2, 3)": None,
    "empty(2, 3)": None,  # zeros may not be imported
}


@pytest.mark.parametrize(("call", "name"), FIXES.items(), ids=FIXES)
def test_the_fix_takes_the_zeroed_counterpart(
    call: str, name: str | None, findings: Callable[..., list[Finding]]
) -> None:
    text = f"import torch\nfrom torch import empty\n\ndef f(x, d):\n    return {call} + x\n"
    (found,) = findings(text, "DET401")
    assert [edit.replacement for edit in found.edits] == ([name] if name else [])
    assert not found.edits or not found.safe


LEFT_OUT = {
    "a parameter": "self.w = nn.Parameter(torch.empty(3, 4))",
    "a parameter over two lines": "self.w = nn.Parameter(\n    torch.empty(3, 4),\n)",
    "a buffer": 'self.register_buffer("b", torch.empty(3))',
    "data": "x = torch.Tensor([1, 2]) + 1",
    "nothing": "x = torch.cat((torch.empty(0, 4), y))",
    "what is filled at once": "x = torch.empty(len(y), y.size(1)).uniform_(0, 1)",
    "one element": "x = y + torch.empty(1)",
    "a question to a queue": "while not queue.empty(): x += y",
    "an argument for results": "torch.add(x, y, out=torch.empty(3))",
    "data that is an attribute": "x = torch.Tensor(self.mean).view(3)",
    "data from a function": "x = torch.FloatTensor(load(path)) + 1",
}


@pytest.mark.parametrize("line", LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_filled_or_holds_nothing(findings: Callable[..., list[Finding]], line: str) -> None:
    body = textwrap.indent(line, "    ")
    head = "import torch\nfrom torch import nn\n\ndef f(self, x, y, queue, path):\n"
    assert not findings(f"{head}{body}\n", "DET401")
