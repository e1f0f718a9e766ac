"""Runs of ``guard spread`` and ``guard verify`` as processes, as jobs of Slurm, as tasks of Ray.

submitit's own executor for one machine stands in for Slurm. Ray has a cluster of several nodes,
each with processes of its own, on one machine.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from programs import write

from guard import executors
from guard.__main__ import main as guard
from guard.commands.verify import main as verify
from guard.errors import GuardError
from guard.executors import Task, executor
from guard.executors.board import Board, Row
from guard.verification import sessions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TESTS = os.path.dirname(os.path.dirname(__file__))
# Writes down that it ran; fails with seed 1 as long as there is a file "fails".
TRAIN = """
    import os, sys
    seed = sys.argv[sys.argv.index("--seed") + 1]
    with open("made.txt", "a") as file:
        file.write(seed)
    if seed == "1" and os.path.exists("fails"):
        sys.exit("no luck")
    print("loss:", 0.5 + int(seed))
    """
SPREAD = ["--metric", "loss", "--seed-arg", "--seed", "--seeds", "3", "--json"]
SLURM = ["--executor", "slurm", "--executor-option", "cluster=local"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a user, who has a program."""
    work = tmp_path / "work"
    work.mkdir()
    write(work / "train.py", TRAIN)
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cluster of two nodes, of which each takes one run at a time."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # else it writes a token into the home folder
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    pytest.importorskip("ray", reason="ray is not installed")
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    cluster.shutdown()


