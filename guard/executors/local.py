"""Runs as processes of this machine."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.executors import Task


class LocalJob:
    """A process in a group of its own."""

    def __init__(self, task: Task) -> None:
        with open(task.output, "wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - this Python, the user's program
                task.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(task.environ),
                cwd=task.folder,
                start_new_session=True,
            )

    @property
    def place(self) -> str:
        """The number of the process."""
        return f"process {self._process.pid}"

    def poll(self) -> int | None:
        """Its status, once it has ended."""
        return self._process.poll()

    def end(self, which: int) -> None:
        """Send a signal to the group; what a process that ended has left there gets it, too."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, which)
            elif self._process.poll() is None:
                self._process.terminate()


class LocalExecutor:
    """Starts a process at once."""

    is_local = True

    def start(self, task: Task) -> LocalJob:
        """Start it."""
        return LocalJob(task)

    def close(self) -> None:
        """Nothing is kept."""


def start(options: Mapping[str, str], _: str) -> LocalExecutor:
    """Raises GuardError for an option: there is none."""
    if options:
        raise GuardError(f"--executor-option {next(iter(options))}: local runs have no options")
    return LocalExecutor()
