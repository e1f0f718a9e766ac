"""Independent streams of random numbers, by name, from the one seed."""

from __future__ import annotations

import hashlib
import operator
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch
from guard.errors import GuardError, SettingsError
from guard.settings import checked_seed
from guard.setup.seeding import active_seed, current_seed, seed_worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

    import torch


# By the seed that they come from, their name and their device.
_named: dict[tuple[int, str, str], Any] = {}


def derived(seed: int, name: str) -> int:
    """A seed for a stream of that name: the same on every machine, with NumPy and without.

    SHA-256 of both, 63 bits of it. torch's generator on the CPU takes the lower 32 bits of
    a seed (torch 2.13), so that two of 1000 names meet once in about 8600 programs.
    """
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def resolved(seed: str | int | None, default: str) -> int:
    """The seed that a caller means: an int is one, a name is derived, None has a name."""
    if seed is None or isinstance(seed, str):
        return derived(active_seed(), seed or default)
    return checked_seed(seed)


def generator(name_or_seed: str | int, device: str | torch.device = "cpu") -> torch.Generator:
    """A generator of its own: by name from guard's seed, or from a seed of its own.

    Draws from one do not shift what others draw. A name gives the same object each time,
    which ``guard.rng_state`` covers; a seed gives a new one each time, which it does not.
    In a ``DataLoader`` worker, the named ones are the worker's: other workers and other
    epochs draw other numbers. The same name on two devices means the same seed; a CPU and
    a GPU draw different numbers from it.

    Raises GuardError for a name while guard is off, SettingsError for a seed that is not
    an integer from 0 to 2**32 - 1, MissingDependencyError without torch, RuntimeError for
    a device that is not there.
    """
    made: torch.Generator = import_torch("guard.generator").Generator(device=device)
    if not isinstance(name_or_seed, str):
        return made.manual_seed(checked_seed(name_or_seed))
    seed = active_seed()
    key = (seed, name_or_seed, _whole(made.device))
    if key not in _named:
        _named[key] = made.manual_seed(derived(seed, name_or_seed))
    found: torch.Generator = _named[key]
    return found


def _whole(device: torch.device) -> str:
    """Its name, with the index of the one that "cuda" stands for."""
    return str(import_torch("guard.generator").empty(0, device=device).device)


def loader_options(name_or_seed: str | int | None = None) -> dict[str, Any]:
    """Arguments for a ``DataLoader`` whose order and draws repeat from run to run::

        loader = DataLoader(dataset, shuffle=True, num_workers=4, **guard.loader_options())

    ``generator`` draws the order and the workers' seeds, apart from all other draws;
    ``worker_init_fn`` is ``guard.seed_worker``. Give each loader a name or a seed of its
    own, so that none shifts another's order: ``guard.loader_options("validation")``. The
    number of workers is part of the run: each draws its own numbers.

    Raises what ``guard.generator`` does.
    """
    name = "loader" if name_or_seed is None else name_or_seed
    return {"generator": generator(name), "worker_init_fn": seed_worker}


def named() -> dict[str, dict[str, Any]]:
    """The generators that came by name from the seed in force, by device and name."""
    found: dict[str, dict[str, Any]] = {}
    for (origin, name, device), each in _named.items():
        if origin == current_seed():
            found.setdefault(device, {})[name] = each
    return found


def restart() -> None:
    """Begin every generator by name anew, from the seed in force here: a forked worker has
    copies of its parent's generators, and a seed of its own."""
    for (_, name, device), each in exchange({}).items():
        seed = active_seed()
        _named[seed, name, device] = each.manual_seed(derived(seed, name))


def exchange(others: dict[tuple[int, str, str], Any]) -> dict[tuple[int, str, str], Any]:
    """Put in other generators by name; those that were there."""
    found = dict(_named)
    _named.clear()
    _named.update(others)
    return found


