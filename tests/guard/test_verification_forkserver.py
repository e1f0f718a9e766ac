"""Runs of ``guard verify`` are forked where that cannot be seen, and started afresh elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.verification import sessions
from guard.verification.forkserver import Imported, imported_ahead
from guard.verification.plan import Plan
from guard.verification.texts import Text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from guard.verification.runs import Process
    from guard.verification.sessions import Session

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs are forked on Linux only")

STEP = Imported("torch._dynamo")


def _ahead(folder: Path, code: str, *, ranks: int = 1) -> tuple[Imported, ...]:
    write(folder / "train.py", code)
    return imported_ahead(Text([str(folder / "train.py")]), ranks=ranks)


def test_libraries_are_imported_ahead(tmp_path: Path) -> None:
    code = "import json, torch\nfrom torch.nn import functional as F\nimport rows"

    found = _ahead(tmp_path, code)

    assert found == (Imported("torch"), Imported("torch.nn", "functional"), STEP)


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['OMP_NUM_THREADS'] = '1'",
        "os.environ.setdefault('OMP_NUM_THREADS', '1')",
        "os.putenv('OMP_NUM_THREADS', '1')",
        "load_dotenv()",
        "del os.environ['OMP_NUM_THREADS']",
        "from os import environ as held\ndef main(): held['OMP_NUM_THREADS'] = '1'",
    ],
)
def test_nothing_is_where_the_environment_is_written(tmp_path: Path, line: str) -> None:
    assert _ahead(tmp_path, f"import os\n{line}\nimport torch") == ()
    assert _ahead(tmp_path, "import os, torch\nrank = os.environ['RANK']")
    assert _ahead(tmp_path, "import os, torch\nown = dict(os.environ)\nown['RANK'] = '1'")


def test_what_lies_beside_the_program_is_its_own(tmp_path: Path) -> None:
    write(tmp_path / "datasets.py", "")

    assert _ahead(tmp_path, "import datasets") == ()


def test_of_ranks_libraries_may_ask_for_the_rank(tmp_path: Path) -> None:
    code = "import torch, lightning"

    assert Imported("lightning") in _ahead(tmp_path, code)
    assert Imported("lightning") not in _ahead(tmp_path, code, ranks=2)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.py", "")
    with sessions.session(Plan("train.py", ranks=1), str(tmp_path / "scratch")) as opened:
        yield opened


def _runs(opened: Session, folder: Path, code: str, *numbers: int) -> list[Process]:
    write(folder / "train.py", code)
    found = [opened.start(opened.plan.circumstances(number)) for number in numbers]
    until = time.monotonic() + 60
    while any(each.status is None for each in found) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def test_forks_share_what_is_varied_and_draw_their_own(opened: Session, tmp_path: Path) -> None:
    code = """
        import os, random, tempfile, numpy, torch
        print(hash("a"), os.getppid())
        print(random.random(), numpy.random.rand(), tempfile.mktemp(), *torch.rand(2).tolist())
        """

    found = [each.tail() for each in _runs(opened, tmp_path, code, 0, 0, 1)]

    assert found[0][0] == found[1][0] != found[2][0]
    assert not set(found[0][1].split()) & set(found[1][1].split())


def test_a_generator_that_a_library_made_without_a_seed_is_another_in_each_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
        import os, sympy, torch
        print(os.getppid(), sympy.randprime(10**9, 10**12))
        """
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.py", code)
    with sessions.session(Plan("train.py", ranks=1), str(tmp_path / "scratch")) as opened:
        found = [each.tail()[0].split() for each in _runs(opened, tmp_path, code, 0, 0)]

    assert found[0][0] == found[1][0]  # of one process, which has imported sympy with torch
    assert found[0][1] != found[1][1]


def test_ranks_draw_their_own_from_a_generator_that_a_library_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
        import os, sympy, torch
        os.write(1, f"{os.getppid()} {sympy.randprime(10**9, 10**12)}\\n".encode())
        """
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.py", code)
    with sessions.session(Plan("train.py", ranks=2), str(tmp_path / "scratch")) as opened:
        (run,) = _runs(opened, tmp_path, code, 0)
        one, other = (each.split() for each in run.tail()[-2:])

    assert one[0] == other[0]
    assert one[1] != other[1]


def test_a_fork_collects_its_own_garbage_alone(opened: Session, tmp_path: Path) -> None:
    code = """
        import gc, torch
        print(gc.isenabled(), gc.get_freeze_count() > 10 * len(gc.get_objects()))
        """

    (run,) = _runs(opened, tmp_path, code, 0)

    assert run.tail() == ("True True",)


def test_a_fork_ends_as_its_program_does(opened: Session, tmp_path: Path) -> None:
    code = """
        import atexit, threading, time, torch
        atexit.register(print, "ended")
        threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
        raise RuntimeError("no more data")
        """

    (run,) = _runs(opened, tmp_path, code, 0)

    assert run.status == 1
    assert not run.was_stopped
    told = [each for each in run.tail() if not each.startswith(" ")]
    assert sorted(told[:-1]) == [
        "RuntimeError: no more data",
        "Traceback (most recent call last):",
        "thread",
    ]
    assert told[-1] == "ended"


def test_a_fork_that_goes_on_is_stopped(opened: Session, tmp_path: Path) -> None:
    write(tmp_path / "train.py", "import torch, time\nprint('begun', flush=True)\ntime.sleep(60)")
    run = opened.start(opened.plan.circumstances(0))
    while not run.tail():
        time.sleep(0.02)

    opened.end()

    assert run.status
    assert run.was_stopped


def test_a_library_that_cannot_be_imported_is_for_the_program_to_meet(
    opened: Session, tmp_path: Path
) -> None:
    (run,) = _runs(opened, tmp_path, "import torch\nfrom torch.missing import layer", 0)

    assert run.status == 1
    assert run.tail()[-1] == "ModuleNotFoundError: No module named 'torch.missing'"
