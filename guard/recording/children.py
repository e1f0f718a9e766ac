"""The recording of this process, and what becomes of it in the processes that it starts."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from guard.observe.arrival import when_imported
from guard.observe.patching import replace
from guard.observe.spawning import send_along

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.recording.session import Session

_sessions: list[Session] = []  # one at most
_watches_forks: list[bool] = []


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
        stack.callback(when_imported("torch", session.install))
        given = (session.folder, session.options, list(session.command))
        send_along(stack, "guard_record", join, *given)
        yield


def _forked() -> None:
    """This process is a fork of one that records. What it computes is recorded when it becomes
    a rank of a process group, and has not been one before: a loader's worker does not."""
    session = current()
    if session is not None:
        session.abandon()
        if not _is_distributed():
            _wait_for_rank(session)


def _wait_for_rank(session: Session) -> None:
    when_imported("torch.distributed", functools.partial(_watch_groups, session))


def _watch_groups(session: Session) -> None:
    distributed: Any = sys.modules["torch.distributed"]
    if not distributed.is_available():
        return
    original = distributed.init_process_group

    @functools.wraps(original)
    def init(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = original(*args, **kwargs)
        if session.recorder is None and current() is session:
            session.install()
        return result

    replace(session.installed, distributed, "init_process_group", init)


def _is_distributed() -> bool:
    distributed: Any = sys.modules.get("torch.distributed")
    return bool(distributed and distributed.is_available() and distributed.is_initialized())


# Children that begin anew


def join(folder: str, options: Any, command: list[str]) -> None:  # noqa: ANN401
    """Record in a child, once it is a rank of a process group."""
    import atexit
    from multiprocessing import util

    from guard.recording.session import Session

    session = Session(folder, options, command, is_child=True)
    _sessions.append(session)
    session.follow_statements()
    _wait_for_rank(session)
    util.Finalize(session, session.end, ("finished",), exitpriority=10)
    atexit.register(session.end, "finished")
