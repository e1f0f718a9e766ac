"""What a resumed run holds that is not as it was: of all that the program holds, what moves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from guard.diff.names import listed
from guard.digests.values import OPAQUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.trace.statements import Held, Snapshots

_SHOWN = 2  # parts of an object that are told


class Part(NamedTuple):
    """A value that is not as it was.

    below  where in the object it is: ".last_epoch"; "" for the value itself
    was, found  as texts; "" for what is no number or short text, and where there is nothing
    """

    below: str
    was: str
    found: str


class Lost(NamedTuple):
    """Something of the program's of which a resumed run did not get the state back.

    like        a value of it: what it is, and where
    parts       values that are not as they were
    is_anew     whether all of these are as at the beginning of the program, or not there
    """

    like: Held
    parts: tuple[Part, ...]
    is_anew: bool

    @property
    def name(self) -> str:
        """For a person: "Engine.scheduler"."""
        return f"{self.like.owner}.{self.like.name}" if self.like.is_field else self.like.name

    @property
    def words(self) -> str:
        """What it had, and what it has in the resumed run."""
        start = f"{self.name} ({self.like.kind})" if self.like.kind else ""
        told = [each for each in self.parts if each.was and each.found]
        shown = (told or self.parts)[:_SHOWN]
        names = [each.below.lstrip(".") if start else self.name + each.below for each in shown]
        if told:
            pairs = zip(names, shown, strict=True)
            names = [f"{name} was {each.was} and is {each.found}".strip() for name, each in pairs]
        if more := len(self.parts) - len(shown):
            names.append(f"{more} more")
        start += ": " if start and shown[0].below else " " if start else ""
        does = "in the resumed run" if told else "did not come back"
        return f"{start}{listed(names)} {does}".replace("  ", " ")


def lost(whole: Snapshots, resumed: Snapshots, again: Snapshots | None) -> list[Lost]:
    """Things whose state moved up to a step of one run, and is not what a resumed one has there; of
    objects of a known role, what did not move as well.

    What moves by itself is none: it is told by another run up to that step.

    again  of another run up to that step, or None
    """
    first, now = _by_place(whole.first), _by_place(resumed.later)
    other = None if again is None else _by_place(again.later)
    known = {key[:3] for key in now}
    groups: dict[tuple[str, ...], list[tuple[Held, Held | None]]] = {}
    for key, each in _by_place(whole.later).items():
        found, before = now.get(key), first.get(key)
        moved = before is None or before.digest != each.digest
        steady = other is None or (key in other and other[key].digest == each.digest)
        differs = found.digest != each.digest if found else key[:3] in known
        if (moved or each.role) and steady and differs and not each.digest & OPAQUE and each.digest:
            groups.setdefault(key[:3], []).append((each, found))
    return [_lost(pairs, first) for pairs in groups.values()]


_Key = tuple[str, str, str, str, int]


def _by_place(found: Iterable[Held]) -> dict[_Key, Held]:
    """By what has it; of several objects of a class, by their number."""
    return dict(_numbered(found))


def _numbered(found: Iterable[Held]) -> Iterator[tuple[_Key, Held]]:
    counted = Counter[tuple[str, ...]]()
    for each in found:
        key = (each.file, each.owner, each.name, each.below)
        yield (*key, counted[key]), each
        counted[key] += 1


def _lost(pairs: list[tuple[Held, Held | None]], first: dict[_Key, Held]) -> Lost:
    parts = tuple(Part(each.below, each.text, found.text if found else "") for each, found in pairs)
    begun = {(key[:4], each.digest) for key, each in first.items()}
    anew = (
        found is None or ((each.file, each.owner, each.name, each.below), found.digest) in begun
        for each, found in pairs
    )
    return Lost(pairs[0][0], parts, all(anew))
