"""Writing a trace: each step is appended at once, so that a killed run leaves all but the last."""

from __future__ import annotations

import functools
import json
import os
import re
import weakref
from array import array
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guard.trace import encoding
from guard.trace.model import End, Header, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.trace.model import Label, Status, Step, StepKind


# Beside the traces: where processes that have none trained, as lines "path:line".
UNRECORDED = "unrecorded.txt"
# And where the recorded process has put another program in its place, as "path:line".
REPLACED = "replaced.txt"
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)


class TraceWriter:
    """Appends steps to a file, which is there from the start with its header whole.

    Raises OSError where it cannot be written; what is there by then can be read.
    """

    def __init__(self, path: str | os.PathLike[str], header: Header) -> None:
        self.path = os.path.abspath(path)
        self.header = header
        self._numbers: dict[str, int] = {}  # of the next step, by lane
        self._lane = ""
        self._count = 0
        self._bases: dict[int, tuple[int, bytes]] = {}  # by the number of labels
        self._descriptor = _begin(self.path, header)

    def schema(self, labels: Sequence[Label]) -> int:
        """Append a schema; the number by which ``packed`` knows it."""
        packed, signature = encoding.pack_labels(labels)
        base, like = self._bases.get(len(labels), (encoding.NO_BASE, b""))
        if not like:
            self._bases[len(labels)] = (self._count, packed)
        self._write(
            encoding.frame(encoding.SCHEMA, encoding.pack_schema(packed, signature, base, like))
        )
        self._count += 1
        return self._count - 1

    def packed(self, kind: StepKind, schema: int, body: bytes, digest: bytes) -> None:
        """Append a step, flushed.

        body    its digests one after the other, then those of inputs, values and summaries
        digest  16 bytes over the full fingerprints
        """
        number = self._numbers.get(self._lane, self.header.first_step)
        head = encoding.step_head(number, schema, kind, digest)
        self._write(encoding.frame(encoding.STEP, head + body))
        self._numbers[self._lane] = number + 1

    def lane(self, name: str) -> None:
        """The steps from here on are those of a task of the program's threads; "": of its first
        thread. Each numbers its own."""
        if name != self._lane:
            self._write(encoding.frame(encoding.LANE, _json(name)))
            self._lane = name

    def lane_ends(self, name: str, status: Status, message: str = "") -> None:
        """A task has come to its end; how."""
        self._write(encoding.frame(encoding.LANE_END, _json([name, asdict(End(status, message))])))

    def environment(self, items: dict[str, Any]) -> None:
        """Append the items of the environment as they are now, where steps came before."""
        self._write(encoding.frame(encoding.ENVIRONMENT, _json(items)))

    def end(self, status: Status, message: str = "") -> None:
        """Append how it ended, and close the file. Nothing is written after the first call."""
        if self._descriptor is None:
            return
        try:
            self._write(encoding.frame(encoding.END, _json(asdict(End(status, message)))))
        finally:
            self.close()

    def close(self) -> None:
        """Close the file without an end, as a killed run leaves it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.close()

    def _write(self, framed: bytes) -> None:
        if self._descriptor is None:
            raise ValueError(f"{self.path} has been closed")
        written = os.write(self._descriptor, framed)
        while written < len(framed):  # a full disk takes a part, and raises at the next
            written += os.write(self._descriptor, framed[written:])


def _begin(path: str, header: Header) -> int | None:
    """The file with its header, under its name only when that is whole."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = f"{path}.{os.getpid()}.new"
    with open(new, "wb") as file:
        file.write(encoding.MAGIC + encoding.frame(encoding.HEADER, _json(header.as_dict())))
    os.replace(new, path)
    return os.open(path, _APPEND)


