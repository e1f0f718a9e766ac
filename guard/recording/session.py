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
    from guard.recording.lanes import Lanes
    from guard.recording.operators import Operators
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
    # the number of the training step before which what the program holds is told, or None; with
    # one, ``until`` is the number of a training step as well
    held: int | None = None
    lane: str = ""  # the task of the program's threads to whose steps these numbers belong

    def as_dict(self) -> dict[str, Any]:
        """As the trace's header has them, with the name of the hash."""
        from guard.digests.hashing import HASH

        told = asdict(self)
        del told["held"], told["lane"]  # traces with these hold the same
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
        # of the first thread; None before torch is imported, and when nothing is recorded (more)
        self._recorder: Recorder | None = None
        self._lanes: Lanes | None = None
        self._of_lanes: dict[str, _Lane] = {}
        self.options = options
        self.folder = os.path.abspath(folder)
        self.command = tuple(command)
        self.started = time.time()
        self.number = options.first_step
        self._trained = options.first_step  # the number of the next training step among these
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
    def recorder(self) -> Recorder | None:
        """That of the task which this thread does, once that has trained; else that of the first
        thread."""
        lane = self._of_lanes.get(self.lane)
        return lane.recorder if lane is not None else self._recorder

    @property
    def lane(self) -> str:
        """The task that this thread does."""
        return self._lanes.current if self._lanes is not None else ""

    @property
    def training(self) -> Recorder | None:
        """The recorder of this thread, which trains now: what a task does is told by itself."""
        main, name = self._recorder, self.lane
        if name and main is not None and name not in self._of_lanes:
            self._of_lanes[name] = _Lane(self, name, main)
        return self.recorder

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

            self._tracer = Tracer(self.folder, self.options.lines, lambda: self.lane)
            self._tracer.begin(None if self._is_child else "main")

    def install(self) -> None:
        """Begin to follow the program: torch has been imported.

        What the first step needs to be written is imported now: in the midst of the program, a
        tenth of a second would hide what comes from outside meanwhile, such as a signal.
        """
        from guard.recording import calls, constructions, generators, optimizers, recorder
        from guard.recording.lanes import Lanes

        if not self._is_child:
            from guard.inventory import prepare

            prepare()
        operators = self.operators("")
        self._recorder = recorder.Recorder(self, self.options, operators)
        # A resumed run starts other tasks than the one that goes through.
        if self.options.held is None and not self.options.first_step:
            self._lanes = Lanes(self._task_begins, self._task_ends)
            self._lanes.follow(self.installed)
        for each in (constructions, calls, generators, optimizers):
            each.install(self.installed, self)
        if self.options.held is not None:
            from guard.recording.snapshots import Snapshot  # most recordings go without

            self._snapshot = Snapshot(self.options.held)
            self._snapshot.follow(self.installed)
        if operators is not None:
            operators.begin(self._recorder, self.number)

    def operators(self, lane: str) -> Operators | None:
        """What records the operators of a step, if one of that task is wanted."""
        if self.options.operators is None or lane != self.options.lane:
            return None
        from guard.recording.operators import Operators

        return Operators(self.options.operators, self.options.module)

    def _task_begins(self) -> None:
        """This thread starts a task: what it has evaluated before comes before what that does."""
        recorder = self.recorder
        if recorder is not None and recorder.thread == threading.get_ident():
            recorder.evaluated()

    def _task_ends(self, name: str, error: str) -> None:
        """A task is done."""
        lane = self._of_lanes.pop(name, None)
        if lane is not None and self._recorder is not None:
            lane.recorder.leave()
            lane.recorder.turn(muted=1)
            with self._lock, suppress(OSError):
                if self._writer is not None and self._outcome is None:
                    self._writer.lane_ends(name, "raised" if error else "finished", error)

    def uninstall(self) -> None:
        """Follow the program no more."""
        for recorder in self._let_go():
            if recorder.operators is not None:
                recorder.operators.leave_all()
        self.installed.close()

    def _let_go(self) -> list[Recorder]:
        """The recorders, that of the first thread first, which hear nothing more: the program may
        have kept what was installed."""
        first = [] if self._recorder is None else [self._recorder]
        found = [*first, *(each.recorder for each in list(self._of_lanes.values()))]
        self._recorder = None
        self._of_lanes = {}
        for each in found:
            each.turn(muted=1)
        return found

    # Steps

    def write(
        self, kind: StepKind, events: Events, schema: Schema, lane: _Lane | None = None
    ) -> None:
        """Write a step, and what its events are of. Raises OSError."""
        with self._lock:
            self._write(kind, events, schema, lane)

    def training_begins(self) -> None:
        """A training step begins, whose forward has yet to run. Raises OSError."""
        rank, _ = _rank(is_child=self._is_child)
        if self._snapshot is not None and rank is not None:
            self._snapshot.take(self._trained, self._path(rank))

    def _path(self, rank: int) -> str:
        return os.path.join(self.folder, _NAME.format(rank))

    def _write(self, kind: StepKind, events: Events, schema: Schema, lane: _Lane | None) -> None:
        writer = self._open()
        if writer is None:
            return
        of: Session | _Lane = lane or self
        name = lane.name if lane is not None else ""
        writer.lane(name)
        self._again(kind, writer, is_first=lane is None)
        number = self._schemas.get(schema.key)
        if number is None:
            number = self._schemas[schema.key] = writer.schema(schema.labels)
        body, digest = schema.packed(events, writer.header.digest_size)
        is_meant = name == self.options.lane
        if self._tracer is not None:  # first, for who compares while this runs
            self._tracer.step_ends(of.number, name, is_meant=is_meant)
        writer.packed(kind, number, body, digest)
        last, counts = of.number, kind != "end"
        if self.options.held is not None:
            last, counts = self._trained, kind == "training"
        of.number += 1
        self._trained += kind == "training" and lane is None
        if last == self.options.until and counts and is_meant:
            self._stop("stopped", f"step {last} was the last to record", lane)

    def _again(self, kind: StepKind, writer: TraceWriter, *, is_first: bool) -> None:
        """Note the environment again where training begins after other steps: a program may
        measure in these what it then sets, as the number of threads. Of the first thread."""
        first = self.options.first_step
        if kind == "training" and is_first and self._trained == first < self.number:
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
        recorder = self._recorder
        if recorder is not None:
            gc.collect()  # so that what is still there does not depend on when it ran last
            recorder.finish()
        self.uninstall()
        if self._writer is None and not self._is_child:
            with suppress(OSError, GuardError):  # its children may have recorded
                if not any(name.endswith(".trace") for name in os.listdir(self.folder)):
                    self._writer = self._open()
        self._close(status, message)

    def _stop(self, status: Status, message: str, lane: _Lane | None = None) -> None:
        recorders = self._let_go()
        if lane is None and recorders:  # what others have begun, they may go on with right now
            recorders[0].finish()
        self.uninstall()
        self._close(status, message)

    def _close(self, status: Status, message: str) -> None:
        """How it ended first is how it ended."""
        if self._snapshot is not None:
            with suppress(OSError):
                self._snapshot.end()
        if self._tracer is not None:
            self._tracer.end()
        with self._lock, suppress(OSError):
            self._outcome = self._outcome or (status, message)
            if self._writer is not None:
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
        self._lanes = None
        self._is_child = True
        self.number = self._trained = self.options.first_step


