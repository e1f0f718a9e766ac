"""Where the runs of a program are: on this machine, or where Slurm or Ray put them.

Whoever starts a run gives a Task and gets a Job. Queues, machines and limits are those of Slurm and
Ray; nothing is scheduled here. A run's output is a file, so other machines have to see its folder.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from guard.errors import GuardError
from guard.executors.board import preparing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_GRACE = 3.0  # seconds between asking runs to end and ending them
_PAUSE = 0.02
# How each is called, and what has to be installed for it.
NAMES = {"local": "", "slurm": "submitit", "ray": "ray"}


class Task(NamedTuple):
    """A run that is to be.

    command  its command line
    environ  all its variables
    folder   in which it works
    output   the file that gets what it writes to stdout and stderr
    """

    command: tuple[str, ...]
    environ: Mapping[str, str]
    folder: str
    output: str


class Ended:
    """A run of an earlier time, which ended well."""

    place = "kept from before"

    def poll(self) -> int:
        """0."""
        return 0

    def end(self, which: int) -> None:
        """There is nothing to end."""


class Job(Protocol):
    """A run that was handed over."""

    def poll(self) -> int | None:
        """The status that it ended with, negative for a signal; None before that."""

    def end(self, which: int) -> None:
        """Send a signal to it and to what it has started, or call it off."""

    @property
    def place(self) -> str:
        """Where it runs, or ran; "" as long as it waits for a place."""


class Executor(Protocol):
    """Starts runs.

    is_local  whether they share this machine, so that few of them may run at a time
    """

    is_local: bool

    def start(self, task: Task) -> Job:
        """Hand a run over. Raises GuardError."""

    def close(self) -> None:
        """Let go of what was started for the runs; they have ended."""


def executor(name: str, options: Mapping[str, str], folder: str) -> Executor:
    """The one of that name. Raises GuardError where it cannot be had.

    options  as its own library names them: ``timeout_min``, ``num_gpus``
    folder   for the files of its own
    """
    package = NAMES[name]
    with preparing(name) if package else nullcontext():
        if package:
            _check_installed(name, package)
        module: Any = import_module(f"guard.executors.{name}")
        made: Executor = module.start(options, folder)
    return made


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let what ends this process end the runs that it has started as well, as Ctrl-C does."""

    def end(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    found: dict[int, Any] = {
        number: signal.signal(number, end) for number in (getattr(signal, name) for name in names)
    }
    try:
        yield
    finally:
        for number, handler in found.items():
            signal.signal(number, handler)


def stop(jobs: Sequence[Job]) -> None:
    """End what still runs: asked first, so that it can flush and clean up."""
    for which in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        for each in jobs:
            if each.poll() is None:
                each.end(which)
        until = time.monotonic() + _GRACE
        while time.monotonic() < until and any(each.poll() is None for each in jobs):
            time.sleep(_PAUSE)


def _check_installed(name: str, package: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        raise GuardError(
            f"--executor {name} needs the package {package} ({error}): pip install {package}"
        ) from None


def values(options: Mapping[str, str]) -> dict[str, Any]:
    """Options with their numbers as such, as libraries take them."""
    return {name: _value(text) for name, text in options.items()}


def _value(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
