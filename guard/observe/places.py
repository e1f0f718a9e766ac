"""Where in the user's program something happens: the line, and the module of the model."""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.dependencies import loaded

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from types import FrameType, TracebackType

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN = tuple(os.path.join(_ROOT, each, "") for each in ("guard", "detlint"))
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_TRACED_LINE = r'File "([^"]+)", line (\d+), in (\S+)'
_TYPED = ("<ipython-input", "<stdin>", "<string>")
_INSTALLED = ("site-packages", "dist-packages")
_names: dict[str, frozenset[str]] = {}  # by folder, what was installed into it
_known: dict[tuple[int, int], tuple[Any, Place | None]] = {}  # the code is kept, so that ids hold


class Place(NamedTuple):
    """A line of the user's program."""

    filename: str
    line: int
    function: str
    # path of the innermost ``nn.Module`` around it, from the outermost: "encoder.pool"; "" where
    # there is none, or only the outermost
    module: str = ""
    kind: str = ""  # that module's class name, or ""
    # whether it is where torch.compile's code was made from, and not the line itself
    traced: bool = False

    @property
    def code(self) -> str:
        """The line's text, or "" where the source is not there."""
        return linecache.getline(self.filename, self.line).strip()

    @property
    def file(self) -> str:
        """Its file, relative to the working folder where it lies below that."""
        name = os.path.relpath(self.filename) if os.path.isfile(self.filename) else self.filename
        return self.filename if name.startswith("..") else name

    @property
    def short(self) -> str:
        """As editors take it: "train.py:12"."""
        return f"{self.file}:{self.line}"

    @property
    def inside(self) -> str:
        """The module of the model, by its path and class: "encoder.pool (MaxPool2d)"; or ""."""
        return f"{self.module} ({self.kind})" if self.module else self.kind

    def __str__(self) -> str:
        where = "" if self.function == "<module>" else f", in {self.function}"
        text = f"{self.file}, line {self.line}{where}"
        if self.traced:
            return f"in what torch.compile made of {text}; without it, the line itself is named"
        return text


class Trail(NamedTuple):
    """A place and the modules around it, outermost first, from which its path is worked out
    when it is asked for: names of modules take a walk over the model."""

    place: Place
    modules: tuple[Any, ...]

    def resolve(self) -> Place:
        """The place with the module's path."""
        if not self.modules:
            return self.place
        outer, inner = self.modules[0], self.modules[-1]
        names = [name for name, each in outer.named_modules() if each is inner]
        return self.place._replace(module=names[0] if names else "", kind=type(inner).__name__)


def here(outside: str = "") -> Trail | None:
    """The user's line that is running now, outside of some file; None if all of the stack is
    torch's."""
    return _trail(_lines(sys._getframe(1)), outside)  # noqa: SLF001 - the documented way


def of_error(error: BaseException) -> Trail | None:
    """The user's innermost line in an error's traceback, below and above where it was caught.

    Where torch.compile failed to trace a program, it is the line that torch's text names.
    """
    named = re.findall(_TRACED_LINE, str(error).partition("from user code:")[2])
    if named:
        filename, line, function = named[-1]
        return Trail(Place(filename, int(line), function), ())
    entries = list(_entries(error.__traceback__))
    if not entries:
        return None
    inward = [(entry.tb_frame, entry.tb_lineno) for entry in reversed(entries)]
    return _trail([*inward, *_lines(entries[0].tb_frame.f_back)])