class _Lane:
    """The steps of a task that one of the program's threads does, and trains."""

    def __init__(self, session: Session, name: str, first: Recorder) -> None:
        from guard.recording.recorder import Recorder

        self.name = self.lane = name
        self.number = session.options.first_step
        self._session = session
        operators = session.operators(name)
        self.recorder = Recorder(self, session.options, operators, first.origins)
        self.recorder.optimizers.exist = first.optimizers.exist
        if operators is not None:
            operators.begin(self.recorder, self.number)

    def write(self, kind: StepKind, events: Events, schema: Schema) -> None:
        """Write a step, and what its events are of. Raises OSError."""
        self._session.write(kind, events, schema, self)

    def training_begins(self) -> None:
        """A training step begins: what the program holds is told of the first thread alone."""

    def fail(self, error: Exception) -> None:
        """Stop the recording because of an error."""
        self._session.fail(error)


if TYPE_CHECKING:
    Sink = Session | _Lane  # what a recorder tells


def check_empty(folder: str | os.PathLike[str]) -> None:
    """Raise GuardError if this rank has recorded there, and torchrun has not started it again."""
    path = os.path.join(folder, _NAME.format(_environ("RANK", 0)))
    if os.path.exists(path) and not _environ("TORCHELASTIC_RESTART_COUNT", 0):
        raise GuardError(
            f"{path!r} has been recorded before; --overwrite, or overwrite=True, puts this one in "
            "its place"
        )


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
    """What decides numbers here; nothing where the program has not imported torch, which may have
    been interrupted as it did: a second attempt ends in the midst of C++."""
    if "torch" not in sys.modules:
        return {"fingerprint": "", "digest": "", "items": {}}
    from guard.inventory import report

    found = report()
    items = {
        f"{section.name}: {entry.name}": entry.value
        for section in found.sections
        for entry in section.entries
        if entry.decides
    }
    return {"fingerprint": found.fingerprint, "digest": found.digest, "items": items}
