"""The process of one run: ``python -m guard.verification.subject``, with ``record``'s arguments."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

from guard.verification import circumstances, interruption, launching, turns

_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG


def main(arguments: list[str]) -> int:
    """Become what ``guard verify`` told this process to be, then record the program."""
    told = circumstances.told()
    _end_with(told.get("parent", 0))
    if "ranks" in told:
        return launching.launch(told, arguments)
    circumstances.vary()
    if "turn" in told:
        turns.take(told["turn"], told["waiting"], told["own"])
    if "folder" in told:
        os.chdir(told["folder"])
    if told.get("leaves"):
        interruption.leave()
    if "seed" in told:
        _seed(told["seed"])
    from guard.__main__ import _COMMANDS

    status: int = import_module(_COMMANDS["record"]).main(arguments)
    return status


def _seed(seed: int) -> None:
    """Seed all generators that the program will find, and leave everything else as it is."""
    from guard.seeders import seed_everything

    seed_everything(seed)


def _end_with(parent: int) -> None:
    """Have the system end this process when guard verify is killed, where it can (Linux)."""
    if parent and sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):
            import ctypes

            ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
