"""The seed in force: as a stage, for each rank, and in each worker."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch, loaded, process_group
from guard.errors import GuardError, SettingsError
from guard.settings import LARGEST_SEED
from guard.setup.seeders import seed_everything, seed_numpy, seed_random

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings

# Launchers that number their processes: torchrun, Slurm, Open MPI.
_RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")

# The seed in force in this process, and that of the worker in which it was set.
_active: tuple[int, int | None] | None = None


def rank() -> int:
    """This process's rank: of ``torch.distributed``, else of its launcher, else 0.

    Raises SettingsError where a launcher's variable is not a number.
    """
    if (connected := process_group()) is not None:
        return int(connected.get_rank())
    for name in _RANK_VARIABLES:
        text = os.environ.get(name)
        if text is not None:
            if not text.isdecimal():
                raise SettingsError(f"{name} is the number of a process, not {text!r}")
            return int(text)
    return 0


def active_seed() -> int:
    """The seed in force here: guard's, with the rank if asked for; in a worker, the worker's.

    A ``DataLoader`` worker's seed is torch's own: other workers and other epochs have
    others. Raises GuardError where guard is off.
    """
    seed = current_seed()
    if seed is None:
        raise GuardError(
            "guard is off, so there is no seed to derive from: call guard.enable(seed=0) first, "
            "or pass a seed of your own"
        )
    return seed


def current_seed() -> int | None:
    """As ``active_seed``, and None where guard is off."""
    worker = _worker_seed()
    if _active is not None and _active[1] == worker:
        return _active[0]
    return worker  # a worker inherits its parent's seed, and has one of its own


def _worker_seed() -> int | None:
    module: Any = loaded("torch.utils.data._utils.worker")
    info = module.get_worker_info() if module else None
    return None if info is None else int(info.seed)


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Seed every generator, and put back the state that each had."""
    from guard.setup.rng_states import kept

    global _active  # noqa: PLW0603 - it is about the process
    outer = _active
    offset = rank() if settings.rank_offset else 0
    seed = (settings.seed + offset) % (LARGEST_SEED + 1)
    with kept():
        try:
            seed_everything(seed)
            _active = seed, _worker_seed()
            yield
        finally:
            _active = outer


def seed_worker(worker_id: int) -> None:
    """Seed a ``DataLoader`` worker: pass it as ``worker_init_fn``.

    Seeds ``random``, NumPy's global generator and torch from ``torch.initial_seed()``,
    which differs between workers and from epoch to epoch, and repeats in a run that
    starts from the same seed. torch 1.9 and newer do the same by default, so this states
    the intent and serves older releases. Beyond that it reaches the copies that a forked
    worker has of generators made by name, with ``guard.generator``.

    Other generator objects that the dataset holds are not reached, and are the same in
    each worker: ask for them inside ``__getitem__``, as ``guard.generator("name")``, which
    is the worker's own there.

    Raises MissingDependencyError without torch.
    """
    del worker_id  # torch has already mixed it into the worker's seed
    torch = import_torch("guard.seed_worker")
    seed = torch.initial_seed()
    torch.manual_seed(seed)
    seed_random(seed % (LARGEST_SEED + 1))
    seed_numpy(seed % (LARGEST_SEED + 1))
    from guard.setup.streams import restart

    restart()
