"""Runs of one program: each with its circumstances, its folders and its turn.

The folder in which a run works is a copy of the user's, so that runs do not share files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.executors import Ended, Task, executor, stop
from guard.executors.board import Board, Row
from guard.program import beside_guard, flags
from guard.rehearsal.side_effects import QUIET
from guard.verification.forkserver import ForkServer, Imported, imported_ahead
from guard.verification.hash_seeds import HashSeeds
from guard.verification.left_files import Left, found_by_one, journal_of, otherwise
from guard.verification.plan import CLOCK, LISTINGS, variables_of
from guard.verification.program_files import digest_of, program_files
from guard.verification.runs import Process, has_ended
from guard.verification.texts import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from guard.executors import Executor, Job
    from guard.verification.plan import Plan

LARGEST = 256 << 20  # bytes that are copied for a run without being asked to
MOST = 10_000  # files
_LEVELS = 2  # of folders above, whose entries "../data" finds
_NEIGHBOURS = 1_000  # entries of such a folder, at most
# Nothing that a run writes lies there: they are linked to, not copied.
_LINKED = {".git", ".hg", ".svn", ".venv", "venv", "node_modules", ".tox", ".nox", ".mypy_cache"}
_LEFT_OUT = {"__pycache__", ".pytest_cache", ".ruff_cache"}


def is_small(folder: str) -> bool:
    """Whether a folder is copied without being asked to: without what is only linked to."""
    size = count = 0
    with suppress(OSError):
        for entry in _entries(folder):
            if entry.is_file(follow_symlinks=False):
                size, count = size + entry.stat(follow_symlinks=False).st_size, count + 1
                if size > LARGEST or count > MOST:
                    return False
        return True
    return False


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if _is_copied_folder(entry):
                yield from _entries(entry.path)


def _is_copied_folder(entry: os.DirEntry[str]) -> bool:
    if not entry.is_dir(follow_symlinks=False) or entry.name in _LINKED | _LEFT_OUT:
        return False
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def copy_folder(folder: str, target: str, scratch: str) -> str:
    """Copy a folder to somewhere below ``target``; where it now lies.

    ``scratch``, in which ``target`` lies, is not copied if the folder holds it.

    What lies beside it and beside the folder above it is linked to, so that "../data" leads
    where it did. Times of files are kept. Raises OSError.
    """
    folder = os.path.realpath(folder)
    above = _folders_above(folder)
    for depth, each in enumerate(above):
        inner = above[depth + 1] if depth + 1 < len(above) else folder
        place = os.path.join(target, *map(os.path.basename, above[1 : depth + 1]))
        os.makedirs(place, exist_ok=True)
        _link_entries(each, place, without=os.path.basename(inner))
    place = os.path.join(target, *map(os.path.basename, [*above[1:], folder]))
    _copy(folder, place, folder, os.path.realpath(scratch))
    return place


def _folders_above(folder: str) -> list[str]:
    """The folders above, the outermost first, as far as they are of a size to be linked."""
    found: list[str] = []
    while len(found) < _LEVELS:
        folder, before = os.path.dirname(folder), folder
        if folder == before or not os.access(folder, os.R_OK):
            break
        if len(os.listdir(folder)) > _NEIGHBOURS:
            break
        found.insert(0, folder)
    return found


def _link_entries(folder: str, target: str, without: str) -> None:
    for name in os.listdir(folder):
        if name != without:
            os.symlink(os.path.join(folder, name), os.path.join(target, name))


def _copy(folder: str, target: str, root: str, without: str) -> None:
    os.makedirs(target, exist_ok=True)
    with os.scandir(folder) as entries:
        found = list(entries)
    for entry in found:
        place = os.path.join(target, entry.name)
        if entry.path == without:
            continue
        if _is_copied_folder(entry):
            _copy(entry.path, place, root, without)
        elif entry.is_symlink():
            _copy_link(entry.path, place, root)
        elif entry.is_dir():
            if entry.name not in _LEFT_OUT:
                os.symlink(entry.path, place)
        elif entry.is_file():  # no sockets and pipes
            shutil.copy2(entry.path, place)
    shutil.copystat(folder, target)


def _copy_link(path: str, place: str, root: str) -> None:
    """A link within the folder leads to the copy, any other to where it did."""
    target = os.path.realpath(path)
    if target.startswith(root + os.sep):
        os.symlink(os.path.relpath(target, os.path.dirname(path)), place)
    else:
        os.symlink(target, place)


_SUBJECT = "guard.verification.subject"
# What takes hold when a process starts: runs that share it can be forked from one.
_AT_START = ("PYTHONHASHSEED", "MALLOC_PERTURB_")


class Session:
    """Starts runs, each in a process with folders of its own.

    isolated  whether each run works in a copy of the working folder
    text      the program's own files
    """

    def __init__(self, plan: Plan, scratch: str, executor: Executor) -> None:
        self.plan = plan
        self._executor = executor
        self._board = Board(plan.runs)
        self.isolated = is_small(os.getcwd()) if plan.isolate is None else plan.isolate
        self._copies: dict[str, str] = {}
        self._scratch = scratch
        self.text = Text(program_files(plan.program, module=plan.module))
        self._hash_seeds = HashSeeds(self.text)
        self._started: list[Process] = []
        self._servers: dict[tuple[object, ...], ForkServer] = {}

    @property
    def count(self) -> int:
        """How many runs have been started."""
        return len(self._started)

    def left_to(self, other: Process, first: Process | None = None) -> tuple[Left, ...]:
        """What a run read or found as another one had left it, and the first run, or that one, did
        not."""
        one = first or self._started[0]
        return (*otherwise(one, other, self._started), *found_by_one(one, other))

    def start(
        self,
        varied: Mapping[str, int],
        options: Sequence[str] = (),
        *,
        arguments: Sequence[str] = (),
        place: str = "",
        leaves: bool = False,
    ) -> Process:
        """Start a run under these circumstances.

        options    of the recording, besides those of the plan
        arguments  of the program, after its own
        place      the folder of an earlier run, to go on in its working folder
        leaves     whether its process ends when the step after the last recorded one begins
        """
        if CLOCK.name not in self.plan.vary or not self.text.speaks_for(CLOCK.name):
            varied = {name: run for name, run in varied.items() if name != CLOCK.name}
        number = self.count
        folder = os.path.join(self._scratch, str(number))
        temporary = os.path.join(folder, "tmp")
        plan = self.plan
        name = ["-m", plan.program] if plan.module else [os.path.abspath(plan.program)]
        command = [*self._recorded(), *options, *name, *plan.arguments, *arguments]
        key = self._key(command, varied)
        if self.plan.goes_on and has_ended(folder, key):
            kept = Process(number, folder, lambda *_: Ended(), ranks=self.plan.ranks)
            self._started.append(kept)
            return kept
        shutil.rmtree(folder, ignore_errors=True)  # what an earlier session did not finish
        os.makedirs(temporary)
        environ = {**_environment(self.plan, temporary)}
        told = self._told(folder, place, leaves=leaves)
        if environ.get("TMPDIR") == temporary:
            told["temporary"] = temporary
        environ |= variables_of(varied, environ, self._hash_seeds.of, **told)

        server = self._server(environ, varied.get(LISTINGS.name, 0))

        def begin(where: Sequence[str], output: str) -> Job:
            if server is not None:
                return server.fork(environ, [*where, *command], output)
            line = (sys.executable, *flags(), "-m", _SUBJECT, *where, *command)
            return self._executor.start(Task(line, environ, os.getcwd(), output))

        process = Process(number, folder, begin, ranks=self.plan.ranks)
        process.key = key
        self._started.append(process)
        return process

    def _server(self, environ: Mapping[str, str], listings: int) -> ForkServer | None:
        """The process from which runs of these circumstances are forked, if they can be."""
        if not self._imported:
            return None
        key = (listings, *(environ.get(each) for each in _AT_START))
        if key not in self._servers or self._servers[key].status is not None:
            folder = os.path.join(self._scratch, f"server{len(self._servers)}")
            told = {"imports": self._imported, "permutes": listings}
            threads = {"OMP_NUM_THREADS": "1"} if self.plan.ranks > 1 else {}  # as torchrun does
            self._servers[key] = ForkServer(folder, {**threads, **environ}, flags(), told)
        return self._servers[key]

    @cached_property
    def _imported(self) -> tuple[Imported, ...]:
        """What is imported before runs are forked. Under guard, that is for guard to prepare."""
        plan = self.plan
        if plan.guard or sys.platform != "linux" or not self._executor.is_local:
            return ()
        return imported_ahead(self.text, ranks=plan.ranks)

    def _told(self, folder: str, place: str, *, leaves: bool) -> dict[str, object]:
        """What the process of a run is to know, besides its circumstances."""
        told: dict[str, object] = {
            "parent": os.getpid() if self._executor.is_local else 0,
            "turn": os.path.join(folder, "turn"),
            "waiting": os.path.join(folder, "waiting"),
            "journal": journal_of(folder),
            "own": [folder, *([place] if place else [])],
            "leaves": leaves,
        }
        if self.plan.ranks > 1:
            told["ranks"] = self.plan.ranks
        if self.plan.seed is not None and not self.plan.guard:
            told["seed"] = self.plan.seed
        if self.isolated:
            told["folder"] = self._workplace(place or folder)
        return told

    @cached_property
    def _files(self) -> bytes:
        return digest_of(self.text.files)

    def _key(self, command: Sequence[str], varied: Mapping[str, int]) -> str:
        """A digest of what a run depends on, as far as it is known."""
        plan = self.plan
        settings = sorted(each for each in os.environ.items() if each[0].startswith("GUARD_"))
        told = [list(command), sorted(varied.items()), plan.seed, plan.ranks, settings]
        return hashlib.sha256(json.dumps(told).encode() + self._files).hexdigest()

    def show(self) -> None:
        """Show what runs where, if that is not here."""
        if self._executor.is_local:
            return
        rows = [_row(each) for each in self._started]
        self._board.show(rows, sum(row.state == "ended" for row in rows))

    @property
    def places(self) -> tuple[str, ...]:
        """Which run was where, a sentence each; none if all were here."""
        if self._executor.is_local:
            return ()
        begun = (each for each in self._started if each.place)
        return tuple(f"run {each.number + 1} ran at {each.place}" for each in begun)

    def give_turns(self) -> None:
        """Let a run write to the user's files once all before it have ended."""
        for each in self._started:
            each.give_turn()
            if each.status is None:
                break

    def _workplace(self, folder: str) -> str:
        """The copy of the working folder that lies in a run's folder; made when first asked for."""
        if folder not in self._copies:
            target = os.path.join(folder, "files")
            try:
                self._copies[folder] = copy_folder(os.getcwd(), target, self._scratch)
            except (OSError, shutil.Error) as error:
                raise GuardError(f"the working folder could not be copied: {error}") from None
        return self._copies[folder]

    def _recorded(self) -> list[str]:
        """Options of the recording that the plan has."""
        plan = self.plan
        found = ["--guard"] * plan.guard + ["--values"] * plan.values
        return found + (["--replicas", str(plan.replicas)] if plan.replicas else [])

    def end(self) -> None:
        """End all that still runs."""
        self._board.close()
        stop(self._started)
        for each in self._servers.values():
            each.end()


@contextmanager
def session(plan: Plan, scratch: str) -> Iterator[Session]:
    """Runs that have ended when it is left, however it is left."""
    with closing(executor(plan.executor, dict(plan.executor_options), scratch)) as used:
        opened = Session(plan, scratch, used)
        try:
            yield opened
        finally:
            opened.end()


def _row(process: Process) -> Row:
    state = "ended" if process.status is not None else "running" if process.place else "waiting"
    return Row(f"run {process.number + 1}", state, process.place, told=f"{process.steps} steps")


def _environment(plan: Plan, temporary: str) -> dict[str, str]:
    environ = dict(os.environ)
    if plan.guard and plan.seed is not None:
        environ["GUARD_SEED"] = str(plan.seed)
    if not plan.trackers:
        environ = {**QUIET, **environ}
    if sys.platform == "linux":  # elsewhere its path is too long for sockets
        environ |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
    return beside_guard(environ)
