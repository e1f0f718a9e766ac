"""What ``guard.report`` and ``python -m guard doctor`` look at: a function for each section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.inventory import activity, libraries, machine, switches
from guard.inventory.reports import NOT_APPLICABLE, Report, Section
from guard.inventory.situation import look

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.inventory.reports import Entry
    from guard.inventory.situation import Situation

_SECTIONS: dict[str, Callable[[Situation], list[Entry]]] = {
    "guard": activity.entries,
    "interpreter": machine.of_interpreter,
    "machine": machine.entries,
    "torch": machine.of_torch,
    "gpu": machine.of_gpus,
    "environment": switches.of_variables,
    "flags": switches.entries,
    "generators": switches.of_generators,
    "libraries": libraries.entries,
}


def report() -> Report:
    """How things stand in this process, with a verdict on each.

    Imports torch where it is installed. Changes nothing, starts no device, and raises
    nothing for what is missing: the report says so. ``report().digest`` is a line to log
    beside a run.
    """
    return Report(sections())


def sections() -> tuple[Section, ...]:
    """Every section, as things stand now. Imports torch where it is installed; starts no device."""
    situation = look()
    return tuple(
        Section(name, tuple(map(_counted, read(situation)))) for name, read in _SECTIONS.items()
    )


def _counted(entry: Entry) -> Entry:
    """What does not apply here decides no number, whatever it is set to."""
    return entry._replace(decides=False) if entry.verdict == NOT_APPLICABLE else entry
