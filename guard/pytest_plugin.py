"""Tests under guard: ``pytest --guard``, the marker ``guard`` and the fixture ``deterministic``.

A guarded test runs in a block of its own, as ``with guard.deterministic(...)``: from before
its fixtures are set up until they are torn down. So it draws the same numbers whatever ran
before it. A fixture of wider scope than a function is made in a block of its own as well,
seeded by its name, and is the same whichever guarded test asks for it first. What modules draw
when they are imported is not covered. pytest-randomly, which seeds before each phase of a
test, begins at guard's seed for a guarded test.

pytest loads this for everyone who has detlint installed. So it imports neither torch nor the
rest of guard before a test asks for them, and leaves an old pytest alone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pluggy import PluginManager


def pytest_addoption(pluginmanager: PluginManager) -> None:
    """Add the hooks, where pluggy is new enough for them."""
    try:
        pytest.hookimpl(wrapper=True)
    except TypeError:  # before pluggy 1.2
        return
    from guard import pytest_hooks

    pluginmanager.register(pytest_hooks, "guard.pytest_hooks")


def seed_torch(seed: int) -> None:
    """Seed torch on every device: what pytest-randomly calls with each seed that it sets.

    Where nothing has imported torch, there is nothing to seed. pytest-randomly takes any
    integer, and adds one of 32 bits to it; torch takes 64 bits.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed % 2**64)
