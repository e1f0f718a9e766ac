"""``%load_ext guard`` in a real shell, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(find_spec("IPython") is None, reason="IPython is not installed")

SHELL = """
import sys
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell(colors="nocolor", config=Config(HistoryManager={"enabled": False}))
cells = sys.argv[1:]
before = shell.showtraceback
for cell in cells:
    print(f"--- {cell}")
    sys.stdout.flush()
    shell.run_cell(cell)
print("--- end")
print(f"same: {before == shell.showtraceback}")
"""
LOAD = "%load_ext guard"
PUT = "put(torch.zeros(3), torch.tensor([0]), torch.ones(1))"


def run(folder: Path, *cells: str) -> dict[str, str]:
    """What a shell shows for each cell, and under "end" what came of the shell."""
    done = subprocess.run(
        [sys.executable, "-c", SHELL, *cells],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": "0", "IPYTHONDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=True,
    )
    parts = done.stdout.split("--- ")[1:]
    return dict(zip([*cells, "end"], (part.partition("\n")[2] for part in parts), strict=True))


def test_the_magic_switches_guard_on_and_off_and_tells_how_it_stands(tmp_path: Path) -> None:
    draw = "import torch; print(torch.rand(1).item())"
    again = "print(torch.rand(1).item())"
    shown = run(tmp_path, LOAD, "%guard", "%guard on 3", draw, "%guard on 3 ", again, "%guard off")
    assert shown[LOAD] == ""
    assert shown["%guard"] == "Out[0]: guard is off\n"
    assert shown["%guard on 3"].startswith("Out[0]: guard is on: Settings(seed=3, fill=True")
    assert shown[draw] == shown[again] != ""
    assert shown["%guard off"] == "Out[0]: guard is off\n"


def test_what_is_wrong_is_told_in_a_line(tmp_path: Path) -> None:
    usage = "UsageError: %guard shows whether guard is on; %guard on [seed] begins from the seed; "
    shown = run(tmp_path, LOAD, "%guard on first", "%guard on -1", "%guard stop", "%guard off 3")
    legal = "UsageError: a seed is an integer from 0 to 4294967295, not "
    assert shown["%guard on first"] == f"{legal}'first'\n"
    assert shown["%guard on -1"].startswith(f"{legal}-1; write 4294967295")
    assert shown["%guard stop"] == shown["%guard off 3"] == f"{usage}%guard off\n"


def test_a_refusal_that_no_wrapper_saw_is_explained(tmp_path: Path) -> None:
    shown = run(tmp_path, LOAD, "import torch; from torch import put", "%guard on", PUT, "1 / 0")
    assert "RuntimeError: put_ does not have a deterministic implementation, but" in shown[PUT]
    assert "NondeterministicOperationError: torch.Tensor.put_ has no deterministic" in shown[PUT]
    where, code = shown[PUT].split("where:")[1].splitlines()[:2]
    assert "<ipython-input" in where
    assert code.strip() == PUT
    assert "ZeroDivisionError" in shown["1 / 0"]
    assert "NondeterministicOperationError" not in shown["1 / 0"]


def test_unloading_takes_away_what_loading_added(tmp_path: Path) -> None:
    shown = run(tmp_path, LOAD, "%unload_ext guard", "%guard", LOAD + " ", "%unload_ext guard ")
    assert "UsageError: Line magic function `%guard` not found" in shown["%guard"]
    assert shown["end"] == "same: True\n"
