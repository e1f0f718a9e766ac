"""What is called by another name: the default of a parameter, what an object keeps of that, and
what stands in a table of functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import levels, places

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

IMPORTS = """\
import random
import time
import numpy as np
import torch

"""
KEPT = """\
class Draws:
    def __init__(self, rows, make={}):
        self.rows = rows
        self.make = make

    def order(self):
        return self.make({}).choice(self.rows)
"""
CALLED = """\
def order(rows, make={}):
    return make({}).choice(rows)
"""
RUN = "print({})\n"


@pytest.mark.parametrize(
    ("text", "run", "row"),
    [
        (CALLED.format("random.Random", ""), "order(rows)", 7),
        (CALLED.format("np.random.default_rng", ""), "order(rows)", 7),
        (CALLED.format("np.random.default_rng", "None"), "order(rows)", 7),
        (CALLED.format("np.random.default_rng", "3"), "order(rows)", 0),
        (CALLED.format("list", ""), "order(rows)", 0),
        (KEPT.format("random.Random", ""), "Draws(rows).order()", 12),
        (KEPT.format("random.Random", "3"), "Draws(rows).order()", 0),
        # A method of that name is what is called.
        (
            f"{KEPT.format('random.Random', '')}\n    def make(self):\n        return self.rows\n",
            "Draws(rows).order()",
            0,
        ),
    ],
)
def test_a_generator_that_is_made_by_default(
    project: Project, capsys: pytest.CaptureFixture[str], text: str, run: str, row: int
) -> None:
    project({"run.py": f"{IMPORTS}{text}\nrows = [1, 2]\n{RUN.format(run)}"})
    assert places(capsys, "DET101") == [f"run.py:{row}"] * bool(row)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("order(rows)", ["likely"]),
        ("order(rows, make=seeded), order(rows)", ["likely"]),
        ("order(rows, make=seeded)", ["possible"]),
        ("order(rows, seeded)", ["possible"]),
    ],
)
def test_where_all_calls_pass_another_function_it_is_possible(
    project: Project, capsys: pytest.CaptureFixture[str], run: str, expected: list[str]
) -> None:
    own = "def seeded():\n    return random.Random(0)\n\nrows = [1, 2]\n"
    project({"run.py": f"{IMPORTS}{CALLED.format('random.Random', '')}\n{own}{RUN.format(run)}"})
    assert levels(capsys, "DET101") == expected


@pytest.mark.parametrize(
    ("default", "is_found"), [("time.time", True), ("time.monotonic", True), ("len", False)]
)
def test_a_seed_by_a_clock_that_is_called_by_default(
    project: Project, capsys: pytest.CaptureFixture[str], default: str, *, is_found: bool
) -> None:
    text = f"def seed(clock={default}):\n    torch.manual_seed(int(clock()))\n\nseed()\n"
    project({"run.py": f"{IMPORTS}{text}"})
    assert places(capsys, "DET103") == ["run.py:7"] * is_found


TABLE = """\
SEEDERS = {"python": random.seed, "numpy": np.random.seed, "torch": torch.manual_seed}

def seed_them(seed, names=("numpy",)):
"""
TRAIN = """\
seed_them(0)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(3):
    model(torch.rand(3, 2) * random.random() + np.random.rand()).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Any of them, and which is not seen.
        ("    for name in names:\n        SEEDERS[name](seed)\n", {"possible": 3}),
        ("    for name in SEEDERS:\n        SEEDERS[name](seed)\n", {}),
        ("    for each in SEEDERS.values():\n        each(seed)\n", {}),
        (
            "    for each in random.seed, np.random.seed, torch.manual_seed:\n        each(seed)\n",
            {},
        ),
        ('    SEEDERS["numpy"](seed)\n', {"likely": 2}),
        ("    SEEDERS.clear()\n", {"likely": 3}),
    ],
)
def test_what_a_table_of_functions_seeds(
    project: Project, capsys: pytest.CaptureFixture[str], body: str, expected: dict[str, int]
) -> None:
    project({"run.py": f"{IMPORTS}{TABLE}{body}\n{TRAIN}"})
    found = levels(capsys, "DET102")
    assert {each: found.count(each) for each in found} == expected


def test_what_is_picked_from_a_table_is_named(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "    for name in names:\n        SEEDERS[name](seed)\n"
    project({"run.py": f"{IMPORTS}{TABLE}{body}\n{TRAIN}"})
    asked = ["--output-format=json", "--min-confidence=possible", "--select=DET102"]
    main(["--no-cache", *asked, "."])
    found = json.loads(capsys.readouterr().out)
    only = "`SEEDERS[name](seed)` seeds it only where it is picked from a table for that"
    assert [only in each["message"] for each in found] == [True] * 3
