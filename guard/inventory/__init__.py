"""What ``python -m guard doctor`` looks at: a module for each section of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.inventory import activity, generators, gpu, libraries, machine, switches, variables
from guard.inventory.situation import look
from guard.reports import NOT_APPLICABLE, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.inventory.situation import Situation
    from guard.reports import Entry

_SECTIONS: dict[str, Callable[[Situation], list[Entry]]] = {
    "guard": activity.entries,
    "interpreter": machine.of_interpreter,
    "machine": machine.entries,
    "torch": machine.of_torch,
    "gpu": gpu.entries,
    "environment": variables.entries,
    "flags": switches.entries,
    "generators": generators.entries,
    "libraries": libraries.entries,
}


def sections() -> tuple[Section, ...]:
    """Every section, as things stand now. Imports torch where it is installed; starts no device."""
    situation = look()
    return tuple(
        Section(name, tuple(map(_counted, read(situation)))) for name, read in _SECTIONS.items()
    )


def _counted(entry: Entry) -> Entry:
    """What does not apply here decides no number, whatever it is set to."""
    return entry._replace(decides=False) if entry.verdict == NOT_APPLICABLE else entry
