"""Where each fingerprint of a step lies in its bytes, so that steps compare without events."""

from __future__ import annotations

import struct
from itertools import compress, pairwise
from operator import ne
from typing import TYPE_CHECKING

from guard.trace.encoding import STEP_DIGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.trace import Event, Label, Trace

SIGNATURE = 16  # bytes of ``Trace.raw`` that stand for the schema
KIND = SIGNATURE  # where the kind of the step stands: 0 for training
EVALUATION, END = 1, 2  # other kinds
_DIGEST = slice(KIND + 1, KIND + 1 + STEP_DIGEST)
_BODY = _DIGEST.stop
_WORDS = {4: "I", 8: "Q"}

Key = tuple[str, str, int]


def key(label: Label | Event) -> Key:
    """What two events have in common that are the same thing in two runs."""
    return label.kind, label.name, label.call


class Layout:
    """What the events of a schema are of, and where in the bytes of its steps they lie."""

    def __init__(self, labels: Sequence[Label], size: int) -> None:
        self.labels = tuple(labels)
        self.keys = tuple(map(key, labels))
        self.kinds = tuple(label.kind for label in labels)
        self.generators = [at for at, kind in enumerate(self.kinds) if kind == "generator"]
        self._size = size
        self._words = struct.Struct(f"<{len(labels)}{_WORDS[size]}") if size in _WORDS else None
        self._decisive = self._ranges()

    def _ranges(self) -> list[slice]:
        """The bytes of all digests but those of generators."""
        bounds = [-1, *self.generators, len(self.labels)]
        pairs = pairwise(bounds)
        size = self._size
        return [
            slice(_BODY + (before + 1) * size, _BODY + after * size)
            for before, after in pairs
            if after > before + 1
        ]

    def decisive(self, raw: bytes) -> list[bytes]:
        """All digests of a step but those of generators, which alone decide nothing."""
        return [raw[each] for each in self._decisive]

    def digest(self, raw: bytes, at: int) -> bytes:
        """The digest of one event."""
        start = _BODY + at * self._size
        return raw[start : start + self._size]

    def inputs(self, raw: bytes, at: int) -> bytes:
        """What an event has of its inputs, or of its samples; b"" where it has nothing."""
        if not self.labels[at].has_inputs:
            return b""
        before = sum(each.has_inputs for each in self.labels[:at])
        start = _BODY + (len(self.labels) + before) * self._size
        return raw[start : start + self._size]

    def digests(self, raw: bytes) -> Sequence[int | bytes]:
        """The digests of all events, as something that compares."""
        if self._words is not None:
            return self._words.unpack_from(raw, _BODY)
        return [self.digest(raw, at) for at in range(len(self.labels))]

    def differing(self, raw: bytes, other: bytes) -> list[int]:
        """Which events differ from those of a step of the same keys."""
        unequal = map(ne, self.digests(raw), self.digests(other))
        return list(compress(range(len(self.labels)), unequal))


def whole_digest(raw: bytes) -> bytes:
    """The digest over the full fingerprints of a step."""
    return raw[_DIGEST]


class Layouts:
    """The layouts of one trace, each made once however often its schema comes."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._made: dict[bytes, Layout] = {}

    def of(self, index: int, raw: bytes) -> Layout:
        """That of a step."""
        signature = raw[:SIGNATURE]
        found = self._made.get(signature)
        if found is None:
            labels = self._trace.labels(index)
            found = self._made[signature] = Layout(labels, self._trace.header.digest_size)
        return found
