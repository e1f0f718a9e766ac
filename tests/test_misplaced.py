"""Modules that no import of a file leads to, and of which the project has one by that name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAINING = """\
import torch
from torch import nn

def fit():
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    torch.save(net.state_dict(), "net.pt")
"""
START = "\nif __name__ == '__main__':\n    "
MAIN = f"from training import fit\n{START}fit()\n"
RULES = "--select=DET102"


def seeds_missing(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """The files of programs that draw without a seed."""
    main([*options, RULES, "--output-format=json", "."])
    return [each["filename"].rpartition("/")[2] for each in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"common/training.py": TRAINING, "main.py": MAIN}, id="a module"),
        pytest.param(
            {
                "common/training.py": TRAINING,
                "old/training.py": "def run():\n    pass\n",
                "main.py": MAIN,
            },
            id="one of two that has what is taken",
        ),
        pytest.param(
            {
                "common/parts/training.py": TRAINING,
                "main.py": f"from parts import training\n{START}training.fit()\n",
            },
            id="of a folder that is no package",
        ),
        pytest.param(
            {
                "common/parts/__init__.py": "",
                "common/parts/training.py": TRAINING,
                "main.py": f"import parts.training as t\n{START}t.fit()\n",
            },
            id="of a package",
        ),
    ],
)
def test_the_one_module_of_a_name_is_meant(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    project(files)
    assert seeds_missing(capsys, "--no-cache") == ["main.py"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"common/training.py": TRAINING, "old/training.py": TRAINING, "main.py": MAIN},
            id="two of the name",
        ),
        pytest.param(
            {
                "common/training.py": TRAINING,
                "main.py": f"from training import fit, report\n{START}fit()\n",
            },
            id="it lacks what is taken",
        ),
        pytest.param(
            {
                "common/datasets.py": TRAINING,
                "main.py": f"import datasets\n{START}datasets.load_dataset('a').fit()\n",
            },
            id="a library is meant",
        ),
        pytest.param(
            {"common/random.py": TRAINING, "main.py": f"from random import fit\n{START}fit()\n"},
            id="of Python itself",
        ),
    ],
)
def test_a_module_is_not_taken_for_another(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    project(files)
    assert seeds_missing(capsys, "--no-cache") == []


def test_of_two_modules_a_program_has_the_one_beside_it(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = TRAINING.replace("import torch\nfrom torch import nn\n", "from utils import *\n")
    project(
        {
            "utils.py": "from parameters import *\n",
            "cnn/parameters.py": "import torch\nfrom torch import nn\n",
            "cnn/convolve.py": f"{fit}{START}fit()\n",
            "rnn/parameters.py": "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n",
            "rnn/recur.py": f"{fit}{START}fit()\n",
        }
    )
    assert seeds_missing(capsys, "--no-cache") == ["convolve.py"]


def test_what_a_module_has_by_now_is_seen_beside_a_cache(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project({"common/training.py": "", "main.py": MAIN})
    assert seeds_missing(capsys) == []
    (root / "common/training.py").write_text(TRAINING)
    assert seeds_missing(capsys) == ["main.py"]
    (root / "old").mkdir()
    (root / "old/training.py").write_text(TRAINING)
    assert seeds_missing(capsys) == []
