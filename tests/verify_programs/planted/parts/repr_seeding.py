"""Seeds that depend on names and settings only: adding a layer must not change how the others begin."""

import hashlib
import random

import numpy as np
import torch


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)


def derive(seed: int, *parts) -> int:
    """A seed for one purpose, from the run's seed and whatever tells the purpose."""
    text = "/".join([str(seed), *(repr(part) for part in parts)])  # planted: initialisation
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def stream(seed: int, *parts) -> torch.Generator:
    return torch.Generator().manual_seed(derive(seed, *parts))
