"""Branches of a module that run where it is trained, and where it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import levels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
{body}

    def sample(self, x):
        return torch.multinomial(torch.softmax(self.linear(x), -1), 1)
"""
ANSWERS = """\
import torch
import net

def run(path):
    model = net.Net()
    model.load_state_dict(torch.load(path))
    model.eval()
    with torch.no_grad():
        torch.save(model(torch.zeros(2, 4)), "answers.pt")

if __name__ == "__main__":
    run("weights.pt")
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["return self.linear(x) if self.training else self.sample(x)"], 1),
        (["return self.sample(x) if self.training else self.linear(x)"], 0),
        (["if not self.training:", "    return self.sample(x)", "return self.linear(x)"], 1),
        (["if self.training:", "    return self.linear(x)", "return self.sample(x)"], 1),
        (["if not self.training:", "    return self.linear(x)", "return self.sample(x)"], 0),
    ],
)
def test_where_a_module_answers_its_branch_for_answers_runs(
    lines: list[str], told: int, project: Project, capsys: Capture
) -> None:
    body = "\n".join(f"        {each}" for each in lines)
    project({"net.py": NET.format(body=body), "answer.py": ANSWERS})
    assert levels(capsys, "DET102").count("likely") == told
