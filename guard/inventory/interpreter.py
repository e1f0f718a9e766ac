"""Python itself: its release, its hash seed, and how it was started."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

from guard.hash_seed import hash_seed
from guard.reports import DIFFERS, MAY_DIFFER, OK, Entry

if TYPE_CHECKING:
    from guard.inventory.situation import Situation


def entries(_: Situation) -> list[Entry]:
    """What Python is."""
    name = platform.python_implementation()
    return [
        Entry("python", platform.python_version(), OK, f"{name}, from {sys.prefix}", decides=True),
        _hashing(),
        _asserts(),
        *_lock(),
    ]


def _hashing() -> Entry:
    seed = hash_seed()
    if seed is None:
        meaning = "a set of strings has another order in each run: see PYTHONHASHSEED below"
        return Entry("hash_seed", "random", DIFFERS, meaning, decides=True)
    meaning = "a set of strings has the same order in each run, if it is filled in the same order"
    return Entry("hash_seed", seed, OK, meaning, decides=True)


def _asserts() -> Entry:
    level = sys.flags.optimize
    meaning = f"{'-O' * bool(level) or 'no -O'}: asserts are {'left out' if level else 'run'}"
    return Entry("optimize", level, OK, meaning, decides=True)


def _lock() -> list[Entry]:
    """The lock that lets one thread run at a time; Python without it is there since 3.13."""
    is_held = getattr(sys, "_is_gil_enabled", None)
    if is_held is None or is_held():
        return []
    meaning = "threads run at once, and what they add up depends on which comes first"
    return [Entry("gil", False, MAY_DIFFER, meaning, decides=True)]
