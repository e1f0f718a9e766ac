"""What DET304 names of a program that trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ENCODING = """
import torch

class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Conv2d(1, 4, 3)

    def forward(self, x):
        return self.net(x).mean((2, 3))

def load(path):
    encoder = Encoder()
    encoder.load_state_dict(torch.load(path))
    return encoder
"""
_ON_FEATURES = """
import torch
from encoding import load

def features(images):
    encoder = load("encoder.pt").cuda()
    encoder.eval()
    with {within}:
        return {given}

def main():
    images = torch.load("images.pt").cuda()
    x = features(images)
    head = make(torch.nn.{head}).cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(3):
        loss = head(x).sum(){beside}
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({}, "`torch.nn.Embedding` at train.py:"),
        ({"head": "Linear"}, ""),
        ({"given": "encoder.encode(images)"}, "`torch.nn.Embedding` at train.py:"),
        ({"within": "torch.autocast('cuda')"}, "`torch.nn.Conv2d` at encoding.py:"),
        ({"given": "encoder.net(images)"}, "`torch.nn.Conv2d` at encoding.py:"),
        ({"given": "features_of(encoder, images)"}, "`torch.nn.Conv2d` at encoding.py:"),
        ({"beside": " + load('other.pt')(images).sum()"}, "`torch.nn.Conv2d` at encoding.py:"),
    ],
)
def test_what_only_runs_where_no_gradient_is_recorded_is_not_named(
    changed: dict[str, str],
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = {"within": "torch.no_grad()", "given": "encoder(images)", "head": "Embedding"}
    text = _ON_FEATURES.format(**{**plain, "beside": "", **changed})
    project({"train.py": text, "encoding.py": _ENCODING})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert "DET304" in told
    assert named in told
    assert ("may differ" in told) is bool(named)
