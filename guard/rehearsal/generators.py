"""Generators of random numbers on the fake device, and draws from one that nobody seeded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from guard.rehearsal.findings import OtherSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from guard.observe import places
    from guard.observe.modes import Run

_Real: Any = torch.Generator
# A new one has a constant seed, until ``seed`` asks the system. Operators are handed another
# object for the same generator, so that it is known by its address.
_by_the_system: set[int] = set()


class _Any(type(_Real)):  # type: ignore[misc]  # torch's type has no stub for its own
    """Every generator is one, also those made before."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Real)


class FakeGenerator(_Real, metaclass=_Any):  # type: ignore[misc]
    """A generator of the CPU that says it is where it was asked to be."""

    def __new__(cls, device: Any = "cpu") -> Self:  # noqa: ANN401
        made: Self = super().__new__(cls, "cpu")
        made._guard_device = torch.device(device)
        return made

    @property
    def device(self) -> torch.device:
        found: torch.device = self._guard_device
        return found

    def seed(self) -> int:
        drawn: int = super().seed()
        _by_the_system.add(self._cdata)
        return drawn

    def manual_seed(self, seed: int) -> Self:
        _by_the_system.discard(self._cdata)
        super().manual_seed(seed)
        return self


class Draws:
    """Follows which random numbers come from a generator that nobody seeded.

    seeded  whether the default generators are; torch seeds them with what the system gives
    """

    def __init__(self, *, seeded: bool) -> None:
        self.seeded = seeded
        self._unseeded: Counter[tuple[str, places.Trail | None]] = Counter()

    def follow(self, run: Run, here: Callable[[], places.Trail | None]) -> None:
        """An operator runs: note what it draws from."""
        if not run.draws:
            return
        generator = run.kwargs.get("generator")
        if isinstance(generator, _Real):
            if generator._cdata in _by_the_system:  # noqa: SLF001
                self._unseeded["a generator that was seeded by the system", here()] += 1
        elif not self.seeded and _draws(run):
            self._unseeded["torch's own generator, which nobody has seeded", here()] += 1

    def sources(self) -> Iterator[OtherSource]:
        """What was found."""
        from guard.rehearsal.recorder import where

        for (what, trail), count in self._unseeded.items():
            yield OtherSource(
                "unseeded draw",
                f"random numbers are drawn from {what}",
                "call guard.enable(seed=0), or torch.manual_seed(0), before it",
                where(trail),
                times=count,
            )


def _draws(run: Run) -> bool:
    """Whether a call draws at all: dropout that is off, or drops nothing, does not."""
    if "dropout" not in run.name:
        return True
    given = run.named()
    return bool(given.get("p", 1)) and given.get("train", True) is not False
