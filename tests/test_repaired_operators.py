"""DET501 and DET601 are silent where a program has guard replace the operator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.operations import OPERATIONS
from guard.repairs.table import LEFT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

MODEL = """
import torch.nn.functional as F
from torch import nn
import torch_scatter
import torchvision

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, x, grid, index):
        x = F.grid_sample(self.layer(x), grid)
        x = F.adaptive_avg_pool2d(x, 3)
        x = torchvision.ops.roi_pool(x, index, 7)
        return torch_scatter.segment_coo(x, index)
"""
PROGRAM = """
import guard
from model import Net

{0}
loss = Net()(x, grid, index).sum()
loss.backward()
"""
ALL = {"grid_sample", "adaptive_avg_pool2d", "roi_pool", "segment_coo"}


@pytest.mark.parametrize(
    ("call", "left"),
    [
        ("guard.enable(seed=0)", ALL),
        ("guard.enable(seed=0, repair=False)", ALL),
        ("guard.enable(seed=0, repair=True)", set()),
        ("guard.enable(repair=['segment_coo'])", ALL - {"segment_coo"}),
        (
            "guard.enable(repair=['grid_sample', 'roi_pool'])",
            {"adaptive_avg_pool2d", "segment_coo"},
        ),
        ("guard.enable(repair='AdaptiveAvgPool2d')", {"grid_sample", "roi_pool", "segment_coo"}),
    ],
)
def test_what_guard_replaces_is_not_told(
    call: str, left: set[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project({"model.py": MODEL, "train.py": PROGRAM.format(call)})
    options = ["--no-cache", "--output-format", "json", "--min-confidence", "possible"]
    main([*options, "--select", "DET501", str(folder)])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert {name for name in ALL for each in told if name in each} == left
    assert len(told) == len(left)


def test_every_operator_that_a_call_is_found_by_has_a_replacement() -> None:
    assert not [row.name for row in OPERATIONS if row.usages and row.name in LEFT]


ATTENTION = """
from torch import nn
import flash_attn
from flash_attn import flash_attn_func
from flash_attn.flash_attn_interface import _flash_attn_backward

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.layer(x).chunk(3, -1)
        return flash_attn_func(q, k, v, causal=True)
"""


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("guard.enable(seed=0)", 1),
        ("guard.enable(seed=0, repair=True)", 0),
        ("guard.enable(repair=['flash_attn_func'])", 0),
        ("guard.enable(repair=['grid_sample'])", 1),
    ],
)
def test_calls_of_flash_attn_that_take_its_other_backward_are_not_told(
    call: str, count: int, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project({"model.py": ATTENTION, "train.py": PROGRAM.format(call)})
    options = ["--no-cache", "--output-format", "json", "--min-confidence", "possible"]
    main([*options, "--select", "DET601", str(folder)])
    assert len(json.loads(capsys.readouterr().out)) == count
