"""Operators and layers behind a switch count where the program turns it on: DET501 and DET502 are
possible where none does, and DET304 names what runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

_COACH = """
import torch
from torch import nn

class Coach:
    def __init__(self, pooled=True):
        self.pooled = pooled
        self.net = nn.Linear(8, 5).cuda()
        self.table = nn.Parameter(torch.zeros(5, device="cuda"))

    def fit(self, batches):
        optimizer = torch.optim.Adam([*self.net.parameters(), self.table])
        for rows, marks in batches:
            scores = self.net(rows.cuda())
            if self.pooled:
                loss = scores.sum() - self.table.index_select(0, marks.cuda()).sum()
            else:
                image = scores[None, None]
                loss = nn.functional.interpolate(image, scale_factor=2, mode="bicubic").sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.save(self.net.state_dict(), "net.pt")
"""
_RUN = """
import sys
import torch
from coach import Coach

torch.manual_seed(1)
Coach({given}).fit([(torch.ones(4, 8), torch.ones(4, dtype=torch.long))])
"""


def told(capsys: Capture) -> dict[str, tuple[str, str]]:
    """The confidence of the first finding of each rule, and what its message says."""
    asked = ["--output-format=json", "--min-confidence=possible", "--select=DET304,DET501,DET502"]
    main(["--no-cache", *asked, "."])
    found: dict[str, tuple[str, str]] = {}
    for each in json.loads(capsys.readouterr().out):
        found.setdefault(each["code"], (each["confidence"], each["message"]))
    return found


@pytest.mark.parametrize(
    ("given", "levels", "named"),
    [
        ("", ("likely", "possible"), "index_select"),
        ("pooled=True", ("likely", "possible"), "index_select"),
        ("False", ("possible", "likely"), "interpolate"),
        ("len(sys.argv) > 1", ("likely", "likely"), "interpolate"),
    ],
)
def test_an_operator_counts_where_the_program_turns_its_switch_on(
    project: Project, capsys: Capture, given: str, levels: tuple[str, str], named: str
) -> None:
    project({"coach.py": _COACH, "run.py": _RUN.format(given=given)})
    found = told(capsys)
    assert (found["DET502"][0], found["DET501"][0]) == levels
    assert found["DET304"][0] == "likely"
    assert named in found["DET304"][1]


_NET = """
import torch
from torch import nn
from torch.nn import Conv1d

class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Conv1d(8, 8, 3)

    def forward(self, x):
        return self.layer(x)

class Net(nn.Module):
    def __init__(self, kind="plain", cross=False):
        super().__init__()
        self.first = nn.Linear(8, 8)
        if cross:
            self.second = nn.Conv2d(8, 8, 3)
        elif kind == "wide":
            self.second = Wide()
        else:
            self.second = nn.ReLU()

    def forward(self, x):
        return self.second(self.first(x))

def main():
    torch.manual_seed(1)
    net = Net({given}).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.ones(2, 8, 8).cuda()).sum().backward()
        optimizer.step()

main()
"""


@pytest.mark.parametrize(
    ("given", "level", "named"),
    [
        ("cross=True", "likely", "nn.Conv2d"),
        ('"wide"', "likely", "Conv1d"),
        ("", "possible", ""),
    ],
)
def test_a_layer_counts_where_the_program_has_it_made(
    project: Project, capsys: Capture, given: str, level: str, named: str
) -> None:
    project({"train.py": _NET.format(given=given)})
    confidence, message = told(capsys)["DET304"]
    assert confidence == level
    assert ("Conv" in message) == bool(named)
    assert named in message
