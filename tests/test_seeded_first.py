"""Where what other files and functions do decides what a line means: whether a seed is drawn after
one, whether a switch is ever set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import levels, places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

SEEDS = "import numpy as np\n\nnp.random.seed(0)\nrows = np.arange(9)\n"
SEEDS_ASIDE = """\
import numpy as np

rows = np.arange(9)

def prepare():
    np.random.seed(0)
"""
PLAIN = "rows = [1, 2]\n"
DRAWN = """\
import numpy as np
from base import rows

seed = np.random.randint(9)
if __name__ == "__main__":
    print(rows, np.random.default_rng({}).random())
"""
PARTS = """\
import torch

def train(net, rows):
    optimizer = torch.optim.Adam(net.parameters())
    for row in rows:
        net(row).mean().backward()
        optimizer.step()

def train_fast(net, rows):
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = False
    train(net, rows)
"""
TRAINS = """\
import torch
from parts import {0}

torch.manual_seed(0)
net = torch.nn.Conv2d(1, 1, 3).cuda()
{0}(net, [torch.ones(1, 1, 8, 8).cuda()])
torch.save(net.state_dict(), "weights.pt")
"""


@pytest.mark.parametrize(
    ("base", "read", "told"),
    [
        pytest.param(SEEDS, "seed", [], id="an imported file seeds"),
        pytest.param(PLAIN, "0", [], id="nothing reads it"),
        pytest.param(PLAIN, "seed", ["fit.py:4"], id="nothing seeds"),
        pytest.param(SEEDS_ASIDE, "seed", ["fit.py:4"], id="what seeds is not called"),
    ],
)
def test_a_seed_that_is_drawn_after_a_seed_or_for_nothing(
    base: str, read: str, told: list[str], project: Project, capsys: Capture
) -> None:
    project({"base.py": base, "fit.py": DRAWN.format(read)})
    assert places(capsys, "DET103") == told


@pytest.mark.parametrize("code", ["DET301", "DET302"])
@pytest.mark.parametrize(
    ("called", "sure"), [("train", "possible"), ("train_fast", "certain")], ids=["left", "called"]
)
def test_a_switch_that_no_program_sets_is_possible(
    code: str, called: str, sure: str, project: Project, capsys: Capture
) -> None:
    project({"parts.py": PARTS, "train.py": TRAINS.format(called)})
    assert levels(capsys, code) == [sure]
