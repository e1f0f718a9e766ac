"""The process of one run: ``python -m guard.verification.subject``, with ``record``'s arguments."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.trace import TraceWriter
from guard.verification import circumstances, turns
from guard.verification.circumstances import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from guard.trace import Status

_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG
_SUBJECT = "guard.verification.subject"


def main(arguments: list[str]) -> int:
    """Become what ``guard verify`` told this process to be, then record the program."""
    told = circumstances.told()
    end_with(told.get("parent", 0))
    if "ranks" in told:
        return launch(told, arguments)
    circumstances.vary()
    if "turn" in told:
        turns.take(told["turn"], told["waiting"], told["own"])
    if "folder" in told:
        os.chdir(told["folder"])
    if told.get("leaves"):
        leave()
    if "seed" in told:
        _seed(told["seed"])
    from guard.__main__ import _COMMANDS

    status: int = import_module(_COMMANDS["record"]).main(arguments)
    return status


def _seed(seed: int) -> None:
    """Seed all generators that the program will find, and leave everything else as it is."""
    from guard.randomness.seeders import seed_everything

    seed_everything(seed)


def end_with(parent: int) -> None:
    """Have the system end this process when guard verify is killed, where it can (Linux)."""
    if parent and sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):
            import ctypes

            ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)


def leave() -> None:
    """End this process as soon as a step begins that is not recorded any more.

    Not at the end of the last recorded one: what a program saves of a step, it saves after the
    optimizer has done it. Evaluations in between are part of that, and end nothing.
    """
    ended = TraceWriter.end

    def end(self: TraceWriter, status: Status, message: str = "") -> None:
        ended(self, status, message)
        if status == "stopped":
            _leave_at_next_step()

    TraceWriter.end = end  # type: ignore[method-assign]


def _leave_at_next_step() -> None:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return
    modules: Any = import_module("torch.nn.modules.module")
    modules.register_module_forward_pre_hook(
        lambda module, _: _end() if module.training and torch.is_grad_enabled() else None
    )
    from guard.observe.optimizers import follow_steps

    follow_steps(ExitStack(), lambda *_: _end())


def _end() -> None:
    """Without finally, atexit and a last checkpoint."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def launch(told: Mapping[str, Any], arguments: Sequence[str]) -> int:
    """Become torchrun, whose ranks are each told what this process was; the status to end with.

    Each rank is in a session of its own, so that what ends this process would not reach it: it
    ends with this one, as this one does with guard verify. Where torch has been imported already,
    to be forked, the ranks are forked.
    """
    rest = {name: value for name, value in told.items() if name != "ranks"}
    os.environ[VARIABLE] = json.dumps({**rest, "parent": os.getpid()})
    if "torch" in sys.modules:
        from guard.verification import ranks

        ended = ranks.fork(told["ranks"])
        return main(list(arguments)) if ended is None else ended
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    start = ("--standalone", f"--nproc-per-node={told['ranks']}", "-m", _SUBJECT)
    try:
        run.main([*start, *arguments])
    except ChildFailedError as error:
        return max(1, error.get_first_failure()[1].exitcode)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
