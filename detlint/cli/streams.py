"""The standard streams as a shell may leave them: closed, onto a full disk, or read by nobody."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from detlint.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO


def open_closed() -> None:
    """Give a stream that is closed, which Python leaves out, a descriptor: to write to standard
    output then fails, and what is said on standard error is lost."""
    if sys.stdout is None:
        unwritable = os.open(os.devnull, os.O_RDONLY)
        sys.stdout = open(unwritable, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end


def write(stream: TextIO, pieces: Iterable[str | bytes]) -> None:
    """Write text, or bytes as they are, behind what is not yet written. Raises OutputError."""
    for piece in pieces:
        with _writing(stream):
            if isinstance(piece, str):
                stream.write(piece)
            else:
                stream.flush()
                stream.buffer.write(piece)
    with _writing(stream):
        stream.flush()


def tell(lines: Iterable[str]) -> None:
    """Write lines to standard error, if somebody reads it."""
    with suppress(OutputError):
        write(sys.stderr, (f"{line}\n" for line in lines))


@contextmanager
def _writing(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python writes what is left once more when it ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise OutputError from error
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"the output cannot be written: {reason}") from error
