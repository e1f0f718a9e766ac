"""What a run tells of itself with ``--verbose``: which rules took the time, and where a search was
ended by its budget. Nothing is noted unless a journal is open."""

from __future__ import annotations

from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    T = TypeVar("T")


class Notes(NamedTuple):
    """``seconds``: by rule. ``ended``: where a search was ended, as path, rule, place and limit.
    ``linted``: how many files were."""

    seconds: dict[str, float]
    ended: dict[tuple[str, str, str, str], None]
    linted: list[str]


_NOTHING = nullcontext()
_open: Notes | None = None
_asked = ("", "")  # the path and the rule that are asked now


def begin() -> None:
    """Open a journal in this process, and forget what one held."""
    global _open  # noqa: PLW0603 - a process has one
    _open = Notes({}, {}, [])


def close() -> None:
    """Note nothing any more."""
    global _open  # noqa: PLW0603 - as above
    _open = None


def is_open() -> bool:
    """Whether something is noted."""
    return _open is not None


def notes() -> Notes:
    """What was noted."""
    return _open or Notes({}, {}, [])


def drained() -> Notes | None:
    """The same, to be sent to another process, and then forgotten here."""
    told = _open
    if told is not None:
        begin()
    return told


def add(told: Notes | None) -> None:
    """What another process noted."""
    if told is None or _open is None:
        return
    for code, seconds in told.seconds.items():
        _open.seconds[code] = _open.seconds.get(code, 0.0) + seconds
    _open.ended.update(told.ended)
    _open.linted.extend(told.linted)


def linted(path: str) -> None:
    """Note that a file is linted, and not known from an earlier run."""
    if _open is not None:
        _open.linted.append(path)


def ended(place: str, limit: str) -> None:
    """Note that the search that the rule of now makes did not go on."""
    if _open is not None:
        path, code = _asked
        _open.ended[path, code, place, limit] = None


def asking(path: str, code: str) -> AbstractContextManager[None]:
    """While a rule is asked of a file, or of a program by its path."""
    return _NOTHING if _open is None else _Asking(path, code)


def timed(handler: Callable[[T], None], path: str, code: str) -> Callable[[T], None]:
    """A handler of a rule, whose time is noted."""
    if _open is None:
        return handler

    def handle(node: T) -> None:
        with _Asking(path, code):
            handler(node)

    return handle


class _Asking:
    """Rules ask no others, but a rule may be asked while a program is judged."""

    def __init__(self, path: str, code: str) -> None:
        self._now = path, code

    def __enter__(self) -> None:
        global _asked
        self._before, _asked = _asked, self._now
        self._begun = perf_counter()

    def __exit__(self, *_: object) -> None:
        global _asked  # noqa: PLW0603 - as above
        taken, code = perf_counter() - self._begun, self._now[1]
        _asked = self._before
        seconds = notes().seconds
        seconds[code] = seconds.get(code, 0.0) + taken
        if self._before[1]:  # its time is not that of the one around it
            seconds[self._before[1]] = seconds.get(self._before[1], 0.0) - taken
