"""First weights that a checkpoint always replaces whole: they are no draw that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import places

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

NET = """\
import torch
from torch import nn

def conv(width):
    return nn.Conv1d(width, width, 3)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = conv(3)
        self.grow()

    def grow(self):
        self.block = Block()

class Loaded(nn.Module):
    def __init__(self, path, resume=False):
        super().__init__()
        self.encoder = Encoder()
        self.encoder.load_state_dict(torch.load(path))

class Resumed(nn.Module):
    def __init__(self, path, resume=False):
        super().__init__()
        self.encoder = Encoder()
        if resume:
            self.encoder.load_state_dict(torch.load(path))

def build():
    return Encoder()

def look(model):
    return model(torch.ones(3))

def fit(model, rounds=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(rounds):
        look(model).sum().backward()
        optimizer.step()

class Coach:
    def __init__(self, model):
        self.model = model

    def improve(self):
        fit(self.model)

class Fitted(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.encoder = Encoder()
        self.warm_up()
        self.encoder.load_state_dict(torch.load(path))

    def warm_up(self):
        self.improve()

    def improve(self):
        fit(self.encoder)
"""
TRAIN = """\
import sys
import torch
from torch import nn
import net

def prepare(path):
    {}
    return model

def main():
    model = prepare(sys.argv[1])
    torch.manual_seed(0)
    head = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    head(model(torch.ones(3))).sum().backward()
    optimizer.step()

main()
"""
LOADED = "model.load_state_dict(torch.load(path))"
WHOLE = [
    f"model = net.Encoder(); {LOADED}",
    f"model = net.Encoder().cuda(); model.eval(); {LOADED}",
    f"model = net.build(); {LOADED}",
    f"encoder = net.Encoder(); model = nn.ModuleDict({{'encoder': encoder}}); {LOADED}",
    f"model = nn.Sequential(nn.Linear(3, 3), net.Block()); {LOADED}",
    f"model = nn.DataParallel(net.Encoder()); {LOADED}",
    "model = net.Encoder(); model.load_state_dict(torch.load(path), strict=True)",
    "model = net.Encoder.load_from_checkpoint(path)",
    f"model = net.Encoder().block; {LOADED}",
    "model = net.Loaded(path)",
    f"model = net.Encoder(); net.look(model); {LOADED}",
    f"model = net.Encoder(); {LOADED}; net.fit(model); {LOADED}",
    f"model = net.build(); {LOADED}; coach = net.Coach(model); coach.improve()",
]
IN_PARTS = [
    "model = net.Encoder(); model.load_state_dict(torch.load(path), strict=False)",
    f"model = net.Encoder()\n    if path: {LOADED}",
    f"model = net.Encoder()\n    if not path: return model\n    {LOADED}",
    f"model = nn.Sequential(net.Encoder(), net.Block())[0]; {LOADED}",
    f"model = net.Encoder()\n    other = net.Block(); {LOADED}",
    "model = net.Encoder()\n    other = net.Encoder(); other.load_state_dict(torch.load(path))",
    "model = net.Encoder()",
    f"whole = net.Encoder(); model = whole.block; {LOADED}; model = whole",
    "model = net.Resumed(path)",
    f"model = net.Encoder(); net.fit(model); {LOADED}",
    f"model = net.build(); coach = net.Coach(model); coach.improve(); {LOADED}",
    f"model = net.Encoder(); net.look(model).sum().backward(); {LOADED}",
    "model = net.Fitted(path)",
]


@pytest.mark.parametrize(
    ("made", "is_found"), [*((each, False) for each in WHOLE), *((each, True) for each in IN_PARTS)]
)
def test_weights_that_are_always_replaced_are_no_draw(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, *, is_found: bool
) -> None:
    project({"net.py": NET, "train.py": TRAIN.format(made)})
    assert bool(places(capsys, "DET102")) == is_found


def test_other_draws_of_such_a_program_are_found(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = TRAIN.format(WHOLE[0]).replace("torch.manual_seed(0)", "rows = torch.randperm(9)")
    project({"net.py": NET, "train.py": trained.replace("head = nn.Linear(3, 1)", "")})
    main(["--select", "DET102", "--no-cache", "."])
    assert "torch.randperm(9)" in capsys.readouterr().out


UNTRAINED = """\
import numpy as np
import torch
from net import Net

net = Net()
{}
with torch.no_grad():
    np.save("features.npy", net(torch.ones(1, 4)).numpy())
"""
UNTRAINED_NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)
"""


@pytest.mark.parametrize(
    ("filled", "is_found"),
    [
        ("", True),
        ("rows = np.load('rows.npy')", True),
        ("torch.manual_seed(0); net = Net()", True),  # and it is made before that, too
        ("net.load_state_dict(torch.load('net.pt'))", False),
        ("[value.copy_(torch.ones(4)) for value in net.state_dict().values()]", False),
    ],
)
def test_first_weights_of_what_nothing_trains_are_draws_where_no_checkpoint_gives_others(
    project: Project, capsys: pytest.CaptureFixture[str], filled: str, *, is_found: bool
) -> None:
    project({"net.py": UNTRAINED_NET, "main.py": UNTRAINED.format(filled)})
    assert bool(places(capsys, "DET102")) == is_found


@pytest.mark.parametrize(
    ("made", "is_found"),
    [
        ("torch.nn.init.xavier_uniform_(torch.empty(3, 3))", True),
        ("torch.empty(3, 3).normal_()", True),
        ("torch.nn.init.zeros_(torch.empty(3, 3))", False),
    ],
)
def test_what_is_filled_by_chance_and_saved_is_a_draw(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, *, is_found: bool
) -> None:
    project({"main.py": f"import torch\n\ntorch.save({made}, 'w.pt')\n"})
    assert bool(places(capsys, "DET102")) == is_found


def test_first_weights_of_what_a_main_block_tries_are_no_result(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = "\nif __name__ == '__main__':\n    print(Net()(torch.ones(1, 4)))\n"
    saves = "\ndef keep(net):\n    torch.save(net.state_dict(), 'net.pt')\n"
    project({"net.py": f"import torch\n{UNTRAINED_NET}{saves}{tried}"})
    assert places(capsys, "DET102") == []
