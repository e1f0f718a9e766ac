"""A trace that is written event by event, as nothing but a test does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.trace import Label, TraceWriter, encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.trace import Event, Header, StepKind


class EventWriter(TraceWriter):
    """Packs events, and numbers the steps."""

    def __init__(self, path: object, header: Header) -> None:
        super().__init__(path, header)  # type: ignore[arg-type]
        self.number = header.first_step
        self._known: dict[tuple[Label, ...], int] = {}

    def step(self, kind: StepKind, events: Sequence[Event], digest: bytes) -> None:
        """Append a step."""
        labels = tuple(map(label_of, events))
        if labels not in self._known:
            self._known[labels] = self.schema(labels)
        self.packed(kind, self._known[labels], body_of(events, self.header.digest_size), digest)
        self.number += 1


def label_of(event: Event) -> Label:
    """What an event is of."""
    return Label(
        event.kind,
        event.name,
        event.call,
        event.detail,
        event.place,
        event.phase,
        event.module,
        has_value=event.value is not None,
        has_summary=event.summary is not None,
        has_inputs=bool(event.inputs),
    )


def body_of(events: Sequence[Event], size: int) -> bytes:
    """The digests, inputs, values and summaries of events, by kind of thing."""
    parts = [each.digest[:size] for each in events]
    parts += [each.inputs[:size] for each in events if each.inputs]
    parts += [encoding.pack_value(each.value) for each in events if each.value is not None]
    parts += [encoding.pack_summary(each.summary) for each in events if each.summary is not None]
    return b"".join(parts)
