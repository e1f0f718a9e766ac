"""What ``guard.report`` gives: entries in sections, each with a verdict, and a line for a log."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, NamedTuple

Level = Literal["ok", "differs", "may differ", "unknown", "not applicable"]

OK: Level = "ok"  # the same in each run
DIFFERS: Level = "differs"  # another one in each run, or not as guard had set it
MAY_DIFFER: Level = "may differ"  # it depends on what the program, or a library, does
UNKNOWN: Level = "unknown"  # cannot be seen from here
NOT_APPLICABLE: Level = "not applicable"  # nothing here reads it, or has it
LEVELS = (OK, DIFFERS, MAY_DIFFER, UNKNOWN, NOT_APPLICABLE)

FORMAT = 1  # of as_dict; another number when a key goes, or means something else

# What stands in the digest before the hash: its name there, the section and the entry.
_SHOWN = (
    ("python", "interpreter", "python"),
    ("torch", "torch", "torch"),
    ("cuda", "gpu", "cuda"),
    ("gpu", "gpu", "devices"),
    ("cpu", "torch", "capability"),
    ("threads", "torch", "threads"),
    ("guard", "guard", "active"),
    ("seed", "guard", "seed"),
)


class Entry(NamedTuple):
    """One thing that was looked at.

    name      of the thing; unique in its section
    value     what it is, or None
    verdict   one of LEVELS
    meaning   what that means here, and what to do, in a line
    decides   whether the numbers of a run depend on the value: it goes into the hash
    """

    name: str
    value: str | int | float | bool | None
    verdict: Level
    meaning: str
    decides: bool = False


class Section(NamedTuple):
    """Entries about one thing."""

    name: str
    entries: tuple[Entry, ...]


class Report(NamedTuple):
    """How things stand in this process. ``str`` of it is the digest."""

    sections: tuple[Section, ...]

    def find(self, section: str, name: str) -> Entry | None:
        """An entry by its name, or None where this process has no such thing."""
        entries = (each.entries for each in self.sections if each.name == section)
        return next((entry for found in entries for entry in found if entry.name == name), None)

    def counts(self) -> dict[Level, int]:
        """How many entries have each verdict, in the order of LEVELS."""
        counted = Counter(entry.verdict for each in self.sections for entry in each.entries)
        return {level: counted[level] for level in LEVELS}

    @property
    def fingerprint(self) -> str:
        """64 bits, in hexadecimal, over everything that decides the numbers of a run.

        Versions, processor, GPUs, flags, variables, numbers of threads and of ranks, and
        guard's settings, but for the seed, which the digest shows beside it.
        """
        import hashlib
        import json

        deciding = [
            (section.name, entry.name, entry.value)
            for section in self.sections
            for entry in section.entries
            if entry.decides
        ]
        return hashlib.sha256(json.dumps(sorted(deciding, key=repr)).encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """One line to log beside a run: what matters most, and the fingerprint.

        It is the same in two runs in the same environment under the same seed.
        """
        found = [(name, self.find(section, entry)) for name, section, entry in _SHOWN]
        shown = [f"{name}={word(entry.value if entry else None)}" for name, entry in found]
        return " ".join([*shown, f"env={self.fingerprint}"])

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; docs/doctor.md describes the keys."""
        return {
            "format": FORMAT,
            "digest": self.digest,
            "fingerprint": self.fingerprint,
            "counts": self.counts(),
            "sections": {
                section.name: {
                    entry.name: {
                        key: each for key, each in entry._asdict().items() if key != "name"
                    }
                    for entry in section.entries
                }
                for section in self.sections
            },
        }

    def __str__(self) -> str:
        return self.digest


def word(value: object) -> str:
    """A value without spaces, so that a line can be taken apart at them."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else "-".join(str(value).split())
