"""The events of a step, as columns; most steps hold what another one held, but for the digests.

What events are of is made once each, so that a step that has been seen costs no new objects.
"""

from __future__ import annotations

import struct
from array import array
from itertools import compress, count
from typing import TYPE_CHECKING, Any, Literal

from guard.digests.device_sums import Sum, known
from guard.digests.hashing import hashed
from guard.digests.tensors import SIZE
from guard.trace import Label
from guard.trace.encoding import pack_summary, pack_value

if TYPE_CHECKING:
    from guard.digests.tensors import Digest
    from guard.observe.places import Place
    from guard.trace import Kind, Summary
    from guard.trace.model import Phase

_WORDS: dict[int, Literal["I", "Q"]] = {4: "I", 8: "Q"}
_KEPT = 64  # schemas that may come again
_LABELS_KEPT = 100_000  # labels of one source, whose shapes vary
_numbers = count()  # of labels: ids come again


class Source:
    """Something that has events: a module's output, a parameter's gradient, a generator."""

    __slots__ = ("_labels", "counted", "kind", "module", "name")

    def __init__(self, kind: Kind, name: str, module: str = "") -> None:
        self.kind = kind
        self.name = name
        self.module = module
        self.counted = f"{kind} {name}"  # calls are, whatever module an operator runs in
        self._labels: dict[tuple[Any, ...], tuple[int, Label]] = {}

    def label(
        self, call: int, detail: str, place: Place | None, phase: Phase, has: tuple[bool, ...] = ()
    ) -> tuple[int, Label]:
        """The one label of this call, detail, line and phase, whose events have these parts, and
        its number."""
        key = (call, detail, id(place), phase, has)
        found = self._labels.get(key)
        if found is None:
            if len(self._labels) > _LABELS_KEPT:
                self._labels.clear()
            made = Label(self.kind, self.name, call, detail, place, phase, self.module, *has)
            found = self._labels[key] = (next(_numbers), made)
        return found


_sources: dict[tuple[str, str, str], Source] = {}


def source(kind: Kind, name: str, module: str = "") -> Source:
    """The one source of this kind and name."""
    key = (kind, name, module)
    found = _sources.get(key)
    if found is None:
        found = _sources[key] = Source(kind, name, module)
    return found


if TYPE_CHECKING:
    # What an event is of: its source, detail, line and phase, and which other parts it has.
    Row = tuple[Source, str, Place | None, Phase, tuple[bool, ...]]


class Events:
    """The events of a step that has not ended.

    A plain event may be appended to rows and digests from outside: there are some 200 in a step.
    """

    __slots__ = ("digests", "inputs", "rows", "summaries", "values")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.digests: list[Digest] = []
        self.inputs: list[Digest] = []
        self.values: list[Any] = []  # numbers, or the bits of float64 numbers on a device
        self.summaries: list[Summary] = []

    def __len__(self) -> int:
        return len(self.rows)

    def add(  # noqa: PLR0913, PLR0917 - the parts that an event may have
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
        """Append an event."""
        has: tuple[bool, ...] = (value is not None, summary is not None, inputs is not None)
        self.rows.append((source, detail, place, phase, has if any(has) else ()))
        self.digests.append(digest)
        if value is not None:
            self.values.append(value)
        if summary is not None:
            self.summaries.append(summary)
        if inputs is not None:
            self.inputs.append(inputs)

    def resolved(self) -> tuple[bytes, list[bytes], list[bytes], list[float]]:
        """All digests one after the other, digests, inputs and values, with what lay on a device
        read from there, at once."""
        digests: list[Any] = self.digests
        inputs: list[Any] = self.inputs
        try:
            b"".join(inputs)
            if all(type(each) is float for each in self.values):
                return b"".join(digests), digests, inputs, self.values
        except TypeError:  # some are Pending
            pass
        values = [each for each in self.values if isinstance(each, Sum)]
        found = known([*digests, *inputs, *values])
        digests, inputs = found[: len(digests)], found[len(digests) :][: len(inputs)]
        return b"".join(digests), digests, inputs, list(map(_float, self.values))


class Schema:
    """What the events of a step are of."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.labels, numbers = _labelled(rows)
        self.key = hashed(array("Q", numbers), 0)  # the same for the same labels
        self.next: Schema | None = None  # of the step that came after the last one of this schema
        self._decides = [each.kind != "generator" for each in self.labels]
        self._all_decide = all(self._decides)

    def packed(self, events: Events, size: int) -> tuple[bytes, bytes]:
        """A step as a trace has it, with so many bytes of each digest; and a digest over all of
        them, and over all inputs, but those of generators."""
        full, digests, inputs, values = events.resolved()
        decides = full if self._all_decide else b"".join(compress(digests, self._decides))
        parts = [memoryview(full).cast(_WORDS[size])[:: SIZE // size].tobytes()]
        parts += [each[:size] for each in inputs]
        parts += [pack_value(each) for each in values]
        parts += [pack_summary(each) for each in events.summaries]
        return b"".join(parts), hashed(decides + b"".join(inputs), 0)


class Schemas:
    """Those of the steps of one kind. The one that came after the last one before is tried first,
    so that a step that is like another one costs no look at each of its events."""

    def __init__(self) -> None:
        self._known: dict[bytes, Schema] = {}
        self._last: Schema | None = None

    def of(self, events: Events) -> Schema:
        """The schema of the step that follows the last one asked for."""
        last = self._last
        found = last.next if last is not None else None
        if found is None or found.rows != events.rows:
            found = self._found(events.rows)
        if last is not None:
            last.next = found
        self._last = found
        return found

    def _found(self, rows: list[Row]) -> Schema:
        made = Schema(rows)
        if len(self._known) > _KEPT:
            self._known.clear()
        return self._known.setdefault(made.key, made)


def _labelled(rows: list[Row]) -> tuple[list[Label], list[int]]:
    """The labels of events in their order, and the labels' numbers."""
    calls: dict[str, int] = {}
    labels, numbers = [], []
    for source, detail, place, phase, has in rows:
        call = calls.get(source.counted, 0)
        calls[source.counted] = call + 1
        number, label = source.label(call, detail, place, phase, has)
        labels.append(label)
        numbers.append(number)
    return labels, numbers


def _float(value: Any) -> float:  # noqa: ANN401
    if isinstance(value, Sum):
        (found,) = struct.unpack("<d", value.bits)
        return float(found)
    return float(value)
