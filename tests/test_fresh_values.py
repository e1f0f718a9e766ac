"""A function that is there to give a fresh number keeps its finding, and is offered no edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

HEADER = """
import random
import time

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng

"""


def offered(code: str, findings: Callable[..., list[Finding]]) -> list[tuple[str, bool]]:
    """The codes of what is found, and whether there are edits."""
    return [(each.code, bool(each.edits)) for each in findings(HEADER + code, "DET101", "DET103")]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        pytest.param(
            "def random_number():\n    return int(default_rng().integers(0, 2**31))\n",
            "DET101",
            id="drawn at once",
        ),
        pytest.param(
            "def random_number(limit):\n    rng = default_rng()\n"
            "    number = rng.integers(limit)\n    return number.item()\n",
            "DET101",
            id="through locals",
        ),
        pytest.param(
            "def spread():\n    return random.Random().getrandbits(64) % 2**32\n",
            "DET101",
            id="Python's",
        ),
        pytest.param(
            "def states():\n    return SeedSequence().generate_state(4)[0]\n",
            "DET101",
            id="of a sequence",
        ),
        pytest.param(
            "def new_seed():\n    return time.time_ns() % 2**32\n", "DET103", id="the clock"
        ),
        pytest.param(
            "def new_seed():\n    seed = int(time.time())\n    return seed\n",
            "DET103",
            id="the clock, through a local",
        ),
    ],
)
def test_what_gives_a_fresh_number_is_found_and_left_alone(
    code: str, rule: str, findings: Callable[..., list[Finding]]
) -> None:
    assert offered(code, findings) == [(rule, False)]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        pytest.param(
            "def noise(shape):\n    return default_rng().normal(size=shape)\n",
            "DET101",
            id="data",
        ),
        pytest.param("def maker():\n    return default_rng()\n", "DET101", id="a generator"),
        pytest.param(
            "def pick(rows):\n    return rows[default_rng().integers(len(rows))]\n",
            "DET101",
            id="an element of data",
        ),
        pytest.param("number = default_rng().integers(9)\n", "DET101", id="no function"),
        pytest.param(
            "def set_up(seed=None):\n    seed = seed or int(time.time())\n    return seed\n",
            "DET103",
            id="a seed that may be given",
        ),
        pytest.param(
            "def set_up():\n    seed = int(time.time())\n    torch.manual_seed(seed)\n"
            "    return seed\n",
            "DET103",
            id="a seed that is used",
        ),
    ],
)
def test_what_a_seed_would_mend_is_offered_one(
    code: str, rule: str, findings: Callable[..., list[Finding]]
) -> None:
    assert offered(code, findings) == [(rule, True)]
