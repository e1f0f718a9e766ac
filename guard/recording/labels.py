"""What events are of, each made once: so that a step that has been seen costs no new objects."""

from __future__ import annotations

import struct
from array import array
from itertools import count
from typing import TYPE_CHECKING, Any

import torch

from guard.fingerprints import hashed
from guard.recording.pending import Pending, read
from guard.trace import Label

if TYPE_CHECKING:
    from guard.fingerprints import Digest
    from guard.places import Place
    from guard.trace import Kind, Summary
    from guard.trace.model import Phase

_KEPT = 100_000  # labels of one source, whose shapes vary
_numbers = count()  # of labels: ids come again


class Source:
    """Something that has events: a module's output, a parameter's gradient, a generator."""

    __slots__ = ("counted", "kind", "labels", "last", "module", "name")

    def __init__(self, kind: Kind, name: str, module: str = "") -> None:
        self.kind = kind
        self.name = name
        self.module = module
        self.counted = f"{kind} {name}"  # calls are, whatever module an operator runs in
        self.labels: dict[tuple[Any, ...], tuple[int, Label]] = {}
        self.last: tuple[Any, ...] = (-1,)  # what the last plain label was for, its number, it


_sources: dict[tuple[str, str, str], Source] = {}


def source(kind: Kind, name: str, module: str = "") -> Source:
    """The one source of this kind and name."""
    key = (kind, name, module)
    found = _sources.get(key)
    if found is None:
        found = _sources[key] = Source(kind, name, module)
    return found


class Events:
    """The events of a step that has not ended, as columns."""

    __slots__ = ("calls", "digests", "inputs", "labels", "numbers", "summaries", "values", "waits")

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self.numbers: list[int] = []
        self.digests: list[Digest] = []
        self.inputs: list[Digest] = []
        self.values: list[Any] = []  # numbers, or float64 scalars on a device
        self.summaries: list[Summary] = []
        self.calls: dict[str, int] = {}
        self.waits = False  # for what lies on a device

    def __len__(self) -> int:
        return len(self.labels)

    def add(  # noqa: PLR0913, PLR0917 - called some 200 times a step: by place is quickest
        self,
        source: Source,
        detail: str,
        place: Place | None,
        digest: Digest,
        value: Any = None,  # noqa: ANN401
        summary: Summary | None = None,
        phase: Phase = "",
        inputs: Digest | None = None,
    ) -> None:
        """Append an event. Places, and details of tensors, are the same objects for the same."""
        call = self.calls.get(source.counted, 0)
        self.calls[source.counted] = call + 1
        plain = value is None and summary is None and inputs is None
        last = source.last
        if (
            plain
            and last[0] == call
            and last[1] is detail
            and last[2] is place
            and last[3] is phase
        ):
            self.numbers.append(last[4])
            self.labels.append(last[5])
            self.digests.append(digest)
            if type(digest) is not bytes:
                self.waits = True
            return
        flags = () if plain else (value is not None, summary is not None, inputs is not None)
        key = (call, detail, id(place), phase, flags)
        found = source.labels.get(key)
        if found is None:
            if len(source.labels) > _KEPT:
                source.labels.clear()
            label = Label(
                source.kind, source.name, call, detail, place, phase, source.module, *flags
            )
            found = source.labels[key] = (next(_numbers), label)
        self.numbers.append(found[0])
        self.labels.append(found[1])
        self.digests.append(digest)
        if type(digest) is not bytes:
            self.waits = True
        if plain:
            source.last = (call, detail, place, phase, *found)
            return
        if value is not None:
            self.values.append(value)
            self.waits = self.waits or type(value) is not float
        if summary is not None:
            self.summaries.append(summary)
        if inputs is not None:
            self.inputs.append(inputs)

    def key(self) -> bytes:
        """The same for steps of the same labels."""
        return hashed(array("Q", self.numbers), 0)

    def resolved(self) -> tuple[list[bytes], list[bytes], list[float]]:
        """Digests, inputs and values, with what lay on a device read from there, at once."""
        if not self.waits:
            return self.digests, self.inputs, self.values  # type: ignore[return-value]
        both = [*self.digests, *self.inputs]
        awaited = [part for each in both if isinstance(each, Pending) for part in each.tensors()]
        known = read([*awaited, *(each for each in self.values if isinstance(each, torch.Tensor))])
        digests, inputs = (
            [each.digest(known) if isinstance(each, Pending) else each for each in column]
            for column in (self.digests, self.inputs)
        )
        return digests, inputs, [_float(each, known) for each in self.values]

    def digest(self, full: bytes) -> bytes:
        """Over the full fingerprints of all events."""
        return hashed(full, 0)


def _float(value: Any, known: dict[int, int]) -> float:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        (found,) = struct.unpack("<d", struct.pack("<q", known[id(value)]))
        return float(found)
    return float(value)
