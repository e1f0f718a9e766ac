"""Tests under guard: ``pytest --guard``, the marker ``guard`` and the fixture ``deterministic``.

A guarded test runs in a block of its own, as ``with guard.deterministic(...)``: from before
its fixtures are set up until they are torn down. So it draws the same numbers whatever ran
before it. A fixture of wider scope than a function is made in a block of its own as well,
seeded by its name, and is the same whichever guarded test asks for it first. What modules draw
when they are imported is not covered. pytest-randomly, which seeds before each phase of a
test, begins at guard's seed for a guarded test, and seeds torch, too.

pytest loads this for everyone who has detlint installed. So it imports neither torch nor guard
before a test asks for them, and leaves alone an old pytest, and a project that has a ``guard``
of its own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from detlint.integrations.presence import give_way, others_guard

if TYPE_CHECKING:
    from pluggy import PluginManager

HOOKS = "detlint.integrations.pytest_hooks"


def pytest_addoption(pluginmanager: PluginManager) -> None:
    """Add the hooks, where pluggy is new enough for them and ``guard`` is ours."""
    give_way()
    try:
        pytest.hookimpl(wrapper=True)
    except TypeError:  # before pluggy 1.2
        return
    if others_guard():
        return
    from detlint.integrations import pytest_hooks

    pluginmanager.register(pytest_hooks, HOOKS)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say so where the hooks are not there."""
    other = "" if config.pluginmanager.has_plugin(HOOKS) else others_guard(config)
    return f"detlint: {other}, so its own --guard is off" if other else None


def seed_torch(seed: int) -> None:
    """Seed torch on every device in a guarded test: what pytest-randomly calls with each seed.

    pytest-randomly takes any integer, and adds one of 32 bits to it; torch takes 64 bits.
    """
    blocks: Any = sys.modules.get("guard.integrations.pytest_blocks")
    torch: Any = sys.modules.get("torch")
    if torch is not None and getattr(blocks, "OPEN", None):
        torch.manual_seed(seed % 2**64)
