"""The bytes of a trace file: frames, each with its length and checksum.

Magic, then ``[u32 length][u8 type][payload][u32 crc]``, little-endian; the checksum covers all
before it. The first frame is the header. A reader passes over types that it does not know.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.observe.places import Place
from guard.trace.model import Event, Label, Step, Summary, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.trace.model import StepKind

MAGIC = b"\x89gtrace\n"
VERSION = 1
HEADER, SCHEMA, STEP, END, ENVIRONMENT, LANE, LANE_END = range(1, 8)
STEP_DIGEST = 16  # bytes
NO_BASE = 0xFFFFFFFF

_FRAME = struct.Struct("<IB")
_CRC = struct.Struct("<I")
_STEP = struct.Struct("<IIB16s")  # number, schema, kind, digest
_SCHEMA = struct.Struct("<I16s")  # the schema it is packed after, or NO_BASE; its signature
_FLOAT = struct.Struct("<d")
_COUNT = struct.Struct("<H")
_KINDS: tuple[StepKind, ...] = ("training", "evaluation", "end")
OVERHEAD = _FRAME.size + _CRC.size


def frame(kind: int, payload: bytes) -> bytes:
    """A frame around a payload."""
    framed = _FRAME.pack(len(payload), kind) + payload
    return framed + _CRC.pack(zlib.crc32(framed))


class Found(NamedTuple):
    """A whole frame in a block of bytes."""

    kind: int
    start: int  # of the payload
    length: int
    end: int  # of the frame


def whole(block: bytes) -> Iterator[Found]:
    """The frames, up to the first that is not whole or not what was written."""
    view, start = memoryview(block), 0
    while start + OVERHEAD <= len(block):
        length, kind = _FRAME.unpack_from(block, start)
        payload = start + _FRAME.size
        end = payload + length + _CRC.size
        if end > len(block):
            return
        (crc,) = _CRC.unpack_from(block, end - _CRC.size)
        if crc != zlib.crc32(view[start : end - _CRC.size]):
            return
        yield Found(kind, payload, length, end)
        start = end


def needed(block: bytes, start: int) -> int:
    """How many bytes the frame at a place has in all, if its beginning can be read; else 0."""
    if start + _FRAME.size > len(block):
        return 0
    return int(_FRAME.unpack_from(block, start)[0]) + OVERHEAD


# A schema: the labels of a step, once for all the steps that have the same


def pack_labels(labels: Sequence[Label]) -> tuple[bytes, bytes]:
    """Labels as JSON, and a signature of 16 bytes over everything but the places."""
    places: dict[tuple[Any, ...], int] = {}
    rows, bare = [], []
    for each in labels:
        place = None if each.place is None else places.setdefault(each.place[:3], len(places))
        flags = each.has_value | each.has_summary << 1 | each.has_inputs << 2
        row = [each.kind, each.name, each.call, each.detail, each.phase, each.module, flags]
        bare.append(row)
        rows.append([*row, place])
    text = json.dumps({"places": list(places), "labels": rows}, separators=(",", ":"))
    signed = json.dumps(bare, separators=(",", ":")).encode("utf-8", "surrogatepass")
    signature = hashlib.blake2b(signed, digest_size=16).digest()
    return text.encode("utf-8", "surrogatepass"), signature


def unpack_labels(packed: bytes) -> tuple[Label, ...]:
    """What ``pack_labels`` took."""
    found = json.loads(packed)
    places = [Place(*each) for each in found["places"]]
    return tuple(
        Label(
            kind,
            name,
            call,
            detail,
            None if place is None else places[place],
            phase,
            module,
            bool(flags & 1),
            bool(flags & 2),
            bool(flags & 4),
        )
        for kind, name, call, detail, phase, module, flags, place in found["labels"]
    )


def pack_schema(packed: bytes, signature: bytes, base: int, like: bytes) -> bytes:
    """Labels packed after those of another schema, which most of them share."""
    packer = zlib.compressobj(6, zdict=like) if like else zlib.compressobj(6)
    return _SCHEMA.pack(base, signature) + packer.compress(packed) + packer.flush()


def schema_head(payload: bytes) -> tuple[int, bytes]:
    """The schema that one is packed after, and its signature."""
    base, signature = _SCHEMA.unpack_from(payload)
    return base, signature


def unpack_schema(payload: bytes, like: bytes) -> bytes:
    """The labels of a schema as JSON."""
    unpacker = zlib.decompressobj(zdict=like) if like else zlib.decompressobj()
    return unpacker.decompress(payload[_SCHEMA.size :]) + unpacker.flush()


# A step: its digests one after the other, then those of inputs, values and summaries


def step_head(number: int, schema: int, kind: StepKind, digest: bytes) -> bytes:
    """What stands before the digests of a step."""
    return _STEP.pack(number, schema, _KINDS.index(kind), digest)


def pack_value(value: float) -> bytes:
    """A value as a step has it."""
    return _FLOAT.pack(value)


def pack_summary(summary: Summary) -> bytes:
    """A summary as a step has it."""
    numbers = (summary.min, summary.max, summary.mean, summary.absmax, *summary.sample)
    return _COUNT.pack(len(numbers)) + struct.pack(f"<{len(numbers)}d", *numbers)


def step_schema(payload: bytes) -> int:
    """The schema of a step."""
    return int(_STEP.unpack_from(payload)[1])


def step_kind(payload: bytes) -> StepKind:
    """What kind a step is of."""
    return _KINDS[int(_STEP.unpack_from(payload)[2])]


def comparable(payload: bytes, signature: bytes) -> bytes:
    """What two equal steps have in common, whatever their files and numbers."""
    return signature + payload[8:]


def unpack_step(payload: bytes, labels: Sequence[Label], size: int) -> Step:
    """A step, given the labels of its schema and the size of its digests."""
    number, _, kind, digest = _STEP.unpack_from(payload)
    reader = _Reader(payload, _STEP.size)
    digests = [reader.take(size) for _ in labels]
    inputs = [reader.take(size) if each.has_inputs else b"" for each in labels]
    values = [reader.value() if each.has_value else None for each in labels]
    summaries = [reader.summary() if each.has_summary else None for each in labels]
    events = tuple(
        Event(
            label.kind,
            label.name,
            label.call,
            label.detail,
            label.place,
            digests[index],
            values[index],
            summaries[index],
            label.phase,
            label.module,
            inputs[index],
        )
        for index, label in enumerate(labels)
    )
    return Step(number, _KINDS[kind], events, digest)


class _Reader:
    def __init__(self, payload: bytes, start: int) -> None:
        self._payload = payload
        self._at = start

    def take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if self._at > len(self._payload):
            raise TraceError("a step holds less than its schema says")
        return self._payload[start : self._at]

    def value(self) -> float:
        return float(_FLOAT.unpack(self.take(8))[0])

    def summary(self) -> Summary:
        (count,) = _COUNT.unpack(self.take(2))
        low, high, mean, absmax, *sample = struct.unpack(f"<{count}d", self.take(8 * count))
        return Summary(low, high, mean, absmax, tuple(sample))