class EpochSampler:
    """Indices of a dataset, shuffled anew each epoch: the ``sampler`` of a ``DataLoader``::

        sampler = guard.EpochSampler(dataset)
        loader = DataLoader(dataset, batch_size=32, sampler=sampler)

    Each iteration is one epoch: 0, 1, 2, …, or from where ``set_epoch`` puts it. The order
    depends on the seed and the number of the epoch only, not on what else is drawn, so
    that a run can be resumed within an epoch: ``load_state_dict(state_dict())``.

    ``source`` is a dataset with a length, or the length. ``seed`` is an integer from 0 to
    2**32 - 1, or a name for a stream of guard's seed; None is a name, too. ``len`` is that
    of a whole epoch. For several replicas that share a dataset, take torch's
    ``DistributedSampler``, which needs ``set_epoch``.

    Raises SettingsError for a source without length or a seed that is none, GuardError
    for no seed while guard is off, MissingDependencyError without torch.
    """

    def __init__(
        self, source: Sized | int, seed: str | int | None = None, *, shuffle: bool = True
    ) -> None:
        import_torch("guard.EpochSampler")
        self.length = _length(source)
        self.seed = resolved(seed, "sampler")
        self.shuffle = shuffle
        self.epoch = 0
        self._position = 0  # of the next index in this epoch
        self._begun = False  # this epoch's order has been asked for

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        if self._begun:
            self.set_epoch(self.epoch + 1)
        self._begun = True
        return self._indices(self._order(), self._position, self.epoch)

    def _order(self) -> list[int]:
        if not self.shuffle:
            return list(range(self.length))
        torch = import_torch("guard.EpochSampler")
        source = torch.Generator().manual_seed(derived(self.seed, f"epoch {self.epoch}"))
        # The device is named: torch.set_default_device would ask for another generator.
        order: list[int] = torch.randperm(self.length, generator=source, device="cpu").tolist()
        return order

    def _indices(self, order: list[int], start: int, epoch: int) -> Iterator[int]:
        for position in range(start, self.length):
            if self.epoch == epoch:  # else a newer iteration counts
                self._position = position + 1
            yield order[position]

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration that of an epoch, from its start; where it was resumed, from
        there. Raises SettingsError for what is not an integer from 0."""
        number = _natural(epoch, "an epoch")
        if number != self.epoch or self._begun:
            self._position = 0
        self.epoch, self._begun = number, False

    def state_dict(self, position: int | None = None) -> dict[str, Any]:
        """What ``load_state_dict`` takes, also within an epoch.

        ``position`` is how many samples of the epoch have been used. By default it is how
        many have been asked for, which is more where a ``DataLoader`` has workers, as they
        fetch ahead: pass ``step * batch_size`` there.
        """
        asked = self._position if position is None else _natural(position, "a position")
        return {
            "seed": self.seed,
            "shuffle": self.shuffle,
            "epoch": self.epoch,
            "position": asked,
            "length": self.length,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where ``state_dict`` was taken: in that epoch, or after it if it was done.

        The next iteration, or one after ``set_epoch`` of the same epoch, gives the rest.
        Raises GuardError for what is no such state, or one of a dataset of another length.
        """
        lacking = sorted({"seed", "shuffle", "epoch", "position", "length"} - set(state))
        if lacking:
            raise GuardError(f"this is no state of an EpochSampler: it lacks {lacking[0]!r}")
        if state["length"] != self.length:
            raise GuardError(
                f"this state is of a dataset of {state['length']} samples, and this one has "
                f"{self.length}: their orders have nothing in common"
            )
        self.seed, self.shuffle = state["seed"], state["shuffle"]
        self.epoch, self._position, self._begun = state["epoch"], state["position"], False
        if self._position >= self.length:
            self.epoch, self._position = self.epoch + 1, 0


def _length(source: Sized | int) -> int:
    if hasattr(source, "__len__"):
        return len(source)
    return _natural(source, "what EpochSampler takes, if not a dataset with a length,")


def _natural(value: object, what: str) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise SettingsError(f"{what} is an integer from 0, not {value!r}")
    return number
