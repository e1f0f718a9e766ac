"""Programs without a main block, of which a command runs the function that a decorator names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

_JOB = """
import modal
import torch

app = modal.App("fit")
{made}

@{decorator}
def fit(epochs):
    {inside}
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(epochs):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    torch.save(model, "model.pt")

@{entry}
def main(epochs: int = 3):
    {outside}
    fit.{called}(epochs)
"""
_USUAL = {
    "made": "",
    "decorator": 'app.function(gpu="T4")',
    "entry": "app.local_entrypoint()",
    "inside": "pass",
    "outside": "pass",
    "called": "local",
}
_SEED = "torch.manual_seed(3)"
_NOWHERE = "neither fit.py nor what it imports seeds it"
_IN_CONTAINER = "in processes that `fit.remote(epochs)` starts, and fit seeds it nowhere"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, [_NOWHERE]),
        ({"called": "remote"}, [_NOWHERE]),
        ({"entry": "app.registered()"}, []),  # nothing is seen to run it
        ({"inside": _SEED}, []),
        ({"outside": _SEED}, []),
        ({"outside": _SEED, "called": "remote"}, [_IN_CONTAINER]),
        ({"inside": _SEED, "outside": _SEED, "called": "remote"}, []),
        ({"made": _SEED, "called": "remote"}, []),  # the container imports the file
        ({"outside": _SEED, "decorator": "torch.no_grad()", "called": "remote"}, []),
    ],
)
def test_a_command_runs_what_a_decorator_names(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    said: list[str],
) -> None:
    project({"fit.py": _JOB.format(**{**_USUAL, **changed})})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert [said[0] in each for each in told] == [True] * len(said)
