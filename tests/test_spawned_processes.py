"""Processes that start afresh do not inherit the seed of the program that starts them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import random
import numpy as np
import torch
import torch.multiprocessing as mp
import worker
{}

def train(rank, seed):
    {}
    loss.backward(); optimizer.step()

def main():
    torch.manual_seed(0)
    {}

if __name__ == "__main__":
    main()
"""
WORKER = """\
import torch

def train(rank):
    build()
    loss.backward(); optimizer.step()

def build():
    return torch.nn.Linear(4, 4)

def seed():
    torch.manual_seed(1)
"""
PROCESS = "Process(target=train, args=(0, 1)).start()"
SPAWN = "mp.spawn(train, nprocs=2, args=(1,))"


@pytest.mark.parametrize(
    ("lines", "is_found"),
    [
        (("", "torch.randn(3)", SPAWN), True),
        (("", "torch.randn(3)", "torch.multiprocessing.spawn(fn=train, nprocs=2)"), True),
        (("", "torch.manual_seed(seed + rank); torch.randn(3)", SPAWN), False),
        (("", "worker.seed(); torch.randn(3)", SPAWN), False),
        (("torch.manual_seed(0)", "torch.randn(3)", SPAWN), False),
        (("", "pass", SPAWN), False),
        (("", "torch.randn(3)", "train(0, 0)"), False),
        (("", "loss.backward()", "mp.spawn(worker.train, nprocs=2)"), True),
        (("", "torch.randn(3)", f"mp.{PROCESS}"), False),
        (("", "torch.randn(3)", f"mp.set_start_method('spawn'); mp.{PROCESS}"), True),
        (("", "torch.randn(3)", f"mp.set_start_method('forkserver'); mp.{PROCESS}"), True),
        (("", "torch.randn(3)", f"mp.set_start_method('fork'); mp.{PROCESS}"), False),
        (("", "torch.randn(3)", f"mp.set_start_method(method); mp.{PROCESS}"), False),
        (("", "torch.manual_seed(seed)", f"mp.set_start_method('spawn'); mp.{PROCESS}"), False),
        (("", "torch.randn(3)", f"c = mp.get_context('spawn'); c.{PROCESS}"), True),
        (("", "torch.randn(3)", f"c = mp.get_context(method='fork'); c.{PROCESS}"), False),
    ],
)
def test_a_process_that_starts_afresh_has_no_seed(
    project: Project, capsys: pytest.CaptureFixture[str], lines: tuple[str, ...], *, is_found: bool
) -> None:
    project({"train.py": TRAIN.format(*lines), "worker.py": WORKER})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["train.py:14"] * is_found
    assert all("starts, and train seeds it nowhere" in each["message"] for each in found)


PROGRAM = """\
import torch
import torch.multiprocessing as mp

def train(rank):
    {}
    open(f"rank{{rank}}.txt", "a").write(f"{{torch.randn(1).item()}}\\n")

if __name__ == "__main__":
    torch.manual_seed(0)
    mp.spawn(train, nprocs=1)
"""


@pytest.mark.parametrize(("line", "kinds"), [("pass", 2), ("torch.manual_seed(0)", 1)])
def test_what_it_draws_differs(tmp_path: Path, line: str, kinds: int) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(line))
    for _ in range(2):
        subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True)
    assert len(set((tmp_path / "rank0.txt").read_text().split())) == kinds
