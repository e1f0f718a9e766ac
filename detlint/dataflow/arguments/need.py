"""What has to be passed, or set, for something to run."""

from __future__ import annotations

import json
from typing import NamedTuple

OR = "|"  # between variables of a module of which one is enough
OFF = (None, False, 0, -1)  # values that calls pass to turn something off
SWITCHES = (*OFF, True)
_SWITCHED = frozenset(map(repr, SWITCHES))


class Need(NamedTuple):
    """A parameter by keyword and place, without ``self``, and what is called: a function, or of a
    constructor the class; without that, an option of the program, and after ``OF_MODULE`` a
    variable. ``place`` is -1 where it only
    has a keyword. ``stops`` are the values with which it does not run, ``others`` says whether it
    does with any that nothing compares it with, ``unset`` that it does not without. ``key``: of a
    dict that is the parameter, what it holds by that. ``default``:
    what is asked is whether it runs where nobody gives the program options. ``field``: it is an
    attribute, which others may set later."""

    function: str
    parameter: str
    place: int
    stops: tuple[str, ...]
    others: bool
    unset: bool
    runs: tuple[str, ...] = ()
    key: str = ""
    default: bool = False
    field: bool = False

    @property
    def compared(self) -> list[str]:
        """What it runs with of that which it is compared with."""
        return [each for each in self.runs if each not in _SWITCHED]

    @property
    def is_of_seed(self) -> bool:
        """Whether it is met by all but None, and nothing tests that, as a seed that is taken."""
        return self.stops == ("None",) and self.others and not self.runs

    @classmethod
    def parse(cls, text: str) -> Need:
        """It itself, of ``dump``."""
        told = cls(*json.loads(text))
        return told._replace(stops=tuple(told.stops), runs=tuple(told.runs))

    def dump(self) -> str:
        """As text of one line."""
        return json.dumps(self)

    def allows(self, value: object) -> bool:
        """Whether it runs with a value."""
        if isinstance(value, float) and not value.is_integer():
            return True
        empty = isinstance(value, (str, tuple)) and not value
        written = "False" if empty else written_as(value)
        if isinstance(value, (int, float)) and value < -1 and written not in self.stops:
            return "-1" in self.runs or written in self.runs
        alike = isinstance(value, str) and value.strip().casefold() in self._texts
        return alike or written in self.runs or (self.others and written not in self.stops)

    @property
    def _texts(self) -> set[str]:
        """The texts with which it runs, past what may be stripped off before one compares."""
        return {each.strip("'\" ").casefold() for each in self.runs}

    def allows_some(self, *, constants: bool) -> bool:
        """Whether it runs with something that is not None; ``constants``: that may be equal to what
        is written out, or count as false."""
        runs = set(self.runs) - {"None"}
        return self.others or bool(runs if constants else runs & {"True"})


def written_as(value: object) -> str:
    """How a need holds a value: a whole number without its point."""
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)
