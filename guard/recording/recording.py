"""``with guard.record(folder)``: the one recording that a process can have, and what becomes of it
in the processes that it starts."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from guard.dependencies import process_group
from guard.errors import GuardError
from guard.observe.patching import around, send_along, when_imported
from guard.recording.session import Options, Session, check_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from guard.trace import Status

_sessions: list[Session] = []  # one at most
_watches_forks: list[bool] = []


@contextmanager
def record(
    folder: str | os.PathLike[str],
    *,
    values: bool = False,
    state_every: int = 50,
    until: int | None = None,
    overwrite: bool = False,
) -> Iterator[None]:
    """Record fingerprints of what is computed inside, for ``python -m guard compare``::

        with guard.record("run1"):
            train()

    The folder gets a file for each rank, ``rank0.trace``. Recording changes no result and no
    generator. ``values`` keeps summaries of the numbers as well, ``state_every`` is how many
    steps lie between full recordings of parameters, buffers and optimizers' states, and
    ``until`` is the number of the last step to record; the first one is 0. ``overwrite`` puts
    the recording in the place of one that the folder holds.

    Raises GuardError where the folder cannot be written or holds a recording, or where one runs
    already; MissingDependencyError without torch.
    """
    from guard.dependencies import import_torch

    import_torch("guard.record")
    options = Options(values=values, state_every=state_every, until=until)
    with running(folder, options, sys.argv, overwrite=overwrite):
        yield


@contextmanager
def running(
    folder: str | os.PathLike[str],
    options: Options,
    command: Sequence[str],
    *,
    overwrite: bool = False,
) -> Iterator[Session]:
    """A recording from here to the end of the block, of which it notes how it ended. Without
    ``overwrite``, GuardError is raised where one lies there."""
    if current() is not None:
        raise GuardError("a recording runs already: end it before another one begins")
    if not overwrite:
        check_empty(folder)
    session = Session(folder, options, list(command))
    with following(session):
        session.follow_statements()
        try:
            yield session
        except SystemExit as error:
            session.end(*_of_exit(error))
            raise
        except BaseException as error:
            session.end("raised", _named(error))
            raise
        session.end("finished")


def _of_exit(error: SystemExit) -> tuple[Status, str]:
    if error.code in (None, 0):
        return "finished", ""
    return "raised", f"SystemExit: {error.code}"


def _named(error: BaseException) -> str:
    text = str(error).splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


# Children that are forked


def current() -> Session | None:
    """The recording of this process."""
    return _sessions[-1] if _sessions else None


@contextmanager
def following(session: Session) -> Iterator[None]:
    """Follow torch once it is there, and the children that become ranks of a process group."""
    _sessions.append(session)
    if not _watches_forks and hasattr(os, "register_at_fork"):
        _watches_forks.append(True)
        os.register_at_fork(after_in_child=_forked)
    with ExitStack() as stack:
        stack.callback(_sessions.clear)
        _note_replacing(stack, session)
        stack.callback(when_imported("torch", session.install))
        given = (session.folder, session.options, list(session.command))
        send_along(stack, "guard_record", join, *given)
        yield


def _note_replacing(stack: ExitStack, session: Session) -> None:
    """Have the line noted at which ``os.exec…`` begins another program, or this one anew."""
    from guard.observe.places import own

    for name in ("execv", "execve"):  # which all others call

        @around(stack, os, name)
        def _(original: Callable[..., Any], *given: Any) -> None:
            place = own()
            with session.replaced(f"{place.filename}:{place.line}" if place else "os.exec"):
                original(*given)


def _forked() -> None:
    """This process is a fork of one that records. What it computes is recorded when it becomes
    a rank of a process group, and has not been one before: a loader's worker does not."""
    session = current()
    if session is not None:
        session.abandon()
        if process_group() is None:
            _wait_for_rank(session)
            when_imported("torch", functools.partial(_note_training, session))


def _wait_for_rank(session: Session) -> None:
    when_imported("torch.distributed", functools.partial(_watch_groups, session))


def _watch_groups(session: Session) -> None:
    distributed: Any = sys.modules["torch.distributed"]
    if not distributed.is_available():
        return

    @around(session.installed, distributed, "init_process_group")
    def _(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = original(*args, **kwargs)
        if session.recorder is None and current() is session:
            session.install()
        return result


def _note_training(session: Session) -> None:
    """Have a child note the line at which it first trains while nothing is recorded of it."""
    from guard.observe.modes import follow_steps
    from guard.observe.places import own

    noted: list[bool] = []

    def steps(*_: object) -> None:
        place = own() if session.recorder is None and not noted else None
        if place is not None:
            noted.append(True)
            with suppress(OSError), open(session.unrecorded, "a", encoding="utf-8") as file:
                file.write(f"{place.filename}:{place.line}\n")

    follow_steps(session.installed, steps)


# Children that begin anew


def join(folder: str, options: Any, command: list[str]) -> None:  # noqa: ANN401
    """Record in a child, once it is a rank of a process group."""
    import atexit
    from multiprocessing import util

    session = Session(folder, options, command, is_child=True)
    _sessions.append(session)
    session.follow_statements()
    _wait_for_rank(session)
    when_imported("torch", functools.partial(_note_training, session))
    util.Finalize(session, session.end, ("finished",), exitpriority=10)
    atexit.register(session.end, "finished")
