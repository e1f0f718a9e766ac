"""The table of operators beside the torch that is installed."""

from __future__ import annotations

from typing import Any

import operation_samples
import pytest
import torch

from detlint.operations import OPERATIONS, Operation

SAMPLES = operation_samples.SAMPLES
ALTERNATIVES = [
    pytest.param(row, number, id=f"{row.name}-{number}")
    for row in OPERATIONS
    for number, each in enumerate(alternative for alternative in row.alternatives if alternative.code)
]

@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)
    before = torch.are_deterministic_algorithms_enabled()
    yield
    torch.use_deterministic_algorithms(before)

def code_of(row, number):
    return [each.code for each in row.alternatives if each.code][number]

def function_of(code):
    names: dict[str, Any] = {}
    exec(code, names)
    import ast
    last = [node for node in ast.parse(code).body if isinstance(node,(ast.FunctionDef,ast.ClassDef))]
    return names[last[0].name]

def results(call, shapes, device, det):
    torch.manual_seed(1)
    inputs = [torch.randn(shape, device=device).requires_grad_() for shape in shapes]
    torch.use_deterministic_algorithms(det)
    out = call(*inputs, device)
    out = out[0] if isinstance(out, tuple) else out
    grads=[]
    if out.requires_grad:
        torch.manual_seed(2)
        out.backward(torch.randn(out.shape).to(device))
        grads=[torch.zeros_like(x) if x.grad is None else x.grad for x in inputs]
    return out.detach(), grads

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("row","number"), ALTERNATIVES)
def test_alt(row, number):
    f = function_of(code_of(row, number))
    for i,c in enumerate(SAMPLES[row.name].comparisons[number]):
        a,ga = results(c.native, c.inputs, "cpu", False)
        b,gb = results(lambda *x: c.instead(f,*x), c.inputs, "cpu", True)
        torch.testing.assert_close(b,a,equal_nan=True,msg=lambda m: f"case {i}: {m}")
        if ga:
            assert gb, i
            for p,q in zip(gb,ga): torch.testing.assert_close(p,q,equal_nan=True,msg=lambda m: f"case {i} grad: {m}", rtol=1e-4,atol=1e-5)
