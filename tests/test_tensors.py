"""What the engine tells of tensors: types, places, dimensions."""

from __future__ import annotations

import textwrap

import pytest

from detlint.dataflow.numerics.dimensions import Dimensions
from detlint.dataflow.numerics.tensors import FLOATING, INTEGER, UNKNOWN, Tensors
from detlint.dataflow.unit import Unit
from detlint.sources.source import Source
from detlint.syntax.stack import in_deep_stack

HEAD = """
import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange

KIND = torch.int64

def f(x, y, n, device, whole: torch.LongTensor, real: torch.FloatTensor):
"""


def taken(body: str) -> tuple[Tensors, list[object]]:
    """The answers, and the calls of ``use`` in a function."""
    text = HEAD + textwrap.indent(textwrap.dedent(body), "    ")
    unit = Unit(Source("a.py", text))
    function = unit.defined("f")
    assert function is not None
    calls = [op for op in function.coded("call") if op.args[0].name == "use"]
    return Tensors(unit), calls


@pytest.mark.parametrize(
    ("value", "types"),
    [
        ("x", {UNKNOWN}),
        ("3", {INTEGER}),
        ("x.long()", {INTEGER}),
        ("x.to(torch.int32)", {INTEGER}),
        ("x.to(KIND)", {INTEGER}),
        ("x.long().to(device)", {INTEGER}),
        ("x.long().to(n)", {UNKNOWN}),
        ("x.to(whole.dtype)", {INTEGER}),
        ("x.to(torch.half if n else torch.float)", {FLOATING}),
        ("x.to(torch.half if n else torch.int8)", {FLOATING, INTEGER}),
        ("x.float() if n else x.int()", {FLOATING, INTEGER}),
        ("whole.view(-1)[0]", {INTEGER}),
        ("real.view(-1)[0]", {FLOATING}),
        ("whole / 2", {FLOATING}),
        ("whole * 2", {INTEGER}),
        ("whole * 2.0", {FLOATING}),
        ("x * real", {FLOATING}),
        ("x > 0", {INTEGER}),
        ("~x", {INTEGER}),
        ("x & whole", {INTEGER}),
        ("torch.argmax(x, 1)", {INTEGER}),
        ("x.topk(3)[1]", {INTEGER}),
        ("x.topk(3).indices", {INTEGER}),
        ("real.topk(3)[0]", {FLOATING}),
        ("torch.sort(real)[1]", {INTEGER}),
        ("torch.zeros(3, dtype=torch.long)", {INTEGER}),
        ("torch.zeros(3)", {UNKNOWN}),
        ("torch.rand(3).cuda()", {FLOATING}),
        ("torch.arange(3)", {INTEGER}),
        ("torch.arange(n)", {UNKNOWN}),
        ("torch.cat([whole, whole.clone()])", {INTEGER}),
        ("torch.stack([whole, real])", {FLOATING}),
        ("torch.where(x > 0, whole, 1)", {INTEGER}),
        ("torch.where(x > 0)", {INTEGER}),
        ("torch.LongTensor(3)", {INTEGER}),
        ("[each for each in whole.split(2)][0]", {INTEGER}),
        ("x.shape[0]", {INTEGER}),
        ("len(x)", {INTEGER}),
        ("torch.ones_like(whole)", {INTEGER}),
        ("torch.ones_like(whole, dtype=n)", {UNKNOWN}),
    ],
)
def test_the_type_of_a_tensor(value: str, types: set[str]) -> None:
    answers, (call,) = taken(f"use({value})")
    assert answers.types(call.args[1]) == types


def test_types_join_where_branches_and_rounds_meet() -> None:
    body = """
        values, places = x.sort()
        use(places)
        if n:
            z = x.long()
        else:
            z = x.half()
        use(z)
        total = torch.zeros(3, dtype=torch.int32)
        for each in whole:
            total = total + each
            total = total.clone()
        use(total)
    """
    answers, calls = taken(body)
    assert [set(answers.types(each.args[1])) for each in calls] == [
        {INTEGER},
        {INTEGER, FLOATING},
        {INTEGER},
    ]


@pytest.mark.parametrize(
    ("value", "there"),
    [
        ("x", False),
        ("x.cpu()", True),
        ("x.cpu().float().view(3)", True),
        ("x.cpu().to(device)", False),
        ("x.cpu().to(torch.half)", True),
        ("x.cpu().cuda()", False),
        ("x.to('cpu')", True),
        ("x.to(torch.device('cpu'))", True),
        ("torch.zeros(3, device='cpu')", True),
        ("torch.zeros(3)", False),
        ("torch.from_numpy(y)[None] / 255", True),
        ("x * y.cpu()", True),
        ("torch.stack([each.cpu() for each in x])", True),
        ("x if n else y.cpu()", False),
        ("x.cpu() if n else y.cpu()", True),
        ("torch.FloatTensor(y)", True),
        ("torch.cuda.FloatTensor(y)", False),
    ],
)
def test_where_a_tensor_lies(value: str, there: bool) -> None:
    answers, (call,) = taken(f"use({value})")
    assert answers.lies_on_cpu(call.args[1]) is there


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("x", 0),
        ("x.permute(0, 2, 1)", 3),
        ("x.permute((0, 2, 1)).float()", 3),
        ("torch.permute(x, (0, 2, 1))", 3),
        ("x.view(-1, 3)", 2),
        ("x.view(*n)", 0),
        ("x.transpose(1, 2)", 3),
        ("x.transpose(1, -1)", 2),
        ("x.unsqueeze(0)", 1),
        ("x.permute(0, 2, 1).unsqueeze(0)", 4),
        ("x[:, :, 1:]", 3),
        ("x[:, 0]", 0),
        ("F.interpolate(x, 3, mode='bilinear')", 4),
        ("rearrange(x, 'b (n c) -> b c n')", 3),
        ("rearrange(x, 'b n c -> (b n) c')", 2),
        ("torch.zeros(3, 4)", 2),
        ("x.permute(0, 2, 1) if n else x.view(3, 4)", 2),
    ],
)
def test_how_many_dimensions_a_tensor_has_at_least(value: str, count: int) -> None:
    _, (call,) = taken(f"use({value})")
    assert Dimensions(call, None).of(call.args[1]) == count


def test_what_is_asked_of_a_shape_before_tells_its_dimensions() -> None:
    body = """
        use(x)
        b, c, h, w = x.shape
        use(x)
        if n:
            height, width = y.shape[2:]
            use(y.float())
        use(y)
        y.size(-3)
        use(y)
    """
    _, calls = taken(body)
    assert [Dimensions(each, None).of(each.args[1]) for each in calls] == [0, 4, 4, 0, 3]


def test_long_chains_cost_little() -> None:
    lines = [f"x{place + 1} = x{place} * 2.5 + whole" for place in range(2000)]
    answers, (call,) = taken("\n".join(["x0 = whole", *lines, "use(x2000)"]))
    assert in_deep_stack(lambda: answers.types(call.args[1])) == {FLOATING}
