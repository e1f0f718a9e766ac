"""Processes that a run starts end with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from detlint.runner import Feed, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and forks")

BESIDE = """
import os, time
from detlint.aside import in_turns

def work(shares):
    print("begun", flush=True) if os.getpid() == parent else None
    for each in shares:
        time.sleep(each)

parent = os.getpid()
in_turns(work, lambda: None, [[600, 600]], 2)
"""


def test_work_beside_a_killed_process_ends_with_it() -> None:
    parent = subprocess.Popen([sys.executable, "-c", BESIDE], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"begun\n"
    assert survivors(parent, expected=1) == []


def test_workers_of_a_killed_run_end_with_it(tmp_path: Path) -> None:
    functions = "def f(x):\n    y = torch.empty(3)\n    return y + hash(str(x))\n" * 2000
    for number in range(64):
        (tmp_path / f"m{number}.py").write_text(f"import torch\n{functions}")
    command = [sys.executable, "-m", "detlint", ".", "--no-cache", "--jobs", "3"]
    parent = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert survivors(parent, expected=3) == []


class Pool:
    """Notes which files it is given to lint; another call it makes at once."""

    def __init__(self) -> None:
        self.linted: list[str] = []
        self.futures: list[Future[object]] = []

    def submit(self, function: Callable[[object], object], given: object) -> Future[object]:
        future = Future[object]()
        future.set_running_or_notify_cancel()
        if isinstance(given, str):
            future.set_result(function(given))
        else:
            self.linted += [each.path for each in cast("Sequence[Task]", given)]
            self.futures.append(future)
        return future


def test_a_pool_lints_nothing_more_while_something_is_shared_out() -> None:
    pool = Pool()
    feed = Feed(cast("ProcessPoolExecutor", pool), [[Task(each)] for each in "abc"])

    def answer(share: str) -> str:
        if share == "first":
            pool.futures[0].set_result(None)
            assert pool.linted == ["a"]
        return share.upper()

    feed.hand_over()
    assert feed.share(answer, ["first", "second"]) == ["FIRST", "SECOND"]
    assert pool.linted == ["a", "b"]
    pool.futures[1].set_result(None)
    assert pool.linted == ["a", "b", "c"]


def survivors(parent: subprocess.Popen[bytes], *, expected: int) -> list[int]:
    """The children that live on for ten seconds after their parent was killed."""
    children: list[int] = []
    until = time.monotonic() + 60
    while len(children) < expected and time.monotonic() < until:
        children = _children(parent.pid)
        time.sleep(0.01)
    assert len(children) == expected
    time.sleep(0.5)  # so that they are at work
    parent.send_signal(signal.SIGKILL)
    assert parent.wait() == -signal.SIGKILL, "the run had ended before it was killed"
    if parent.stdout is not None:
        parent.stdout.close()
    until = time.monotonic() + 10
    while (alive := [each for each in children if _lives(each)]) and time.monotonic() < until:
        time.sleep(0.05)
    for each in alive:
        os.kill(each, signal.SIGKILL)
    return alive


def _children(process: int) -> list[int]:
    return [
        int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def _lives(process: int) -> bool:
    """Whether it runs; a container may have nobody who waits for what has ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False
