"""Which line of the program something was called from, found out once for each line."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from guard import places

if TYPE_CHECKING:
    from types import FrameType

    from guard.places import Place

_known: dict[tuple[int, int], tuple[Any, Place | None]] = {}  # the code is kept, so that ids hold


def calling(frame: FrameType) -> Place | None:
    """The line that a frame is at; None if it is a library's. The same object for the same."""
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    found = _known.get(key)
    if found is None:
        found = _known[key] = (code, _place(frame))
    return found[1]


def _place(frame: FrameType) -> Place | None:
    code = frame.f_code
    if places.is_library(code.co_filename):
        return None
    return places.Place(code.co_filename, frame.f_lineno, code.co_name)


def own() -> Place | None:
    """The innermost line of the user's own files; where there is none, of an installed library."""
    installed: Place | None = None
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    while frame is not None:
        found = calling(frame)
        if found is not None and not places.is_installed(found.filename):
            return found
        installed = installed or found
        frame = frame.f_back
    return installed


def making(kind: type) -> Place | None:
    """The line of the user's own files that makes an object: the innermost one outside of the
    ``__init__`` of objects of a kind, which make others within."""
    found: Place | None = None
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    while frame is not None:
        if frame.f_code.co_name == "__init__" and issubclass(type(local(frame, "self")), kind):
            found = None
        elif found is None:
            place = calling(frame)
            own_file = place is not None and not places.is_installed(place.filename)
            found = place if own_file else None
        frame = frame.f_back
    return found


def local(frame: FrameType, name: str) -> Any:  # noqa: ANN401
    """A function's argument. Before Python 3.13, asking a frame for its variables makes a copy
    that lives as long as the frame, with all the tensors in it: it is emptied again."""
    code = frame.f_code
    if name not in code.co_varnames[: code.co_argcount] or not code.co_flags & inspect.CO_OPTIMIZED:
        return None
    found = frame.f_locals
    value = found.get(name)
    if sys.version_info < (3, 13):
        found.clear()
    return value
