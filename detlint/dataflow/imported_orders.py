"""What functions of other files do with an order that a call gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import described, parameter_of
from detlint.dataflow.origins import Origins
from detlint.dataflow.use import Use, surest
from detlint.models.loading import is_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op
    from detlint.dataflow.order import Orders
    from detlint.dataflow.origins import Others
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.use import Flow

_DEEPEST = 3  # files that hand the same order on
_PASSED = "passed to "
_KEPT = "assigned to self."


class ImportedOrders:
    """Follows orders from one file into others."""

    def __init__(self, orders: Orders, others: Others, depth: int = 0) -> None:
        self._orders = orders
        self._depth = depth
        self._origins = Origins(others.find)
        self._opened: dict[Unit, Orders] = {}

    def entered(self, call: Op, value: Op, flow: Flow) -> list[Use] | None:
        """Where the order of a value shows that a call is given; None where that is not seen, or
        only assumed, as by the name of what is called."""
        functions = self._origins.entered(call) if self._depth < _DEEPEST else []
        if any(each.unit is self._orders.unit for each in functions):
            return None
        taken = [parameter_of(each, call, value) for each in functions]
        known = [each for each in taken if each is not None]
        if not known or len(known) < len(taken):
            return None
        uses = [use for each in known for use in self._of(each.function.unit).uses(each, flow)]
        given_back = [use for use in uses if use.how == "returned" and use.op.function in functions]
        shown = surest(use for use in uses if use not in given_back)
        if shown is not None:
            return None if shown.assumed else [Use(call, f"{_PASSED}{described(call)}()")]
        return list(self._orders.follow(call, flow)) if given_back else []

    def _of(self, unit: Unit) -> Orders:
        if unit not in self._opened:
            self._opened[unit] = self._orders.opened(unit, self._depth + 1)
        return self._opened[unit]


def rests_on_others(uses: Iterable[Use]) -> bool:
    """Whether a file that is imported by its name may tell more of what shows an order."""
    return any(
        use.how.startswith(_PASSED)
        and any(map(_is_of_project, use.op.function.unit.values.called(use.op)))
        for use in uses
    )


def _is_of_project(name: str) -> bool:
    return "." in name[1:] and not (name.startswith("builtins.") or is_known(name))


def says_so(message: str) -> bool:
    """The same by the message of a finding, and whether one of these may read an attribute."""
    return _PASSED in message or _KEPT in message
