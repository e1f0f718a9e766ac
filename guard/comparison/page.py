"""The report as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.comparison.differences import Comparison


def page(comparison: Comparison) -> str:
    """The page, whole; write it as UTF-8."""
    raise NotImplementedError
