"""What ``guard.report`` and ``python -m guard doctor`` look at: a function for each section."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from guard.inventory import libraries, machine, switches
from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, Entry, Report, Section
from guard.inventory.situation import look, version_of
from guard.refusals import watch
from guard.repairs.accounts import accounts, by_operation, meaning, would_replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.inventory.situation import Situation


def report() -> Report:
    """How things stand in this process, with a verdict on each.

    Imports torch where it is installed. Changes nothing, starts no device, and raises
    nothing for what is missing: the report says so. ``report().digest`` is a line to log
    beside a run.
    """
    return Report(sections())


def prepare() -> None:
    """Import what a report asks, so that the first one takes little time; torch is there."""
    would_replace(gpu=False)


def sections() -> tuple[Section, ...]:
    """Every section, as things stand now. Imports torch where it is installed; starts no device."""
    situation = look()
    return tuple(
        Section(name, tuple(map(_counted, read(situation)))) for name, read in _SECTIONS.items()
    )


def _counted(entry: Entry) -> Entry:
    """What does not apply here decides no number, whatever it is set to."""
    return entry._replace(decides=False) if entry.verdict == NOT_APPLICABLE else entry


# guard itself: whether it is on, with which settings, and what it has let through

# What a setting means that is not the default: the verdict may differ, or else it is as good.
_COSTLY = {
    "fill": "memory that nothing has written holds what lay there, so what reads it differs",
    "strict": "operators that are known to differ without a word are let through",
    "allow": "these operators run as they are, and differ from run to run",
}
_KEPT = {
    "rank_offset": "each rank draws other numbers: its rank is added to the seed",
    "reduced_precision": "TF32 and reduced-precision sums are off",
    "cudnn": "cuDNN is off",
    "dropout": "dropout is taken out",
    "rng": "random tensors are drawn on the CPU",
    "repair": "operators that refuse, or differ, run a deterministic replacement",
}


def _of_guard(situation: Situation) -> list[Entry]:
    """What guard does here."""
    release = version_of("detlint", "detlint")
    version = Entry("version", release, OK, "of detlint, which brings guard", decides=True)
    if not situation.is_active:
        return [version, _off(), _would_take(situation), *_repairable(situation)]
    on = Entry("active", True, OK, "guard is on, with the settings below", decides=True)
    could = [] if situation.settings.repair else _repairable(situation)
    return [version, on, *_settings(situation), *_let_through(), *_repaired(), *could]


def _off() -> Entry:
    meaning = (
        "guard is off in this process: call guard.enable(seed=0) at the entrypoint, or start the "
        "program with `python -m guard run`"
    )
    return Entry("active", False, MAY_DIFFER, meaning, decides=True)


def _would_take(situation: Situation) -> Entry:
    if situation.complaint:
        return Entry("settings", None, DIFFERS, f"guard.enable refuses: {situation.complaint}")
    given = asdict(situation.settings).items()
    value = ", ".join(f"{name}={_shown(each)}" for name, each in given)
    return Entry("settings", value, OK, "what guard.enable() would take")


def _settings(situation: Situation) -> list[Entry]:
    fields = type(situation.settings).__dataclass_fields__
    found = []
    for name, value in asdict(situation.settings).items():
        if name == "seed":
            meaning = "every generator that guard knows began with it"
            found.append(Entry(name, value, OK, meaning))  # the digest shows it by itself
        elif value == fields[name].default:
            found.append(Entry(name, _shown(value), OK, "the default", decides=True))
        elif name in _COSTLY:
            found.append(Entry(name, _shown(value), MAY_DIFFER, _COSTLY[name], decides=True))
        else:
            found.append(Entry(name, _shown(value), OK, _KEPT[name], decides=True))
    return found


def _shown(value: object) -> str | bool | int:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return value if isinstance(value, (bool, int)) else str(value)


def _let_through() -> list[Entry]:
    watcher = watch.current()
    counted = watcher.let_through if watcher is not None else {}
    meaning = "times it ran although it has no deterministic implementation: it was allowed"
    return [Entry(f"let through: {name}", counted[name], MAY_DIFFER, meaning) for name in counted]


def _repaired() -> list[Entry]:
    return [
        Entry(
            f"repaired: {operation}",
            sum(each.calls for each in places),
            OK,
            "; ".join(map(meaning, places)),
        )
        for operation, places in by_operation(accounts()).items()
    ]


def _repairable(situation: Situation) -> list[Entry]:
    if situation.torch is None:
        return []
    told = "repair=True replaces what refuses there: guard run --repair"
    return [Entry("repairable", would_replace(situation.has_gpu), OK, told)]


_SECTIONS: dict[str, Callable[[Situation], list[Entry]]] = {
    "guard": _of_guard,
    "interpreter": machine.of_interpreter,
    "machine": machine.entries,
    "torch": machine.of_torch,
    "gpu": machine.of_gpus,
    "environment": switches.of_variables,
    "flags": switches.entries,
    "generators": switches.of_generators,
    "libraries": libraries.entries,
}
