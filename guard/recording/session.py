"""A recording: its files, from its start to its end, in this process and in its children."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from guard.dependencies import process_group
from guard.errors import GuardError
from guard.trace import REPLACED, UNRECORDED, Header, TraceWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.recording.events import Events, Schema
    from guard.recording.recorder import Recorder
    from guard.recording.snapshots import Snapshot
    from guard.recording.tracer import Tracer
    from guard.trace import Status, StepKind

_NAME = "rank{}.trace"


@dataclass(frozen=True)
class Options:
    """The options of a recording."""

    values: bool = False  # summaries of tensors too
    # so many steps lie between full recordings of parameters, buffers and states
    state_every: int = 50
    until: int | None = None  # the number of the last step to record, or None
    operators: int | None = None  # the number of a step whose operators are recorded, or None
    # the module to whose forward, and its backward, the operators are limited; or ""
    module: str = ""
    first_step: int = 0  # the number of the first step, where a run was resumed
    # the number of the step up to which the program's statements are recorded, or None
    lines: int | None = None
    # the number of the step before which what the program holds is told, or None
    held: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """As the trace's header has them, with the name of the hash."""
        from guard.digests.hashing import HASH

        told = asdict(self)
        del told["held"]  # traces with it hold the same
        return {**told, "hash": HASH}


