"""What is known of the first difference when its cause is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import draws, environments, names

if TYPE_CHECKING:
    from guard.diff.differences import Cause, Change
    from guard.diff.draws import Draw
    from guard.diff.walks import Parting
    from guard.observe.places import Place
    from guard.trace import Event

RUNS = ("output", "loss", "gradient", "operator")


class Verdict(NamedTuple):
    """A cause, and what to tell of it."""

    cause: Cause
    why: str
    advice: str
    since: str = ""
    place: Place | None = None
    lost: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Situation:
    """The first difference, and what is around it."""

    parting: Parting
    changes: tuple[Change, ...] = field(default=())

    @property
    def first(self) -> Event | None:
        """The event that differs, in the first run."""
        return self.parting.mismatch.first if self.parting.mismatch else None

    @property
    def second(self) -> Event | None:
        """The event that differs, in the second run."""
        return self.parting.mismatch.second if self.parting.mismatch else None

    @property
    def number(self) -> int:
        """Of the step."""
        return self.parting.steps[0].number

    @cached_property
    def before(self) -> list[Event]:
        """What agreed in the step before the event that differs."""
        if self.parting.mismatch is None:
            return self.parting.events[0]
        found = self.parting.events[0][: self.parting.mismatch.at]
        return [each for each in found if each.kind != "gradient"]

    @property
    def is_first_step(self) -> bool:
        """Whether nothing of the runs was compared before."""
        return self.parting.position == 0

    @property
    def is_resumed(self) -> bool:
        """Whether one run goes on where the other was interrupted."""
        return self.parting.pair.resumed

    @property
    def is_initial(self) -> bool:
        """Whether nothing had run yet."""
        return self.is_first_step and not any(each.kind in RUNS for each in self.before)

    @cached_property
    def generators(self) -> list[Draw]:
        """Those that differ, without what nobody touched."""
        return draws.differing(self.parting)

    @cached_property
    def environment(self) -> tuple[Change, ...]:
        """What differs in the environment and can make a kernel give other numbers."""
        return environments.for_kernels(self.changes)

    @property
    def world_size(self) -> int:
        """How many processes take part."""
        return self.parting.pair.traces[0].header.world_size

    def is_of_optimizer(self, event: Event) -> bool:
        """Whether an event is of all parameters together, as an optimizer left them."""
        named = {each.name for each in self.before if each.kind == "hyperparameter"}
        return event.kind == "parameter" and event.name in named

    def place_of(self, event: Event | None) -> Place | None:
        """The user's line of an event; of what has none, of the first that has."""
        if event is not None and event.place is not None:
            return event.place
        return self.second.place if event is self.first and self.second else None

    def agreed(self) -> tuple[str, ...]:
        """What was the same just before, for a person."""
        told = []
        if self.parting.position:
            pair, position = self.parting.pair, self.parting.position - 1
            begun, ended = pair.number(0), pair.number(position)
            told.append(f"steps {begun} to {ended}" if position else f"step {begun}")
        counted: dict[str, list[Event]] = {}
        for each in self.before:
            counted.setdefault(each.kind, []).append(each)
        for kind, events in counted.items():
            last = events[-1]
            few = names.describe(last) if len(events) == 1 else names.count(len(events), kind)
            shown = len(events) > 1 and kind == "output"
            told.append(f"{few}, the last of {last.name or 'the model'}" if shown else few)
        gradients = self._gradients()
        return (*told, gradients) if gradients else tuple(told)

    def _gradients(self) -> str:
        """Gradients that agree beside one that does not."""
        if self.first is None or self.first.kind != "gradient":
            return ""
        pairs = zip(*self.parting.events, strict=False)
        found = [a for a, b in pairs if a.kind == b.kind == "gradient" and a.digest == b.digest]
        return names.count(len(found), "gradient") if found else ""
