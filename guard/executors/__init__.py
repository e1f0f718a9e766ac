"""Where the runs of a program are: on this machine, or where Slurm or Ray put them.

Whoever starts a run gives a Task and gets a Job. Queues, machines and limits are those of Slurm and
Ray; nothing is scheduled here. A run's output is a file, so other machines have to see its folder.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from guard.errors import GuardError
from guard.executors import remote
from guard.executors.board import preparing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_GRACE = 3.0  # seconds between asking runs to end and ending them
_PAUSE = 0.02
# How each is called, and what has to be installed for it.
NAMES = {"local": "", "slurm": "submitit", "ray": "ray"}


class Task(NamedTuple):
    """A run that is to be."""

    command: tuple[str, ...]  # its command line
    environ: Mapping[str, str]  # all its variables
    folder: str  # in which it works
    output: str  # the file that gets what it writes to stdout and stderr


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


class Away:
    """A run that Slurm or Ray was given; where they lose it, it ends with 1 and its output says so.

    ask   whether it has ended, how it ended, and to call it off: functions of theirs
    lost  what to say of an error by which it was lost
    name  theirs for it
    """

    def __init__(
        self,
        task: Task,
        note: str,
        ask: tuple[Callable[[], bool], Callable[[], int], Callable[[], object]],
        lost: Callable[[Exception], str],
        name: str = "",
    ) -> None:
        self._output, self._note, self._name, self._lost = task.output, note, name, lost
        self._has_ended, self._result, self._cancel = ask
        self._status: int | None = None

    @property
    def place(self) -> str:
        """The machine and the process."""
        begun = remote.read(self._note)
        return f"{self._name}{begun}" if begun else ""

    def poll(self) -> int | None:
        """Its status, once it has ended."""
        if self._status is None and self._has_ended():
            try:
                self._status = self._result()
            except Exception as error:  # noqa: BLE001 - of several libraries, and of the worker
                remote.append(self._output, self._lost(error))
                self._status = 1
        return self._status

    def end(self, which: int) -> None:
        """Call it off, if it has not ended."""
        if self._status is None:
            self._status = -which
            self._cancel()


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
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
