"""States of generators that a program keeps and puts back."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from linted_places import places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Lint = Callable[[], list[str]]

HEAD = """
import random

import numpy as np
import torch
from torch import nn

"""
TAIL = """
model = nn.Linear(3, 1)
model(x).backward()
optimizer.step()
"""


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Lint:
    """``path:row`` of each finding of DET102."""
    return lambda: places(capsys, "DET102")


def _program(text: str) -> str:
    return HEAD + textwrap.dedent(text) + TAIL


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # A block that computes its forward pass again.
        (
            """
            class Block:
                def keep(self):
                    self.state = torch.get_rng_state()
                def forward(self):
                    torch.set_rng_state(self.state)
            Block()
            """,
            True,
        ),
        (
            """
            with torch.random.fork_rng():
                torch.set_rng_state(states[0])
            """,
            True,
        ),
        ("kept = torch.get_rng_state()\nshow()\ntorch.set_rng_state(kept.cpu())\n", True),
        (
            """
            def keep():
                return {"cpu": torch.get_rng_state()}
            def put_back(states):
                torch.set_rng_state(states["cpu"])
            put_back(keep())
            """,
            True,
        ),
        # One that a file holds.
        ("torch.set_rng_state(torch.load('a')['rng'])\n", False),
        (
            """
            def save():
                torch.save(torch.get_rng_state(), 'a')
            def load(path):
                states = torch.load(path)
                torch.set_rng_state(states["cpu"])
            load('a')
            """,
            False,
        ),
        (
            """
            def save():
                torch.save(torch.get_rng_state(), 'a')
            def load_state_dict(states):
                torch.set_rng_state(states["cpu"])
            load_state_dict(x)
            """,
            False,
        ),
        # … if there is one to go on with.
        (
            """
            states = torch.load('a')
            if 'rng' in states:
                torch.set_rng_state(states['rng'])
            """,
            True,
        ),
        (
            """
            def load(states):
                if states.get("cpu") is not None:
                    torch.set_rng_state(states.get("cpu").cpu())
            load(torch.load('a'))
            """,
            True,
        ),
        # One of another generator.
        ("torch.set_rng_state(torch.Generator().manual_seed(1).get_state())\n", False),
    ],
)
def test_a_state_that_is_put_back_is_no_seed(
    project: Project, lint: Lint, text: str, *, found: bool
) -> None:
    project({"train.py": _program(text)})
    assert bool(lint()) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            """
            def split(n):
                kept = np.random.get_state()
                np.random.seed(1)
                rows = np.random.permutation(n)
                np.random.set_state(kept)
                return rows
            split(9)
            np.random.rand(3)
            """,
            ["train.py:17"],
        ),
        (
            """
            def split(n):
                if fixed:
                    kept = np.random.get_state()
                    np.random.seed(1)
                rows = np.random.permutation(n)
                if fixed:
                    np.random.set_state(kept)
                return rows
            split(9)
            """,
            [],
        ),
        (
            """
            @contextmanager
            def seeded():
                kept = np.random.get_state()
                np.random.seed(1)
                try:
                    yield
                finally:
                    np.random.set_state(kept)
            with seeded():
                np.random.rand(3)
            """,
            [],
        ),
        (
            """
            with torch.random.fork_rng():
                torch.manual_seed(1)
                noise = torch.randn(3)
            np.random.rand(3)
            """,
            ["train.py:13"],
        ),
        ("np.random.seed(np.random.randint(9))\nnp.random.rand(3)\n", ["train.py:10"]),
        ("np.random.seed(np.random.get_state()[1][0])\nnp.random.rand(3)\n", ["train.py:10"]),
        ("seed = args.seed or np.random.randint(9)\nnp.random.seed(seed)\n", []),
        ("np.random.seed(random.randint(0, 9))\nrandom.seed(1)\nnp.random.rand(3)\n", []),
    ],
)
def test_a_seed_that_holds_for_a_few_lines_is_none_of_the_program(
    project: Project, lint: Lint, text: str, found: list[str]
) -> None:
    project({"train.py": _program(f"torch.manual_seed(0)\n{textwrap.dedent(text)}")})
    assert lint() == found


def test_a_fork_holds_a_seed(project: Project, lint: Lint) -> None:
    text = "with torch.random.fork_rng():\n    torch.manual_seed(1)\n    x = torch.randn(3)\n"
    project({"train.py": _program(text)})
    assert lint() == ["train.py:12"]
    project({"train.py": _program(text.replace("    torch.manual_seed(1)\n", ""))})
    assert lint() == ["train.py:9"]


def test_a_fork_around_a_training_seeds_it(project: Project, lint: Lint) -> None:
    text = (
        "import torch\nfrom torch import nn\n\nclass Head(nn.Sequential):\n"
        "    def __init__(self):\n        super().__init__(nn.Linear(3, 3), nn.Dropout(0.3))\n\n"
        "def fit(seed):\n    with torch.random.fork_rng():\n        torch.manual_seed(seed)\n"
        "        head = Head()\n        optimizer = torch.optim.SGD(head.parameters(), lr=0.1)\n"
        "        head(torch.ones(3)).sum().backward()\n        optimizer.step()\n"
        'if __name__ == "__main__":\n    fit(0)\n'
    )
    project({"train.py": text})
    assert lint() == []
