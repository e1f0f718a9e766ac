"""Seeds for the generators that a run draws from."""

from __future__ import annotations

import random


def seed_worker(worker_id: int) -> None:
    """Seed a ``DataLoader`` worker: pass it as ``worker_init_fn``.

    Seeds ``random`` and NumPy's global generator from ``torch.initial_seed()``,
    which differs between workers and from epoch to epoch, and repeats in a run
    that starts from the same seed. torch 1.9 and newer do the same by default,
    so this states the intent and serves older releases. Generator objects that
    the dataset holds are not reached: seed those in the dataset, from
    ``torch.utils.data.get_worker_info().seed``.

    Raises ModuleNotFoundError without torch: ``pip install "detlint[guard]"``.
    """
    del worker_id  # torch has already mixed it into the worker's seed
    try:
        import torch
    except ModuleNotFoundError as error:
        message = 'guard.seed_worker needs torch: pip install "detlint[guard]"'
        raise ModuleNotFoundError(message, name="torch") from error
    seed = torch.initial_seed() % 2**32  # NumPy takes 32 bits
    random.seed(seed)
    try:
        import numpy as np
    except ModuleNotFoundError:
        return
    np.random.seed(seed)  # noqa: NPY002 - the global generator is what is to be seeded
