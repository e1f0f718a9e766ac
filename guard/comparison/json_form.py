"""The report for programs; docs/verify-compare.md describes the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guard.comparison.differences import Comparison


def as_json(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison, of what JSON has: no NaN, no bytes."""
    raise NotImplementedError
