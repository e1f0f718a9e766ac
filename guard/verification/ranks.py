"""Ranks of a run, forked from a process that has imported torch: what torchrun would start."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from guard.verification.forkserver import afresh

if TYPE_CHECKING:
    from collections.abc import Iterable

_HERE = "127.0.0.1"
# Seconds after one has failed, and what is sent to the others then.
_ENDING = ((2.0, signal.SIGTERM), (7.0, signal.SIGKILL))
_PAUSE = 0.02


def fork(count: int) -> int | None:
    """Be the ranks: None in each of them, and the status to end with in what has started them.

    The store by which they meet is held here, as torchrun holds it, so that it outlives each rank.
    It has threads, and is made when all are forked.
    """
    gates, pids = [], []
    for rank in range(count):
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(write)
            os.environ.update(_variables(rank, count, os.read(read, 16).decode()))
            os.close(read)
            afresh()
            return None
        os.close(read)
        gates.append(write)
        pids.append(pid)
    from torch._C._distributed_c10d import TCPStore

    store = TCPStore(_HERE, 0, is_master=True, wait_for_workers=False)
    for gate in gates:
        os.write(gate, str(store.port).encode())
        os.close(gate)
    return _status(set(pids))


def _variables(rank: int, count: int, port: str) -> dict[str, str]:
    """What torchrun gives a rank, on one machine."""
    ranks = {"RANK", "LOCAL_RANK", "ROLE_RANK"}
    sizes = {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_WORLD_SIZE"}
    return {
        **dict.fromkeys(ranks, str(rank)),
        **dict.fromkeys(sizes, str(count)),
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
        "ROLE_NAME": "default",
        "MASTER_ADDR": _HERE,
        "MASTER_PORT": port,
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_RUN_ID": str(os.getppid()),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }


def _status(running: set[int]) -> int:
    """When all have ended: 0, or that of the first that failed, after which the others end.

    They have time to end by themselves: what they meet without it is the same in each run.
    """
    failed, since = 0, 0.0
    signals = dict(_ENDING)
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            running.discard(pid)
            if status and not failed:
                failed, since = max(1, os.waitstatus_to_exitcode(status)), time.monotonic()
            continue
        for seconds in [each for each in signals if failed and time.monotonic() - since > each]:
            _send(running, signals.pop(seconds))
        time.sleep(_PAUSE)
    return failed


def _send(pids: Iterable[int], which: int) -> None:
    for each in pids:
        os.kill(each, which)