def own_of_error(error: BaseException) -> Place | None:
    """The innermost line of the user's own files in an error's traceback; where there is none,
    of an installed library."""
    for entry in reversed(list(_entries(error.__traceback__))):
        code = entry.tb_frame.f_code
        if is_own(code.co_filename):
            return Place(code.co_filename, entry.tb_lineno, code.co_name)
    trail = of_error(error)
    return None if trail is None else trail.place


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def outward(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame, and those that called it."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _lines(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    return ((each, each.f_lineno) for each in outward(frame))


def _trail(frames: Any, outside: str = "") -> Trail | None:  # noqa: ANN401
    """Of frames with their lines, innermost first."""
    place: Place | None = None
    modules: list[Any] = []
    traced = False
    for frame, line in frames:
        module = _module_of(frame)
        if module is not None and (not modules or modules[-1] is not module):
            modules.append(module)
        filename = frame.f_code.co_filename
        if place is None:
            traced = traced or filename.startswith("<eval_with_key>")
            if filename != outside and not is_library(filename):
                place = Place(filename, line, frame.f_code.co_name, traced=traced)
    if place is None:
        return None
    return Trail(place, () if traced else tuple(reversed(modules)))


def _module_of(frame: FrameType) -> Any:  # noqa: ANN401
    """The ``nn.Module`` whose ``forward`` a frame runs."""
    if frame.f_code.co_name != "_call_impl":  # every call of a module passes it
        return None
    return frame.f_locals.get("self")


def is_installed(filename: str) -> bool:
    """Whether a file came with a package, and is not the user's own."""
    return filename.startswith(_STANDARD) or is_of_package(filename)


def is_of_package(filename: str) -> bool:
    """Whether a file came with a package that is not Python's own."""
    return any(each in filename for each in _INSTALLED) or is_distributed(filename, sys.path)


def is_distributed(filename: str, folders: Iterable[str]) -> bool:
    """Whether a file is of what was installed into one of some folders, as by ``pip install
    --target``; of what else lies there it is not."""
    for folder in folders:
        start = folder + os.sep
        if folder and filename.startswith(start):
            name = filename.removeprefix(start).partition(os.sep)[0]
            if name in _distributed(folder):
                return True
    return False


def _distributed(folder: str) -> frozenset[str]:
    """The names in a folder that were installed into it; none of where all is installed."""
    if folder not in _names:
        _names[folder] = frozenset()  # who looks on while it is read asks the same
        found = set[str]()
        with suppress(OSError):
            is_asked = not folder.startswith(_STANDARD[:-1])
            for each in os.listdir(folder) if is_asked else ():
                if each.endswith(".dist-info"):
                    with open(os.path.join(folder, each, "RECORD"), encoding="utf-8") as file:
                        found.update(re.split(r"[/,]", line)[0] for line in file)
        _names[folder] = frozenset(found)
    return _names[folder]


def is_own(filename: str) -> bool:
    """Whether a file is the program's own: no package's, and not Python's, torch's or guard's."""
    return not is_installed(filename) and not is_library(filename)


def caller(outside: tuple[str, ...]) -> FrameType:
    """The innermost frame of a file that begins with none of these; else the outermost."""
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    while frame.f_back is not None and frame.f_code.co_filename.startswith((__file__, *outside)):
        frame = frame.f_back
    return frame


def is_library(filename: str) -> bool:
    """Whether a frame is Python's, torch's, guard's or generated: a notebook's cell is not."""
    if filename.startswith("<"):
        return not filename.startswith(_TYPED)
    if filename.startswith(_STANDARD):
        return not is_of_package(filename) or _is_of_torch(filename)
    return filename.startswith(OWN) or _is_of_torch(filename)


def _is_of_torch(filename: str) -> bool:
    torch = loaded("torch")
    return torch is not None and filename.startswith(os.path.dirname(torch.__file__ or "") + os.sep)


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
    if is_library(code.co_filename):
        return None
    return Place(code.co_filename, frame.f_lineno, code.co_name)


def own() -> Place | None:
    """The innermost line of the user's own files; where there is none, of an installed library."""
    installed: Place | None = None
    for frame in outward(sys._getframe(1)):  # noqa: SLF001 - the documented way to a frame
        found = calling(frame)
        if found is not None and not is_installed(found.filename):
            return found
        installed = installed or found
    return installed


def asking(beside: Container[str] = ()) -> Place | None:
    """The line of the user's own files that calls what is Python's own; None where a library
    does, or by functions of Python's that have these names."""
    for frame in outward(sys._getframe(1)):  # noqa: SLF001 - the documented way to a frame
        name = frame.f_code.co_filename
        is_pythons = name.startswith((_STANDARD, "<frozen")) and not is_of_package(name)
        if not is_pythons and not name.startswith(OWN):
            return calling(frame) if is_own(name) else None
        if frame.f_code.co_name in beside:
            return None
    return None


def making(kind: type) -> Place | None:
    """The line of the user's own files that makes an object: the innermost one outside of the
    ``__init__`` of objects of a kind, which make others within."""
    found: Place | None = None
    for frame in outward(sys._getframe(1)):  # noqa: SLF001 - the documented way to a frame
        if frame.f_code.co_name == "__init__" and issubclass(type(local(frame, "self")), kind):
            found = None
        elif found is None:
            place = calling(frame)
            own_file = place is not None and not is_installed(place.filename)
            found = place if own_file else None
    return found


def local(frame: FrameType, name: str) -> Any:  # noqa: ANN401
    """A function's argument."""
    code = frame.f_code
    if name not in code.co_varnames[: code.co_argcount] or not code.co_flags & inspect.CO_OPTIMIZED:
        return None
    return variables(frame).get(name)


def variables(frame: FrameType) -> dict[str, Any]:
    """A frame's. Before Python 3.13, asking a function's frame for them makes a copy that lives as
    long as the frame, with all the tensors in it: it is emptied again."""
    found = frame.f_locals
    given = dict(found)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        found.clear()
    return given
