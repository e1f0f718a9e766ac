"""What other files do with an order: functions that a call gives it to, and whoever reads what a
file gives."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of
from detlint.dataflow.importers import Importers
from detlint.dataflow.orders.use import OF_ROWS, RETURNED, surest
from detlint.dataflow.origins import Origins
from detlint.models.loading import is_known
from detlint.syntax.mentions import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.order import Orders
    from detlint.dataflow.orders.use import Flow, Use
    from detlint.dataflow.unit import Unit
    from detlint.finding import Finding

_DEEPEST = 3  # files that hand the same order on
_MOST = 50  # places that read the same
_PASSED = "passed to "
_KEPT = "assigned to self."


class ImportedOrders:
    """Follows orders from one file into others."""

    def __init__(self, orders: Orders, others: OtherFiles, depth: int = 0) -> None:
        self._orders = orders
        self._others = others
        self._depth = depth
        self._origins = Origins(others.find)
        self._importers = Importers(orders.unit, others)
        self._opened: dict[Unit, Orders] = {}
        self._shown: dict[tuple[Function, Flow], list[Use] | None] = {}

    def taken(self, call: Op, value: Op) -> list[Op]:
        """The parameters by which functions of other files take what a call gives them; none where
        one is not seen."""
        functions = self._origins.entered(call) if self._depth < _DEEPEST else []

        found = [parameter_of(each, call, value) for each in functions]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else []

    def entered(self, call: Op, value: Op, flow: Flow) -> list[Use] | None:
        """Where the order of a value shows that a call is given; None where that is not seen, or
        only assumed, as by the name of what is called."""
        taken = self.taken(call, value)
        if not taken:
            return None
        functions = [each.function for each in taken]
        uses = [use for each in taken for use in self._of(each.function.unit).uses(each, flow)]
        given_back = [use for use in uses if use.how == "returned" and use.op.function in functions]
        shown = surest(use for use in uses if use not in given_back)
        if shown is not None:
            if shown.assumed:
                return None
            return [self._orders.given.handed(call, shown)._replace(there=shown.there or shown.op)]
        return list(self._orders.follow(call, flow)) if given_back else []

    def read(self, use: Op, part: str, flow: Flow) -> Iterator[Use]:
        """What becomes of what an operation assigns to a variable or an attribute of a class."""
        yield from self._followed(use, "stored", self._importers.reads(part), flow)

    def returned(self, use: Op, flow: Flow) -> Iterator[Use]:
        """What becomes of what an operation returns."""
        yield from self._followed(use, "returned", self._importers.calls(use.function), flow)

    def shown_by_calls(self, function: Function, flow: Flow) -> list[Use] | None:
        """Where the calls of a function at the top of a file show the order of what it returns, all
        over the project: up to the first place that is no row that names its file, and where it
        surely shows. None where no call is seen, or not all that may be one."""
        asked = function, flow
        if asked not in self._shown:
            plain = function.is_defined and not (function.outer or function.decorators)
            top = plain and not function.class_name
            seen = top and not (self._depth or self._others.alone)
            self._shown[asked] = self._shown_by_calls(function, flow) if seen else None
        return self._shown[asked]

    def _shown_by_calls(self, function: Function, flow: Flow) -> list[Use] | None:
        unit, name = function.unit, function.name
        own = (each for code in ("global", "free") for each in unit.reads(code, name))
        others = (x for x in self._importers.reads(name) if not self._others.tests(x.function.unit))
        reads = list(islice((*own, *others), _MOST + 1))
        uses = [(use, each) for each in reads for use in each.uses if use.code != "store_global"]
        if (
            not uses
            or len(reads) > _MOST
            or any(name in quoted(x.function.unit.text) for x in reads)
        ):
            return None
        if not all(use in each.calls for use, each in uses):
            return None
        shown = []
        for found in (x for use, _ in uses for x in self._of(use.function.unit).uses(use, flow)):
            if not (found.op.code == "return" and found.op.function is function):
                shown.append(found)
                if not (found.is_of_rows or found.assumed):
                    break
        return shown

    def calls(self, function: Function) -> Iterator[Op]:
        """Where other files call a function."""
        return islice(self._importers.calls(function), _MOST)

    def _followed(self, use: Op, how: str, given: Iterator[Op], flow: Flow) -> Iterator[Use]:
        reads = islice(given, _MOST) if self._depth < _DEEPEST else ()
        found = surest(found for each in reads for found in self._uses(each, flow))
        if found is not None:
            yield found.seen_from(use, how)

    def _uses(self, read: Op, flow: Flow) -> Iterator[Use]:
        """Where the order of what another file reads shows; a test takes any order that there
        is."""
        unit = read.function.unit
        tested = self._others.tests(unit) and not self._others.tests(self._orders.unit)
        for found in self._of(unit).uses(read, flow):
            yield found._replace(assumed=found.assumed or tested)

    def _of(self, unit: Unit) -> Orders:
        if unit not in self._opened:
            self._opened[unit] = self._orders.opened(unit, self._depth + 1)
        return self._opened[unit]


def rests_on_others(uses: Iterable[Use]) -> bool:
    """Whether a file that is imported by its name may tell more of what shows an order."""
    return any(
        use.is_of_rows or (use.how.startswith(_PASSED) and any(map(_is_of_project, use.op.called)))
        for use in uses
    )


def may_be_of_project(call: Op) -> bool:
    """Whether a call may be one of a function of another file."""
    function = call.args[0]
    called = call.called
    return any(map(_is_of_project, called)) or (not called and function.code == "attr")


def _is_of_project(name: str) -> bool:
    return "." in name[1:] and not (name.startswith("builtins.") or is_known(name))


def says_so(finding: Finding) -> bool:
    """The same by what a finding says, and whether one of these may read an attribute, or call the
    function that it stands in."""
    message = finding.message
    told = (_PASSED, _KEPT, OF_ROWS)
    return any(each in message for each in told) or finding.advice.endswith(RETURNED)
