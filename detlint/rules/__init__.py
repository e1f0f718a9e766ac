"""The rules, one a file, found by looking into this folder."""

from __future__ import annotations

import functools
import importlib

from detlint.rule import Rule


@functools.cache
def every_rule() -> tuple[type[Rule], ...]:
    """All rules, sorted by code."""
    import pkgutil

    found: list[type[Rule]] = []
    for module in pkgutil.iter_modules(__path__):
        members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        found.extend(
            member
            for member in members
            if isinstance(member, type) and issubclass(member, Rule) and member is not Rule
        )
    return tuple(sorted(found, key=lambda rule: rule.code))
