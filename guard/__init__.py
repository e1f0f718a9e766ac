"""Make a training run deterministic, and say what stands in the way.

This release holds ``seed_worker``, which the linter's fix for DET201 inserts.
"""

from __future__ import annotations

from guard.seeding import seed_worker

__all__ = ["seed_worker"]
