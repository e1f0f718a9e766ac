"""Independent streams of random numbers, by name, from the one seed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch
from guard.settings import checked_seed
from guard.setup.seeding import active_seed, current_seed, seed_worker

if TYPE_CHECKING:
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
