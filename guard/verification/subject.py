"""The process of one run: ``python -m guard.verification.subject``, with ``record``'s arguments.

Runs side by side that share files: each writes when those before it have ended. As if they had
been started one after the other, which is how a person would compare them, and yet they are
compared while they run, up to where the first of them writes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.observe import patching
from guard.observe.patching import around
from guard.observe.places import OWN, calling, is_own, outward
from guard.program import write_whole
from guard.trace import TraceWriter
from guard.verification.left_files import Journal, is_library
from guard.verification.plan import VARIABLE, told_by_parent, vary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from guard.trace import Status

_PAUSE = 0.05  # seconds between two looks at whether it is one's turn
_WRITES = frozenset("wax+")
_LISTS = ("os.listdir", "os.scandir")
_IMPORTING = "<frozen importlib"  # what looks for modules, by its file
# What stands between a program that lists a folder and the note of it.
_BETWEEN = (
    __file__,
    patching.__file__,
    os.path.join(os.path.dirname(__file__), "perturbations.py"),
)
_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DATABASE = "sqlite3.connect"
# Events of Python's own, with the places of the paths that they would change.
_CHANGES = {
    **dict.fromkeys(("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree"), (0,)),
    **dict.fromkeys(("os.link", "os.symlink"), (1,)),
    _DATABASE: (0,),
    "os.rename": (0, 1),
}


def take_turns(turn: str, waiting: str, own: Sequence[str], journal: str, *apart: str) -> None:
    """Have this process wait, before it writes to a file of the user's, for a file ``turn``.

    waiting  a file in which it says what it waits to write
    own      folders in which it may write at any time
    journal  a file in which it notes what it reads and writes elsewhere
    apart    the copy of the working folder that it works in, and the folder that it has to itself
             for temporary files; "" where there is none

    Covers what Python opens, makes, renames and removes, and ``torch.save``; not what other
    libraries write in C++ or Rust.
    """
    gate = _Gate(turn, waiting, own, Journal(journal, *apart))
    _note_asking(gate)

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            gate.opening(*given[:3])
        elif event in _LISTS:
            gate.listing(given[0])
        for place in _CHANGES.get(event, ()):
            gate.change(given[place], reads=event == _DATABASE)

    sys.addaudithook(hook)


class _Gate:
    def __init__(self, turn: str, waiting: str, own: Sequence[str], journal: Journal) -> None:
        self.journal = journal
        self._turn = turn
        self._waiting = waiting
        self._own = tuple(os.path.realpath(each) + os.sep for each in own)
        self._is_open = False
        self._saves = False
        self._asking = False

    def opening(self, path: Any, mode: Any, flags: Any) -> None:  # noqa: ANN401
        self._watch_saves()
        is_flagged = isinstance(flags, int) and bool(flags & _FLAGS)
        if not _WRITES.isdisjoint(mode) if isinstance(mode, str) else is_flagged:
            self.change(path, reads=isinstance(mode, str) and "r" in mode)
        elif not self._asking and (full := self.journal.reading(path)):
            self._tell_of(full, writes=False)
        elif not self._asking:
            self.journal.missed(path, opens=True)

    def asked(self, path: Any) -> None:  # noqa: ANN401 - a path, or a number
        """Note what the program has found there that is not one's own."""
        if self._asking:
            return
        self._asking = True  # what follows asks itself
        try:
            full = self.journal.found(path)
            if full and not self._is_free(full):
                self.journal.note(full, writes=False, asks=True)
        finally:
            self._asking = False

    def listing(self, path: Any) -> None:  # noqa: ANN401 - a path, a number, or nothing
        """Note what a folder holds that is not one's own."""
        if self._asking or isinstance(path, int) or _is_by_itself():
            return
        full = os.path.realpath(os.fsdecode(path or "."))
        if self._is_free(full + os.sep) or _is_cached(full) or is_library(full):
            return
        self._asking = True
        try:
            self.journal.listed(full)
        finally:
            self._asking = False

    def change(self, path: Any, *, reads: bool = False) -> None:  # noqa: ANN401 - or a number
        """Wait, if this path is not one's own; ``reads``: what is there may be read as well."""
        if self._asking or not isinstance(path, (str, bytes, os.PathLike)):
            return
        if path == ":memory:":  # a database of sqlite's
            return
        self._tell_of(os.path.realpath(os.fsdecode(path)), writes=True, reads=reads)

    def _tell_of(self, full: str, *, writes: bool, reads: bool = False) -> None:
        """Note a file that is not one's own, and wait before it is written. For caches one does not
        wait; what imports read and write there decides nothing."""
        if self._is_free(full):
            if writes:
                self.journal.made(full)
            return
        is_cached = _is_cached(full)
        if is_cached and _is_importing():
            return
        self._asking = True  # what follows opens files itself
        try:
            if writes and not self._is_open and not is_cached:
                self._wait(full)
            if reads and os.path.isfile(full):
                self.journal.note(full, writes=False)
            self.journal.note(full, writes=writes)
        finally:
            self._asking = False

    def _is_free(self, full: str) -> bool:
        return full.startswith((*self._own, "/dev/", "/proc/")) or "__pycache__" in full

    def _wait(self, full: str) -> None:
        while not os.path.exists(self._turn):
            if not os.path.exists(self._waiting):
                self._tell(full)
            time.sleep(_PAUSE)
        self._is_open = True
        with suppress(OSError):
            os.remove(self._waiting)

    def _tell(self, full: str) -> None:
        """Say what is waited for."""
        with suppress(OSError):
            write_whole(self._waiting, full)

    def _watch_saves(self) -> None:
        """``torch.save`` opens its file in C++; torch may not have been imported so far."""
        serialization = sys.modules.get("torch.serialization")
        if self._saves or not hasattr(serialization, "_open_zipfile_writer"):
            return
        self._saves = True

        @around(ExitStack(), serialization, "_open_zipfile_writer")
        def _(opener: Callable[[Any], Any], name_or_buffer: Any) -> Any:  # noqa: ANN401
            self.change(name_or_buffer)
            return opener(name_or_buffer)


