"""What is known of the first difference when its cause is asked for.

And what is not the same around two runs: items of the environment, the seed, the command.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import names
from guard.diff.differences import Change
from guard.diff.pairs import RUNS
from guard.diff.walks import differing_generators

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.diff.differences import Cause
    from guard.diff.walks import Draw, Parting
    from guard.observe.places import Place
    from guard.trace import Event, Header

SEED, COMMAND = "seed", "command"
# Of these no kernel depends, whatever else does: verify sets them on purpose.
_NO_KERNELS = ("hash_seed", "PYTHONHASHSEED", "MALLOC_PERTURB_", "guard: seed")
_NONE = "not set"


def changes_of(first: Header, second: Header) -> tuple[Change, ...]:
    """What differs, the command and the seed first."""
    return (*_started(first, second), *_items(first, second))


def for_kernels(found: Iterable[Change]) -> tuple[Change, ...]:
    """Those by which a kernel can give other numbers."""
    return tuple(
        each
        for each in found
        if each.name not in (SEED, COMMAND) and not each.name.endswith(_NO_KERNELS)
    )


def told_changes(found: Iterable[Change]) -> str:
    """In a sentence: "torch: version (2.12 and 2.13), machine: cpu (…)"."""
    return ", ".join(f"{each.name} ({each.first} and {each.second})" for each in found)


def _started(first: Header, second: Header) -> list[Change]:
    found = []
    if first.seed != second.seed:
        found.append(Change(SEED, _shown(first.seed), _shown(second.seed)))
    commands = [shlex.join(each.command) for each in (first, second)]
    if commands[0] != commands[1]:
        found.append(Change(COMMAND, commands[0] or "not known", commands[1] or "not known"))
    return found


def _items(first: Header, second: Header) -> list[Change]:
    held = [each.environment for each in (first, second)]
    when = "later" if all("later" in each for each in held) else "items"
    items = [each.get(when) for each in held]
    one, other = (each if isinstance(each, dict) else {} for each in items)
    if not one or not other:
        return []
    names = [*one, *(name for name in other if name not in one)]
    return [
        Change(str(name), _shown(one.get(name)), _shown(other.get(name)))
        for name in names
        if one.get(name) != other.get(name)
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return _NONE if value is None else str(value)


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
    changes: tuple[Change, ...]

    @property
    def first(self) -> Event | None:
        """The event that differs, in the first run."""
        return self.parting.mismatch.first if self.parting.mismatch else None

    @property
    def second(self) -> Event | None:
        """The event that differs, in the second run."""
        return self.parting.mismatch.second if self.parting.mismatch else None

    @property
    def both(self) -> tuple[Event, Event]:
        """The event that differs, in both runs: what only one run has is control flow."""
        if self.first is None or self.second is None:
            raise AssertionError("only one run has it")
        return self.first, self.second

    @property
    def what(self) -> str:
        """The event that differs, in words."""
        return names.describe(self.both[0])

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
    def is_initial(self) -> bool:
        """Whether nothing had run yet."""
        return not self.parting.position and not any(each.kind in RUNS for each in self.before)

    @cached_property
    def generators(self) -> list[Draw]:
        """Those that differ."""
        return differing_generators(self.parting)

    @cached_property
    def environment(self) -> tuple[Change, ...]:
        """What differs in the environment and can make a kernel give other numbers."""
        return for_kernels(self.changes)

    @property
    def gradients(self) -> tuple[int, int]:
        """How many gradients agree in the step, and how many there are."""
        pairs = zip(*self.parting.events, strict=False)
        both = [(a, b) for a, b in pairs if a.kind == b.kind == "gradient" and a.name == b.name]
        return sum(a.digest == b.digest for a, b in both), len(both)

    def started(self, *items: str) -> str:
        """How the runs were started differently, of some items, as a sentence; or ""."""
        changed = [each for each in self.changes if each.name in items]
        return f" The runs were started differently: {told_changes(changed)}." if changed else ""

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
        same, _ = self.gradients
        if same and self.first is not None and self.first.kind == "gradient":
            told.append(names.count(same, "gradient"))
        return tuple(told)
