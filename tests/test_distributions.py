"""Samples of torch's distributions, which are drawn from its global generator."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
from linted_places import places

from detlint.models import libraries, randomness

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

_TEXT = """
import torch
import pyro
import pyro.distributions as laws
import torch.distributions as dist
from torch.distributions import Normal

class Policy:
    def __init__(self, net):
        self.net = net
        self.prior = dist.Independent(Normal(torch.zeros(3), 1.0), 1)

    def act(self, x):
        return Normal(self.net(x), 1.0)

class Buffer:
    def sample(self, count):
        return [0] * count

policy, x = Policy(torch.load("net.pt")), torch.ones(3)
torch.save({drawn}, "out.pt")
"""


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("Normal(0, 1).sample()", True),
        ("dist.Categorical(logits=x).sample((4,))", True),
        ("policy.act(x).rsample()", True),
        ("policy.prior.expand((2,)).sample()", True),
        ("(lambda law: law)(Normal(0, 1)).log_prob(x)", False),
        ("policy.act(x).log_prob(x)", False),
        ("policy.prior.mean", False),
        ("laws.Normal(0, 1).sample()", True),
        ("laws.Delta(x).sample()", False),
        ("pyro.sample('x', laws.Normal(0, 1))", True),
        ("pyro.sample('x', laws.Normal(0, 1), obs=x)", False),
        ("Buffer().sample(4)", False),
        ("x.sample(4)", False),
    ],
)
def test_a_sample_of_a_distribution_is_drawn_from_torch(
    project: Project, capsys: Capture, drawn: str, *, found: bool
) -> None:
    text = _TEXT.format(drawn=drawn)
    project({"draw.py": text})
    assert places(capsys, "DET102") == ["draw.py:21"] * found
    project({"draw.py": text.replace("policy, x", "torch.manual_seed(0)\npolicy, x")})
    assert places(capsys, "DET102") == []


def test_samples_take_no_generator_and_differ_without_a_seed() -> None:
    torch = pytest.importorskip("torch")
    words = [word for word, row in randomness.DRAWING_METHODS.items() if row.library == "torch"]
    for row in libraries.FUNCTIONS:
        if row.name.startswith("torch.distributions."):
            made = getattr(torch.distributions, row.name.rpartition(".")[2])
            methods = [getattr(made, word) for word in words]
            assert not any("generator" in inspect.signature(each).parameters for each in methods)
    normal, drawn = torch.distributions.Normal(0.0, 1.0), []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        drawn.append(normal.sample((4,)))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
