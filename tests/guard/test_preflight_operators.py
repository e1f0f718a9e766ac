"""``guard.preflight`` beside the table of operators: each row is found, and named as such."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from operation_samples import BELOW, FORMS

import guard
from detlint.operations import OPERATIONS, Operation
from guard.rehearsal import gate

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.skipif(bool(gate.missing()), reason="this torch lacks what a rehearsal needs"),
    pytest.mark.filterwarnings("ignore:.*deprecated"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:Sparse"),
]

COMPILED = "torch.cumsum under torch.compile"
ROWS = [row for row in OPERATIONS if "cuda" in row.devices and not row.until]
CALLS = [
    pytest.param(row, call, id=f"{row.name}: {name}")
    for row in ROWS
    for name, call in (enumerate(BELOW[row.name]) if row.name in BELOW else FORMS[row.name].items())
]


def backward(result: Any) -> None:  # noqa: ANN401 - what an operator gives
    given = [result] if isinstance(result, torch.Tensor) else list(result)
    grown = [each.sum() for each in given if each.requires_grad]
    if grown:
        torch.stack(grown).sum().backward()


@pytest.mark.parametrize(("row", "call"), CALLS)
def test_every_form_of_every_row_is_found(row: Operation, call: Callable[[str], object]) -> None:
    def step() -> None:
        if row.name == COMPILED:
            torch.compile(call)("cuda")
        else:
            backward(call("cuda"))

    report = guard.preflight(step)
    named = [each for each in report.found if each.name == row.name]
    assert named, report
    assert {each.verdict for each in named} == {"silent" if row.silent else "raises"}
    assert all(each.where is not None for each in named)
    if row.direction == "backward":
        assert {each.direction for each in named} == {"backward"}
    assert not report.is_clean
