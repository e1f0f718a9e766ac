"""What values are, and what runs, where nobody gives a program options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.options import option_asked_for, option_of, values_by_default
from detlint.dataflow.arguments.passed_arguments import entry
from detlint.dataflow.arguments.settings import names_read
from detlint.dataflow.callers import given
from detlint.dataflow.path_conditions import Paths, decided, inputs
from detlint.dataflow.slices import closure
from detlint.models import settings as rows
from detlint.models.loading import is_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.callers import AllCallers
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_MOST = 20  # calls of a function, each of which may give it something else; values behind one


class ByDefault:
    """Answers for the files of a project, or for one where ``everywhere`` is None.

    open  whether something rests on a parameter or an option that other files may give
    """

    def __init__(self, unit: Unit, everywhere: AllCallers | None) -> None:
        self._unit = unit
        self._everywhere = everywhere
        self._values: dict[Op, object] = {}
        self._paths: dict[Function, Paths] = {}
        self.open = False

    def value(self, op: Op) -> object:
        """What a value is; ``...`` where that is not known."""
        return self._paths_of(op.function).value(op)

    def runs(self, op: Op) -> bool:
        """Whether all settings that decide whether an operation runs are known to have it run."""
        paths = self._paths_of(op.function)
        for test, holds in decided(op):
            asked = list(filter(rows.leaves_open, names_read(test)))
            if asked and (paths.holds(test) is not holds or any("seed" in x for x in asked)):
                return False  # without a seed nobody expects runs to agree
        return True

    def may_run(self, op: Op) -> bool:
        """Whether nothing that is known keeps an operation from running where its function does."""
        return self._paths_of(op.function).may_run(op)

    def _paths_of(self, function: Function) -> Paths:
        if function not in self._paths:
            self._paths[function] = Paths(function, self._assumed)
        return self._paths[function]

    def _assumed(self, op: Op) -> object:
        if op not in self._values:
            self._values[op] = ...  # what depends on itself is not known
            self._values[op] = self._judged(op)
        return self._values[op]

    def _judged(self, op: Op) -> object:
        if op.code == "param":
            return self._of_param(op)
        option = (asked := option_asked_for(op)) or option_of(op)
        units = dict.fromkeys(self._giving(op)) if option else ()
        found = [x for unit in units for _, x in values_by_default(unit, option, op)]
        return (bool(found) or ...) if asked else _only(found)

    def _giving(self, read: Op) -> Iterator[Unit]:
        """The files that may give the options that are read: its own, those that pass them to its
        function, and those of what makes them, as their parser, or is given them."""
        for op in closure([read], self._behind, _MOST):
            unit, names = op.function.unit, op.called or op.values.qualified(op)
            self.open |= unit.find is None and not all(map(is_known, names))
            yield unit
            yield from (home for x in names if unit.find for home, _ in unit.find(unit, x))

    def _behind(self, op: Op) -> Iterable[Op]:
        calls = self._calls_of(op.function) if op.code == "param" else ()
        made = [given(each, op) or each for each in calls] or inputs(op.values.bound_to(op))
        return (*made, *(use for use in op.uses if use.code == "call"))

    def _of_param(self, param: Op) -> object:
        calls = self._calls_of(param.function)[:_MOST]
        self.open |= self._everywhere is None and not calls
        return _only(self._passed(each, param) for each in calls)

    def _passed(self, call: Op, param: Op) -> object:
        """What a call gives a parameter, also by a dict that it unpacks."""
        value = given(call, param)
        if value is not None:
            return self.value(value)
        unpacked = [each for name, each in call.arguments() if name == "**"]
        if len(unpacked) != 1 or any(name == "*" for name, _ in call.arguments()):
            return ...
        found = entry(unpacked[0], str(param.name[1]), self._given_to)
        values = (each or next(iter(param.args), None) for each in found or ())
        return _only(... if each is None else self.value(each) for each in values)

    def _given_to(self, held: Op) -> Sequence[Op]:
        """What of a joint may be given to it, but for what rounds of a loop make of it."""
        loops = held.code != "phi" or any(each.place > held.place for each in held.args)
        return () if loops else self._paths_of(held.function).given_to(held)

    def may_be_left(self, op: Op) -> bool:
        """Whether a value is a parameter that is on by default, and calls unpack what may hold
        another value, or not."""
        if op.code != "param" or not op.args or op.args[0].constant is not True:
            return False
        calls = self._calls_of(op.function)[:_MOST]
        told = {self._passed(each, op) for each in calls}
        return told <= {True, ...} and any(given(each, op) is None for each in calls)

    def _calls_of(self, function: Function) -> list[Op]:
        owner, _, name = function.name.rpartition(".")
        if self._everywhere is not None and (name == "__init__" or not owner):
            return self._everywhere.of(function)
        return list(function.known_calls.calls) if function.unit is self._unit else []


def _only(values: Iterable[object]) -> object:
    """The one value that all of some are."""
    found = list(values)
    return found[0] if found and all(each == found[0] for each in found) else ...
