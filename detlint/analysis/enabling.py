"""Whether a file turns on deterministic algorithms, for rules that they make pointless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.attention import says

if TYPE_CHECKING:
    from detlint.module import Module

_ON = (
    r"\buse_deterministic_algorithms\(\s*(?:mode\s*=\s*)?True\s*,?\s*\)"
    r"|\bset_deterministic_debug_mode\(\s*(?:2\b|[\"']error)"
    r"|\bguard\.(?:enable|deterministic)\(|\bimport guard\.auto\b"
    r"|(?<!def )\benable_full_determinism\((?![^)]*warn_only\s*=\s*True)"
    r"|\bfull_determinism\s*=\s*True\b"
    r"|\b(?:Trainer|Fabric|set_seed)\([^)]*\bdeterministic\s*=\s*True\b"
)


def turns_on(module: Module) -> bool:
    """Whether the file says so anywhere, strictly: ``warn_only=True`` does not count."""
    return says(module, _ON)