def _json(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON takes
    return json.dumps(value, separators=(",", ":"), default=str).encode()


_BLOCK = 1 << 20
_SCHEMAS_KEPT = 64
_NAME = re.compile(r"rank(\d+)\.trace")


class Trace:
    """The steps of one process, read from its file as they are asked for."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)  # of the file
        self.end: End | None = None  # how it ended; None where it was killed, or has not ended yet
        self.unread = 0  # bytes at the end that are no whole frames: a torn tail, or damage
        self._steps = array("Q")  # where each payload begins
        self._sizes = array("Q")
        self._of = array("L")  # the schema of each
        # by task of the program's threads, where its steps lie among all; "": of its first thread
        self.lanes: dict[str, array[int]] = {"": array("L")}
        self.lane_ends: dict[str, End] = {}  # how each has ended
        self._lane = self.lanes[""]
        self._schemas: list[tuple[int, int, bytes]] = []  # beginning, size, signature
        self._file = _open(self.path)
        weakref.finalize(self, os.close, self._file)
        self._at = len(encoding.MAGIC)
        self.header = self._read_header()  # what was recorded, and where
        self._labels = functools.lru_cache(_SCHEMAS_KEPT)(self._read_labels)
        self.refresh()

    @property
    def complete(self) -> bool:
        """Whether the recording came to an end of its own."""
        return self.end is not None

    def __len__(self) -> int:
        return len(self._steps)

    def has_end(self, lane: str = "") -> bool:
        """Whether the last step of a task is the state in which it left everything."""
        steps = self.lanes.get(lane)
        return steps is not None and len(steps) > 0 and self._kind(steps[-1]) == "end"

    @property
    def done(self) -> int:
        """How many steps there are; the state at the end is none."""
        return len(self) - sum(map(self.has_end, self.lanes))

    def _kind(self, index: int) -> StepKind:
        return encoding.step_kind(self._read(self._steps[index], self._sizes[index]))

    def step(self, index: int) -> Step:
        """A step by its place in the file, which is its number where ``first_step`` is 0."""
        index = range(len(self))[index]
        payload = self._read(self._steps[index], self._sizes[index])
        return encoding.unpack_step(payload, self._labels(self._of[index]), self.header.digest_size)

    def steps(self, start: int = 0) -> Iterator[Step]:
        """The steps from one on, in order."""
        return (self.step(index) for index in range(start, len(self)))

    def raw(self, index: int) -> bytes:
        """Equal bytes mean an equal step, in whatever file: places and numbers are left out."""
        index = range(len(self))[index]
        payload = self._read(self._steps[index], self._sizes[index])
        return encoding.comparable(payload, self._schemas[self._of[index]][2])

    def labels(self, index: int) -> tuple[Label, ...]:
        """What the events of a step are of; the same object for steps of the same schema."""
        return self._labels(self._of[range(len(self))[index]])

    def refresh(self) -> None:
        """Read on: what has been appended since."""
        size = os.fstat(self._file).st_size
        wanted = _BLOCK
        while self._at < size and self.end is None:
            block = self._read(self._at, min(wanted, size - self._at))
            read = self._take(block)
            needed = encoding.needed(block, read)
            damaged = not read and needed <= len(block)
            if damaged or self._at + needed > size:
                break
            wanted = max(_BLOCK, needed)
        self.unread = max(0, size - self._at)

    def _take(self, block: bytes) -> int:
        """Note the frames of a block; how many bytes they have."""
        read = 0
        for found in encoding.whole(block):
            self._note(found.kind, block[found.start : found.start + found.length], found.start)
            read = found.end
        self._at += read
        return read

    def _note(self, kind: int, payload: bytes, start: int) -> None:
        if kind == encoding.STEP:
            self._steps.append(self._at + start)
            self._sizes.append(len(payload))
            self._of.append(encoding.step_schema(payload))
            self._lane.append(len(self._of) - 1)
        elif kind == encoding.LANE:
            self._lane = self.lanes.setdefault(json.loads(payload), array("L"))
        elif kind == encoding.LANE_END:
            lane, end = json.loads(payload)
            self.lane_ends[lane] = End(**end)
        elif kind == encoding.SCHEMA:
            signature = encoding.schema_head(payload)[1]
            self._schemas.append((self._at + start, len(payload), signature))
        elif kind == encoding.ENVIRONMENT:
            later = {**self.header.environment, "later": json.loads(payload)}
            self.header = replace(self.header, environment=later)
        elif kind == encoding.END:
            self.end = End(**json.loads(payload))

    def _read_header(self) -> Header:
        if self._read(0, len(encoding.MAGIC)) != encoding.MAGIC:
            raise TraceError(f"{self.path} is no trace of guard's: it does not begin as one")
        size = encoding.needed(self._read(self._at, 5), 0)
        block = self._read(self._at, size)
        found = next(encoding.whole(block), None)
        if found is None or found.kind != encoding.HEADER:
            raise TraceError(f"{self.path} is a trace whose header is damaged or cut off")
        content = json.loads(block[found.start : found.start + found.length])
        if content["version"] != encoding.VERSION:
            raise TraceError(
                f"{self.path} is a trace of version {content['version']!r}, and this guard reads "
                f"version {encoding.VERSION}: read it with the release that recorded it"
            )
        self._at += found.end
        return Header.from_dict(content)

    def _read_labels(self, schema: int) -> tuple[Label, ...]:
        return encoding.unpack_labels(self._unpacked(schema))

    def _unpacked(self, schema: int) -> bytes:
        start, size, _ = self._schemas[schema]
        payload = self._read(start, size)
        base, _ = encoding.schema_head(payload)
        like = b"" if base == encoding.NO_BASE else self._unpacked(base)
        return encoding.unpack_schema(payload, like)

    def _read(self, start: int, size: int) -> bytes:
        os.lseek(self._file, start, os.SEEK_SET)
        read = os.read(self._file, size)
        while len(read) < size and (more := os.read(self._file, size - len(read))):
            read += more
        return read


def open_trace(path: str | os.PathLike[str]) -> Trace:
    """One trace. Raises TraceError, which says what is wrong with the file."""
    return Trace(path)


def open_run(folder: str | os.PathLike[str]) -> list[Trace]:
    """The traces of a run, by rank; of a file, that one. Raises TraceError, as ``open_trace``."""
    if not os.path.isdir(folder):
        return [Trace(folder)]
    names = [found for name in os.listdir(folder) if (found := _NAME.fullmatch(name))]
    if not names:
        raise TraceError(
            f"{os.fspath(folder)} holds no trace (rank0.trace): nothing recorded there"
        )
    names.sort(key=lambda found: int(found[1]))
    return [Trace(os.path.join(folder, found[0])) for found in names]


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise TraceError(f"cannot open {os.fspath(path)!r}: {error.strerror}") from None
