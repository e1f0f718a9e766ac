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
    ("called", "sure"), [("train", "possible"), ("train_fast", "likely")], ids=["left", "called"]
)
def test_a_switch_that_no_program_sets_is_possible(
    code: str, called: str, sure: str, project: Project, capsys: Capture
) -> None:
    project({"parts.py": PARTS, "train.py": TRAINS.format(called)})
    assert levels(capsys, code) == [sure]


LOOP = """\
import torch

def loop(rank=0, steps=9, benchmark=True):
    torch.backends.cudnn.benchmark = benchmark
    net = torch.nn.Conv2d(3, 8, 3).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        net(torch.ones(4, 3, 32, 32).cuda()).mean().backward()
        optimizer.step()
"""
ASKS = """\
import click
from loop import loop

@click.command()
@click.option("--plain", {option})
def main(**kw):
    given = {{{held}}}
    if {test}:
        given["benchmark"] = False
    loop(rank=0, **given)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("option", "held", "test", "told"),
    [
        pytest.param("default=False", "", 'kw["plain"]', ["likely"], id="off by default"),
        pytest.param("is_flag=True", "", 'kw["plain"]', ["likely"], id="a flag"),
        pytest.param("is_flag=True", '"steps": 3', 'kw["plain"]', ["likely"], id="others"),
        pytest.param("default=True", "", 'kw["plain"]', [], id="on by default"),
        pytest.param("default=3", "", "kw['plain'] == other()", ["possible"], id="not known"),
        pytest.param("is_flag=True", '"benchmark": False', "kw['plain']", [], id="turned off"),
        pytest.param("is_flag=True", "**kw", 'kw["plain"]', ["possible"], id="not seen"),
    ],
)
def test_what_a_dict_may_hold_for_a_switch(  # noqa: PLR0913, PLR0917 - a case of several parts
    option: str, held: str, test: str, told: list[str], project: Project, capsys: Capture
) -> None:
    files = {"loop.py": LOOP, "train.py": ASKS.format(option=option, held=held, test=test)}
    project(files)
    assert levels(capsys, "DET301") == told


GROUPED = """\
from sklearn.cluster import KMeans

def fit(rows):
    return KMeans(3).fit_predict(rows)
"""
SETUP = """\
import numpy as np

def setup():
    {}
"""
STARRED = """\
from groups import *
from setting import *

if __name__ == "__main__":
    {}
    print(fit([[0], [1], [2]]))
"""


@pytest.mark.parametrize(
    ("seeds", "calls", "sure"),
    [
        ("np.random.seed(0)", "setup()", "possible"),
        ("np.random.seed(0)", "pass", "likely"),
        ("np.set_printoptions(3)", "setup()", "likely"),
        ("np.random.seed(0)", "setup = print; setup()", "likely"),
    ],
)
def test_what_comes_with_all_of_a_module_may_seed(
    seeds: str, calls: str, sure: str, project: Project, capsys: Capture
) -> None:
    files = {"groups.py": GROUPED, "setting.py": SETUP.format(seeds)}
    project({**files, "main.py": STARRED.format(calls)})
    assert levels(capsys, "DET104") == [sure]
