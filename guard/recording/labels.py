"""What events are of, each made once: so that a step that has been seen costs no new objects."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from guard.trace import Label

if TYPE_CHECKING:
    from guard.observe.places import Place
    from guard.trace import Kind
    from guard.trace.model import Phase

_KEPT = 100_000  # labels of one source, whose shapes vary
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
            if len(self._labels) > _KEPT:
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
