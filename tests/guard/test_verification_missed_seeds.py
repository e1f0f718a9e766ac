"""Seeds that no run has come to, and the condition at which it went another way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.verification.missed_seeds import missed
from guard.verification.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import random, numpy as np, torch
from helpers import begin
def setup(options):
    if options.seed is not None:
        random.seed(options.seed)
    if options.free:
        pass
    else:
        np.random.seed(3)
def start(options):
    if options.fixed:
        fix(7)
def fix(seed):
    torch.manual_seed(seed)
setup(options)
start(options)
begin(options)
x = torch.rand(3)
"""


@pytest.mark.parametrize(
    ("state", "ran", "told"),
    [
        ("python", (4, 6, 15), "`random.seed(options.seed)` at train.py:5 was not reached: "),
        ("python", (4, 6, 15), "`options.seed is not None` in line 4 was false."),
        ("numpy", (4, 6, 15), "`np.random.seed(3)` at train.py:9 was not reached: "),
        ("numpy", (4, 6, 15), "`options.free` in line 6 was true."),
        ("torch.cpu", (11, 16), "`fix(7)` at train.py:12 was not reached: `options.fixed` in line"),
        ("torch.cpu", (11, 12, 14, 16), ""),  # it was seeded
        ("python", (4, 5, 15), ""),
        ("torch.cpu", (15,), ""),  # no condition that a run has come to
        ("threads", (4, 6, 11), ""),
    ],
)
def test_a_seed_that_was_not_reached_is_told_with_its_condition(
    state: str,
    ran: tuple[int, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(write(tmp_path / "train.py", CODE))
    nodes = [SimpleNamespace(file=path, statement=SimpleNamespace(line=at)) for at in ran]
    found = missed(Text([path]), nodes, [state])  # type: ignore[arg-type]  # all it asks
    assert told in found
    assert bool(told) == bool(found)
