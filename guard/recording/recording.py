"""``with guard.record(folder)``, and the one recording that a process can have."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.recording import children
from guard.recording.options import Options
from guard.recording.session import Session

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from guard.trace import Status


@contextmanager
def record(
    folder: str | os.PathLike[str],
    *,
    values: bool = False,
    state_every: int = 50,
    until: int | None = None,
) -> Iterator[None]:
    """Record fingerprints of what is computed inside, for ``python -m guard compare``::

        with guard.record("run1"):
            train()

    The folder gets a file for each rank, ``rank0.trace``. Recording changes no result and no
    generator. ``values`` keeps summaries of the numbers as well, ``state_every`` is how many
    steps lie between full recordings of parameters, buffers and optimizers' states, and
    ``until`` is the number of the last step to record; the first one is 0.

    Raises GuardError where the folder cannot be written or a recording runs already;
    MissingDependencyError without torch.
    """
    from guard.dependencies import import_torch

    import_torch("guard.record")
    options = Options(values=values, state_every=state_every, until=until)
    with running(folder, options, sys.argv):
        yield


@contextmanager
def running(
    folder: str | os.PathLike[str], options: Options, command: Sequence[str]
) -> Iterator[Session]:
    """A recording from here to the end of the block, of which it notes how it ended."""
    if children.current() is not None:
        raise GuardError("a recording runs already: end it before another one begins")
    session = Session(folder, options, list(command))
    with children.following(session):
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