def runs(*options: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What a spread knows of its runs."""
    guard(["spread", *SPREAD, *options, "train.py"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["programs"][0]["runs"]
    return found


def test_a_run_that_failed_is_made_again_and_the_others_are_kept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "fails", "")
    first = runs("--keep", "kept", capsys=capsys)
    assert [each["value"] for each in first] == [0.5, None, 2.5]
    os.remove(folder / "fails")
    again = runs("--keep", "kept", "--continue", capsys=capsys)
    assert [each["value"] for each in again] == [0.5, 1.5, 2.5]
    assert (folder / "made.txt").read_text() == "0121"
    assert (folder / "kept" / "a" / "seed1.log").read_text().startswith("loss: 1.5")


def test_an_interrupted_spread_says_how_to_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        folder / "train.py",
        """
        import os, signal, sys, time
        if sys.argv[-1] == "1" and not os.path.exists("again"):
            os.kill(os.getppid(), signal.SIGTERM)
            time.sleep(100)
        print("loss:", sys.argv[-1])
        """,
    )
    assert guard(["spread", *SPREAD, "--keep", "kept", "train.py"]) == 130
    told = capsys.readouterr()
    assert told.err.splitlines()[-1] == (
        "guard spread: interrupted; its runs have been ended, "
        "and --continue makes the runs that are missing"
    )
    assert [*(folder / "kept" / "a").glob("*.json")] == [folder / "kept" / "a" / "seed0.json"]
    write(folder / "again", "")
    again = runs("--keep", "kept", "--continue", capsys=capsys)
    assert [each["value"] for each in again] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("change", ["program", "option"])
def test_what_was_kept_of_another_program_does_not_count(
    change: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs("--keep", "kept", capsys=capsys)
    if change == "program":
        write(folder / "train.py", TRAIN.replace("0.5", "0.25"))
    metric = ["--from", "made.txt"] if change == "option" else []
    again = runs("--keep", "kept", "--continue", *metric, capsys=capsys)
    assert (folder / "made.txt").read_text() == "012012"
    assert change == "option" or [each["value"] for each in again] == [0.25, 1.25, 2.25]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--continue"], "--continue goes on with the folder of an earlier --keep: name it"),
        (["--executor", "slurm"], "--executor slurm needs --keep FOLDER: one that all machines"),
        (["--keep", "full"], "--keep: 'full' is not empty; --continue makes the runs that it"),
        (["--executor-option", "x=1"], "--executor-option x: local runs have no options"),
    ],
)
def test_what_does_not_go_together_is_told(
    options: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "full").mkdir()
    write(folder / "full" / "note.txt", "mine")
    assert guard(["spread", *SPREAD, *options, "train.py"]) == 2
    assert says in capsys.readouterr().err
    assert not (folder / "made.txt").exists()


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(executors.NAMES, "slurm", "no_such_package")
    with pytest.raises(GuardError, match=r"needs the package no_such_package .*pip install no_"):
        executor("slurm", {}, "x")


def test_slurm_is_told_how_long_a_run_may_take(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    with pytest.raises(GuardError, match="--executor-option timeout_min=120"):
        executor("slurm", {}, str(tmp_path))
    with pytest.raises(GuardError, match="no_such"):
        executor("slurm", {"cluster": "local", "no_such": "1"}, str(tmp_path))


def test_jobs_of_slurm_give_a_spread(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    write(folder / "fails", "")
    found = runs(*SLURM, "--keep", "kept", capsys=capsys)
    assert [each["value"] for each in found] == [0.5, None, 2.5]
    assert found[1]["problem"] == "it ended with status 1"
    assert found[1]["tail"] == "no luck"
    assert all(each["place"].startswith("job ") for each in found)
    assert len({each["place"] for each in found}) == 3
    os.remove(folder / "fails")
    again = runs(*SLURM, "--keep", "kept", "--continue", capsys=capsys)
    assert [each["value"] for each in again] == [0.5, 1.5, 2.5]
    assert sorted((folder / "made.txt").read_text()) == ["0", "1", "1", "2"]


@pytest.mark.usefixtures("ray")
def test_tasks_of_ray_give_a_spread(capsys: pytest.CaptureFixture[str]) -> None:
    found = runs("--executor", "ray", "--keep", "kept", capsys=capsys)
    assert [each["value"] for each in found] == [0.5, 1.5, 2.5]
    assert len({each["place"] for each in found}) == 3


SLEEPS = "import time; print('here', flush=True); time.sleep(100)"


def ends(name: str, options: dict[str, str], folder: Path) -> None:
    """A run that is called off leaves no process."""
    made = executor(name, options, str(folder))
    output = str(folder / "output.log")
    job = made.start(Task((sys.executable, "-c", SLEEPS), os.environ, str(folder), output))
    until = time.monotonic() + 60
    while not (job.place and "here" in (folder / "output.log").read_text()):
        assert time.monotonic() < until
        time.sleep(0.05)
    process = int(job.place.rpartition(" ")[2])
    job.end(signal.SIGTERM)
    while _is_there(process):
        assert time.monotonic() < until
        job.poll()
        time.sleep(0.05)
    assert job.poll() == -signal.SIGTERM
    made.close()


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_run_of_this_machine_is_ended(folder: Path) -> None:
    ends("local", {}, folder)


# The stand-in for Slurm does not wait for what it has called off.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_job_of_slurm_is_ended(folder: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    ends("slurm", {"cluster": "local"}, folder)


@pytest.mark.usefixtures("ray")
def test_a_task_of_ray_is_ended(folder: Path) -> None:
    ends("ray", {"num_cpus": "1"}, folder)


SAME = "for n in range(5): step(batch=n, output=('fc', n))"


@pytest.fixture
def recorded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of which three runs agree, with what records it in a tenth of a second."""
    monkeypatch.setattr(sessions, "_SUBJECT", "recording_stand_in")
    monkeypatch.setenv("PYTHONPATH", TESTS)
    text = f"from recording_stand_in import step\nopen('made.txt', 'a').write('x')\n{SAME}"
    write(folder / "train.py", text)
    return folder


def test_runs_that_ended_are_not_verified_again(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--json", "--no-isolate", "--keep", "kept"]
    assert verify([*options, "--runs", "2", "train.py"]) == 0
    assert verify([*options, "--runs", "3", "--continue", "train.py"]) == 0
    assert capsys.readouterr().out.count('"identical"') >= 2
    assert (recorded / "made.txt").read_text() == "xxx"


@pytest.mark.usefixtures("recorded")
def test_jobs_of_slurm_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    assert verify(["--runs", "3", *SLURM, "--keep", "kept", "train.py"]) == 0
    told = capsys.readouterr().out
    assert "run 3 ran at job " in told


@pytest.mark.usefixtures("ray", "recorded")
def test_tasks_of_ray_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--executor", "ray", "--keep", "kept"]
    assert verify(["--runs", "3", *options, "train.py"]) == 0
    assert "run 3 ran at " in capsys.readouterr().out


def test_a_terminal_is_shown_what_runs_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    board = Board(3)
    board.show([Row("seed 2", "waiting"), Row("seed 1", "running", "node7, process 12", 3.0)], 1)
    board.tell("seed 0: [loss]")
    board.close()
    told = capsys.readouterr().err
    assert told.index("seed 1  running  node7, process 12   3 s") < told.index("seed 2")
    assert "1 of 3" in told
    assert "seed 0: [loss]" in told