class Session:
    """Writes what a recorder collects. The file is begun with the first step."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        options: Options,
        command: list[str],
        *,
        is_child: bool = False,
    ) -> None:
        # of this process; None before torch is imported, and when nothing is recorded (more)
        self.recorder: Recorder | None = None
        self.options = options
        self.folder = os.path.abspath(folder)
        self.command = tuple(command)
        self.started = time.time()
        self.number = options.first_step
        self._has_trained = False
        self._writer: TraceWriter | None = None
        self._schemas: dict[bytes, int] = {}  # their numbers in the file, by their keys
        self.installed = ExitStack()
        self._is_child = is_child
        self._outcome: tuple[Status, str] | None = None
        self._tracer: Tracer | None = None
        self._snapshot: Snapshot | None = None
        self._lock = threading.RLock()  # several threads may train
        if not is_child:
            self._begin()

    def _begin(self) -> None:
        """Make the folder, and take away what an earlier recording left there."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            rank, size = _environ("RANK", 0), _environ("WORLD_SIZE", 1)
            for name in os.listdir(self.folder):
                if name in (UNRECORDED, REPLACED) and rank == 0:
                    os.remove(os.path.join(self.folder, name))
                middle = name.removeprefix("rank").partition(".trace")[0]
                if name.startswith("rank") and ".trace" in name and middle.isdecimal():
                    other = int(middle)
                    if other == rank or (rank == 0 and other >= size):
                        os.remove(os.path.join(self.folder, name))
        except OSError as error:
            raise GuardError(f"cannot record in {self.folder!r}: {error.strerror}") from None

    @property
    def unrecorded(self) -> str:
        """The file in which children that are no ranks note where they train."""
        return os.path.join(self.folder, UNRECORDED)

    @contextmanager
    def replaced(self, at: str) -> Iterator[None]:
        """Note that the program puts another one in its place: nothing is recorded of that. It
        goes on here if that fails."""
        path = os.path.join(self.folder, REPLACED)
        if not self._is_child:
            with suppress(OSError), open(path, "w", encoding="utf-8") as file:
                file.write(at)
        try:
            yield
        finally:
            with suppress(OSError):
                os.remove(path)

    # Installing

    def follow_statements(self) -> None:
        """Follow the program's statements from here on, if that was asked for."""
        if self.options.lines is not None:
            from guard.recording.tracer import Tracer  # most recordings go without

            self._tracer = Tracer(self.folder, self.options.lines)
            self._tracer.begin(None if self._is_child else "main")

    def install(self) -> None:
        """Begin to follow the program: torch has been imported.

        What the first step needs to be written is imported now: in the midst of the program, a
        tenth of a second would hide what comes from outside meanwhile, such as a signal.
        """
        from guard.recording import calls, constructions, generators, optimizers, recorder

        if not self._is_child:
            from guard.inventory import prepare

            prepare()
        operators = None
        if self.options.operators is not None:
            from guard.recording.operators import Operators

            operators = Operators(self.options.operators, self.options.module)
        self.recorder = recorder.Recorder(self, self.options, operators)
        for each in (constructions, calls, generators, optimizers):
            each.install(self.installed, self)
        if self.options.held is not None:
            from guard.recording.snapshots import Snapshot  # most recordings go without

            self._snapshot = Snapshot(self.options.held)
            self._snapshot.follow(self.installed)
        if operators is not None:
            operators.begin(self.recorder, self.number)

    def uninstall(self) -> None:
        """Follow the program no more."""
        recorder = self._let_go()
        if recorder is not None and recorder.operators is not None:
            recorder.operators.leave_all()
        self.installed.close()

    def _let_go(self) -> Recorder | None:
        """The recorder, which hears nothing more: the program may have kept what was installed."""
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            recorder.turn(muted=1)
        return recorder

    # Steps

    def write(self, kind: StepKind, events: Events, schema: Schema) -> None:
        """Write a step, and what its events are of. Raises OSError."""
        with self._lock:
            self._write(kind, events, schema)

    def training_begins(self) -> None:
        """A training step begins, whose forward has yet to run. Raises OSError."""
        rank, _ = _rank(is_child=self._is_child)
        if self._snapshot is not None and rank is not None:
            self._snapshot.take(self.number, self._path(rank))

    def _path(self, rank: int) -> str:
        return os.path.join(self.folder, _NAME.format(rank))

    def _write(self, kind: StepKind, events: Events, schema: Schema) -> None:
        writer = self._open()
        if writer is None:
            return
        self._again(kind, writer)
        number = self._schemas.get(schema.key)
        if number is None:
            number = self._schemas[schema.key] = writer.schema(schema.labels)
        body, digest = schema.packed(events, writer.header.digest_size)
        if self._tracer is not None:  # first, for who compares while this runs
            self._tracer.step_ends(self.number)
        writer.packed(kind, number, body, digest)
        last = self.number
        self.number += 1
        if last == self.options.until and kind != "end":
            self._stop("stopped", f"step {last} was the last to record")

    def _again(self, kind: StepKind, writer: TraceWriter) -> None:
        """Note the environment again where training begins after other steps: a program may
        measure in these what it then sets, as the number of threads."""
        if kind == "training" and not self._has_trained:
            self._has_trained = True
            if self.number > self.options.first_step:
                writer.environment(_environment()["items"])

    def _open(self) -> TraceWriter | None:
        """The writer of this process: its rank is known by the time of its first step."""
        if self._writer is None:
            rank, size = _rank(is_child=self._is_child)
            if rank is None:
                self.uninstall()
                return None
            self._writer = TraceWriter(self._path(rank), self._header(rank, size))
        return self._writer

    def _header(self, rank: int, size: int) -> Header:
        from guard.setup.seeding import current_seed

        in_detail = self.options.operators is not None
        return Header(
            digest_size=8 if in_detail else 4,
            rank=rank,
            world_size=size,
            command=self.command,
            folder=_folder(),
            started=self.started,
            seed=current_seed(),
            environment=_environment(),
            detail="operators" if in_detail else "steps",
            first_step=self.options.first_step,
            options=self.options.as_dict(),
        )

    # Ending

    def fail(self, error: Exception) -> None:
        """Stop the recording because of an error, and let the program go on. Modules that were
        running then may fail as well."""
        if self._outcome is not None:
            return
        message = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        sys.stderr.write(f"guard record: the recording has stopped: {message}\n")
        self.uninstall()
        self._close("failed", message)

    def end(self, status: Status, message: str = "") -> None:
        """The program has ended: write what has begun, and how it ended."""
        recorder = self.recorder
        if recorder is not None:
            gc.collect()  # so that what is still there does not depend on when it ran last
            recorder.finish()
        self.uninstall()
        if self._writer is None and not self._is_child and not self._has_traces():
            with suppress(OSError, GuardError):
                self._writer = self._open()
        self._close(status, message)

    def _has_traces(self) -> bool:
        """Whether its children have recorded."""
        return any(name.endswith(".trace") for name in os.listdir(self.folder))

    def _stop(self, status: Status, message: str) -> None:
        recorder = self._let_go()
        if recorder is not None:
            recorder.finish()
        self.uninstall()
        self._close(status, message)

    def _close(self, status: Status, message: str) -> None:
        """How it ended first is how it ended."""
        if self._snapshot is not None:
            with suppress(OSError):
                self._snapshot.end()
        if self._tracer is not None:
            self._tracer.end()
        self._outcome = self._outcome or (status, message)
        if self._writer is not None:
            with suppress(OSError):
                self._writer.end(*self._outcome)

    # Children

    def abandon(self) -> None:
        """This process is a fork of the one that records: leave its file alone."""
        self.uninstall()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._schemas.clear()
        self._lock = threading.RLock()  # another thread may have held it
        self._is_child = True
        self.number = self.options.first_step


def _environ(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() else default


def _rank(*, is_child: bool) -> tuple[int | None, int]:
    """This process's rank, and how many there are; None for a child that is no rank."""
    if (connected := process_group()) is not None:
        return connected.get_rank(), connected.get_world_size()
    if is_child:
        return None, 0
    return _environ("RANK", 0), _environ("WORLD_SIZE", 1)


def _folder() -> str:
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.dirname(os.path.abspath(main)) if main else os.getcwd()


def _environment() -> dict[str, Any]:
    from guard.inventory import report

    found = report()
    items = {
        f"{section.name}: {entry.name}": entry.value
        for section in found.sections
        for entry in section.entries
        if entry.decides
    }
    return {"fingerprint": found.fingerprint, "digest": found.digest, "items": items}
