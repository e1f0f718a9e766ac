"""Which of the libraries with kernels or generators of their own are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.dependencies import loaded
from guard.inventory.library_table import LIBRARIES, Library
from guard.inventory.versions import version_of
from guard.reports import MAY_DIFFER, NOT_APPLICABLE, OK, Entry

if TYPE_CHECKING:
    from guard.inventory.situation import Situation
    from guard.reports import Level

_IN_FORCE = ("set by guard", "set by user")


def entries(situation: Situation) -> list[Entry]:
    """Each that is imported or installed."""
    found = ((each, version_of(each.module, *each.distributions)) for each in LIBRARIES)
    return [_entry(each, version, situation) for each, version in found if version is not None]


def _entry(library: Library, version: str, situation: Situation) -> Entry:
    imported = "imported" if loaded(library.module) else "installed, not imported"
    meaning = f"{imported}: {library.meaning}"
    verdict = _verdict(library, situation)
    return Entry(library.module, version, verdict, meaning, decides=True)


def _verdict(library: Library, situation: Situation) -> Level:
    state = situation.state(library.variable)
    if state in _IN_FORCE:
        return OK
    if state == "not applicable":  # JAX without a GPU
        return NOT_APPLICABLE
    if library.verdict == OK and not situation.is_active:  # it asks torch, and torch says no
        return MAY_DIFFER
    is_seeded = library.is_seeded and situation.is_active and loaded(library.module)
    return OK if is_seeded else library.verdict
