"""Layers and models that a condition, a table or a name picks, and what only seems to seed them."""

from __future__ import annotations

import json
from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import sys
import sentencepiece as spm
import torch
import torchvision.models as models
import torchvision
from torch import nn
from torch_geometric.nn import GATConv, GCNConv
{}
def train(net, rows):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        net(x).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    train({}, [torch.zeros(3)])
"""
NET = """\
class Net(nn.Module):
    def __init__(self, kind="lstm", layer=nn.{}):
        super().__init__()
{}
"""


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Where weights are told of, each as its line is written."""
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert all(place_of(each).startswith("go.py") for each in found)
    return [each["message"].partition("`")[2].partition("`")[0] for each in found]


@pytest.mark.parametrize(
    ("before", "lines", "found"),
    [
        ("", "self.fc = layer(3, 4)", ["layer(3, 4)"]),
        ("", "made = nn.LSTM if kind else nn.GRU\nself.fc = made(3, 4)", ["made(3, 4)"]),
        ("", "made = nn.ReLU if kind else nn.GELU\nself.fc = made(3, 4)", []),
        ("", "self.fc = {'lstm': nn.LSTM, 'gru': nn.GRU}[kind](3, 4)", [...]),
        (
            "ALL = {'a': nn.Linear, 'b': nn.Bilinear}",
            "self.fc = ALL[kind](3, 4)",
            ["ALL[kind](3, 4)"],
        ),
        ("ALL = {'a': nn.Softplus, 'b': nn.Hardtanh}", "self.fc = ALL[kind](1, 4)", []),
        ("", "self.fc = getattr(nn, kind)(3, 4)", ["getattr(nn, kind)(3, 4)"]),
        ("", "self.act = getattr(nn, kind)()", []),
        ("", "self.act = getattr(nn.functional, kind)(3, 4)", []),
        (
            "if sys.argv[1:]:\n    Conv = GCNConv\nelse:\n    Conv = GATConv",
            "self.conv = Conv(3, 4)",
            ["Conv(3, 4)"],
        ),
    ],
)
def test_a_layer_that_is_picked_draws_weights(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    before: str,
    lines: str,
    found: list[object],
) -> None:
    layer = "Linear" if "layer(" in lines else "ReLU"
    net = NET.format(layer, indent(lines, " " * 8))
    project({"go.py": TRAIN.format(f"{before}\n{net}", "Net()")})
    shown = told(capsys)
    assert len(shown) == len(found)
    assert all(each in (..., one) for each, one in zip(found, shown, strict=True))


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("models.__dict__[sys.argv[1]]()", 1),
        ("models.__dict__[sys.argv[1]](pretrained=True)", 0),
        ("getattr(models, sys.argv[1])(num_classes=3)", 1),
        ("getattr(models, sys.argv[1])(weights='DEFAULT')", 0),
        ("getattr(torchvision.ops, sys.argv[1])(num_classes=3)", 0),
        ("torchvision.models.get_model(sys.argv[1], weights=None)", 1),
        ("torchvision.models.get_model(sys.argv[1], weights='DEFAULT')", 0),
    ],
)
def test_a_model_of_torchvision_that_a_name_picks(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, found: int
) -> None:
    project({"go.py": TRAIN.format("", made)})
    assert len(told(capsys)) == found


@pytest.mark.parametrize(
    ("seed", "found"),
    [
        ("spm.set_random_generator_seed(3)", 1),  # of its own generator alone
        ("sys.set_random_generator_seed(3)", 1),
        ("torch.testing.set_rng_seed(3)", 0),
        ("torch.manual_seed(3)", 0),
    ],
)
def test_a_library_that_seeds_itself_seeds_no_weights(
    project: Project, capsys: pytest.CaptureFixture[str], seed: str, found: int
) -> None:
    project({"go.py": TRAIN.format(dedent(seed), "nn.Linear(3, 4)")})
    assert len(told(capsys)) == found


def test_torchvision_draws_weights_of_a_model_that_a_name_picks() -> None:
    torch = pytest.importorskip("torch")
    models = pytest.importorskip("torchvision").models
    with torch.random.fork_rng():
        state = torch.get_rng_state()
        models.__dict__["squeezenet1_1"]()
        assert not torch.equal(state, torch.get_rng_state())


def test_sentencepiece_seeds_no_generator_of_torch() -> None:
    torch = pytest.importorskip("torch")
    pieces, state = pytest.importorskip("sentencepiece"), torch.get_rng_state()
    pieces.set_random_generator_seed(3)
    assert torch.equal(state, torch.get_rng_state())