def _is_cached(full: str) -> bool:
    """Whether a file is a cache or a setting of the user's, made for several processes."""
    return full.startswith(os.path.join(os.path.expanduser("~"), "."))


def _is_by_itself() -> bool:
    """Whether Python lists a folder to find modules, or guard does; and no program or library."""
    for frame in outward(sys._getframe(2)):  # noqa: SLF001 - the documented way to a frame
        name = frame.f_code.co_filename
        if name.startswith(_IMPORTING) or (name.startswith(OWN) and name not in _BETWEEN):
            return True
        if calling(frame) is not None:
            return False
    return True


def _is_importing() -> bool:
    """Whether no line of the program's does it, or one that imports a module."""
    for frame in outward(sys._getframe(1)):  # noqa: SLF001 - the documented way to a frame
        name = frame.f_code.co_filename
        if name.startswith(_IMPORTING):
            return True
        if is_own(name):
            return False
    return True


def _note_asking(gate: _Gate) -> None:
    """Note the files that are asked for by ``os.stat``, as by ``os.path`` and ``pathlib``."""
    original = os.stat

    @around(ExitStack(), os, "stat")
    def stat(ask: Callable[..., Any], path: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401
        try:
            found = ask(path, *more, **named)
        except FileNotFoundError:
            gate.journal.missed(path)
            raise
        gate.asked(path)
        return found

    for able in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        able.update({stat} if original in able else ())


_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG
_SUBJECT = "guard.verification.subject"


def main(arguments: list[str]) -> int:
    """Become what ``guard verify`` told this process to be, then record the program."""
    told = told_by_parent()
    end_with(told.get("parent", 0))
    if "ranks" in told:
        return launch(told, arguments)
    vary()
    if "turn" in told:
        apart = told.get("folder", ""), told.get("temporary", "")
        take_turns(told["turn"], told["waiting"], told["own"], told["journal"], *apart)
    if "folder" in told:
        os.chdir(told["folder"])
    if told.get("leaves"):
        leave()
    if "seed" in told:
        _seed(told["seed"])
    from guard.__main__ import _COMMANDS

    status: int = import_module(_COMMANDS["record"]).main(arguments)
    return status


def _seed(seed: int) -> None:
    """Seed all generators that the program will find, and leave everything else as it is."""
    from guard.setup.seeding import seed_everything

    seed_everything(seed)


def end_with(parent: int) -> None:
    """Have the system end this process when guard verify is killed, where it can (Linux)."""
    if parent and sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):
            import ctypes

            ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)


def leave() -> None:
    """End this process as soon as a step begins that is not recorded any more.

    Not at the end of the last recorded one: what a program saves of a step, it saves after the
    optimizer has done it. Evaluations in between are part of that, and end nothing.
    """

    @around(ExitStack(), TraceWriter, "end")
    def _(ended: Callable[..., None], writer: TraceWriter, status: Status, *more: str) -> None:
        ended(writer, status, *more)
        if status == "stopped":
            _leave_at_next_step()


def _leave_at_next_step() -> None:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return
    modules: Any = import_module("torch.nn.modules.module")
    modules.register_module_forward_pre_hook(
        lambda module, _: _begins() if module.training and torch.is_grad_enabled() else None
    )
    from guard.observe.modes import follow_steps

    follow_steps(ExitStack(), lambda *_: _end())


def _begins() -> None:
    """The step begins, whose forward will not run."""
    from guard.recording.recording import current

    session = current()
    with suppress(OSError):
        if session is not None:
            session.training_begins()
    _end()


def _end() -> None:
    """Without finally, atexit and a last checkpoint."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def launch(told: Mapping[str, Any], arguments: Sequence[str]) -> int:
    """Become torchrun, whose ranks are each told what this process was; the status to end with.

    Each rank is in a session of its own, so that what ends this process would not reach it: it
    ends with this one, as this one does with guard verify. Where torch has been imported already,
    to be forked, the ranks are forked.
    """
    rest = {name: value for name, value in told.items() if name != "ranks"}
    os.environ[VARIABLE] = json.dumps({**rest, "parent": os.getpid()})
    if "torch" in sys.modules:
        from guard.verification import forkserver

        ended = forkserver.fork_ranks(told["ranks"])
        return main(list(arguments)) if ended is None else ended
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    start = ("--standalone", f"--nproc-per-node={told['ranks']}", "-m", _SUBJECT)
    try:
        run.main([*start, *arguments])
    except ChildFailedError as error:
        return max(1, error.get_first_failure()[1].exitcode)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
