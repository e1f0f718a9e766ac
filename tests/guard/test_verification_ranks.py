"""Runs of several ranks: recorded under torchrun, compared, and started by verify; over gloo."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from planted_programs import FOLDER, read
from planted_programs import verify as ask
from programs import python, write

from guard.__main__ import main
from guard.trace import open_run
from guard.verification.hash_seeds import FIRST, best

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="torchrun and gloo are tested on Linux"
)

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
LETTERS = ("a", "b", "c", "d", "e")
# What differs or fails does in rank 1 alone, and in its last step only.
PROGRAM = """
    import os, sys
    import torch
    from torch import distributed

    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(2 * step + rank))
        if rank == 1 and step == 2 and "--other" in sys.argv:
            order = list({"a", "b", "c", "d", "e"})
            x = x * (1 + order.index("c"))
        if rank == 1 and step == 1 and "--leave" in sys.argv:
            with torch.no_grad():
                model.module.weight[0, 0] += 1
        if rank == 1 and step == 2 and "--fail" in sys.argv:
            raise RuntimeError("no more data")
        model(x).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    distributed.destroy_process_group()
    """


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "train.py", PROGRAM)
    return tmp_path


def verify(folder: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    options = ("--json", "--nproc-per-node", "2")
    done = python("-m", "guard", "verify", *options, *arguments, cwd=folder)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.returncode, json.loads(done.stdout or "{}")


def test_torchrun_records_every_rank_and_compare_takes_them_all(
    folder: Path, capsys: pytest.CaptureFixture[str], forks: Forks
) -> None:
    for run in ("a", "b", "c"):
        seed = best(range(2, 402), [[LETTERS]]) if run == "c" else FIRST
        command = (*TORCHRUN, "-m", "guard", "record", "--out", run, "train.py", "--other")
        done = forks.python(*command, cwd=folder, environ={"PYTHONHASHSEED": str(seed)})
        assert done.returncode == 0, done.stderr
        headers = [each.header for each in open_run(folder / run)]
        assert [(each.rank, each.world_size) for each in headers] == [(0, 2), (1, 2)]
    paths = {run: str(folder / run) for run in ("a", "b", "c")}
    assert main(["compare", paths["a"], paths["b"]]) == 0
    assert "on each of 2 ranks" in capsys.readouterr().out
    assert main(["compare", paths["a"], paths["c"]]) == 1
    assert "at step 2 on rank 1: the input of" in capsys.readouterr().out


def test_verify_starts_the_ranks(folder: Path) -> None:
    status, found = verify(folder, "--replicas", "1", "train.py")
    assert status == 0
    assert found["ranks"] == [0, 1]
    assert found["verify"]["steps"] == 3  # type: ignore[index]


def test_verify_names_the_rank_that_parts(folder: Path) -> None:
    status, found = verify(folder, "--budget", "0", "train.py", "--other")
    assert status == 1
    difference: dict[str, object] = found["difference"]  # type: ignore[assignment]
    assert (difference["rank"], difference["step"]) == (1, 2)


@pytest.mark.parametrize(
    ("option", "told"),
    [("--leave", "rank 1 holds another model than rank 0"), ("--fail", "no more data")],
)
def test_verify_tells_what_a_rank_ends_with(folder: Path, option: str, told: str) -> None:
    given = ("--nproc-per-node", "2", "--replicas", "1", "--one-by-one")
    done = python("-m", "guard", "verify", *given, "train.py", option, cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert told in done.stdout


PLANTED = FOLDER / "planted"


@pytest.mark.parametrize(
    ("name", "rank", "source"),
    [("ranks_with_own_noise", 1, "entropy"), ("ranks_resumed_without_schedule", 0, "state")],
)
@pytest.mark.slow
def test_a_line_of_a_rank_and_a_state_that_ranks_lost(name: str, rank: int, source: str) -> None:
    answer = ask(read(PLANTED / f"{name}.py"))

    assert answer.is_right, (answer.why, answer.named, answer.error)
    assert answer.source == source
    assert answer.report["difference"]["rank"] == rank
