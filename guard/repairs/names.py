"""Which repairs a setting names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import SettingsError
from guard.refusals.allowance import allowed
from guard.repairs.table import LEFT, REPAIRS, Repair

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.settings import Settings


def wanted(repair: bool | tuple[str, ...], allow: Iterable[str] = ()) -> tuple[Repair, ...]:
    """All, none, or those of some names; an operator that is allowed runs as it is.

    Raises SettingsError for a name that is none, with near ones, and for an operator that has
    no replacement.
    """
    if repair is False:
        return ()
    spared = {row.name for row in allowed(allow)}
    every = [each for each in REPAIRS if each.operation not in spared]
    if repair is True:
        return tuple(every)
    named = {row.name for row in allowed(repair, setting="repair")}
    for name in sorted(named & LEFT.keys()):
        if not named - LEFT.keys():
            raise SettingsError(f"repair: {name} has no replacement: {LEFT[name]}")
    return tuple(each for each in every if each.operation in named)


def check_names(settings: Settings) -> None:
    """Raise SettingsError for a name that is none, before anything is set."""
    wanted(settings.repair, settings.allow)
