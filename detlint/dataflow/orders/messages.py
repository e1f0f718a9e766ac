"""Which values only tell people something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import owner_word, word_of
from detlint.dataflow.ends import NOWHERE, End, Ends, converts, draws_figure, ends_of, is_log
from detlint.dataflow.orders.expected import texts
from detlint.dataflow.orders.tables import named_by
from detlint.dataflow.references import stores_of
from detlint.models import names
from detlint.models.model import Order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from detlint.dataflow.ir import Op
    from detlint.dataflow.orders.order import Orders
    from detlint.dataflow.values import Values

_ADDING_LINES = frozenset(("write", "writelines", "writerow", "writerows"))
_PASSING = frozenset(("augment", "await", "dict", "entry", "format", "set", "star", "text"))
_DIGESTS = ("digest", "hexdigest")
_EQUALS = (("Eq",), ("NotEq",))


class Messages:
    """Tells messages from results; finishing: to print a result as it comes shows progress."""

    def __init__(self, orders: Orders, *, finishing: bool) -> None:
        self.orders = orders
        self.values = orders.values
        self.effects = orders.effects
        self.finishing = finishing

    def is_log(self, call: Op) -> bool:
        """Whether a call tells people something."""
        prints = "builtins.print" in self.values.called(call) and call.given("file") is None
        if self.finishing and prints:
            return call.loop is not None
        progress = self.finishing and names.is_progress(owner_word(call), word_of(call))
        dropped = call.uses and all(x.code in ("await", "drop", "change") for x in call.uses)
        return bool(progress and dropped) or is_log(call)

    def notes(self, call: Op) -> bool:
        """Whether a call adds to a log, by what its file is called: ``log_file.write(line)``."""
        function = call.args[0]
        method = function.code == "attr" and str(function.name) in _ADDING_LINES
        file = function.args[0] if method else call.given("file")
        return file is not None and is_log_file(self.values, file)

    def is_shown(self, op: Op) -> bool:
        """Whether a value only goes into messages and tests, whatever way."""
        return not self._does_something(op) and _OfOrder(self).of(op) is End.MESSAGE

    def is_told(self, number: Op) -> bool:
        """Whether a number only goes into messages, also of those that functions return it to."""
        return _OfNumber(self).of(number) is End.MESSAGE

    def is_compared(self, digest: Op) -> bool:
        """Whether a digest only tells whether something is as it was, so that work is saved: it is
        compared, and noted for the next time."""
        asked = (use for op in self.effects.holders.of(digest).states for use in op.uses)
        told = [call for use in asked if use.name in _DIGESTS for call in use.calls]
        return End.TEST in _OfDigest(self).of(*told)

    def is_drawn(self, op: Op) -> bool:
        """Whether a value only goes into figures that people look at."""
        if op.code == "call" and draws_figure(op):
            return True
        return not self._does_something(op) and End.FIGURE in ends_of(op, picks=True)

    def _does_something(self, op: Op) -> bool:
        """Whether a function that is not seen may do more than to give what is shown, or an
        operation changes a container that others hold."""
        if op.code == "change":
            made = self.effects.made(op)
            return made.code in ("attr", "free", "global", "param") or any(stores_of(made))
        if op.code != "call":
            return False
        known = self.values.called(op)
        if any(name.startswith("builtins.") for name in known) or self.values.method_row(op):
            return False
        if self.values.function_row(op) is not None or self.values.callee(op) is not None:
            return False
        return not names.describes(word_of(op)) and not any(use.code == "raise" for use in op.uses)

    def passes(self, call: Op) -> bool:
        """Whether a call only makes something of what it is given: ``sorted(x)``, an error."""
        codes = {each.code for each in call.uses}
        if "change" in codes and codes <= {"change", "drop"}:  # `shown.append("…")`
            return True
        row = self.values.function_row(call)
        if row is not None and row.order is not None:
            return row.order is not Order.READS
        owner = call.args[0].args[0] if call.args[0].code == "attr" else None
        if owner is not None and lattice.may_be(self.values.types(owner), "str"):
            return True
        return bool(call.uses) and all(use.code == "raise" for use in call.uses)


class _OfNumber(Ends):
    """Where it goes that depends on a number, also what functions return of it."""

    ends: Collection[str] = ("drop",)
    same = frozenset((*Ends.same, *_PASSING))

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages.values.unit)
        self._messages = messages

    def end(self, use: Op, _: Op) -> End:
        tells = use.code == "call" and self._messages.is_log(use)
        return End.MESSAGE if tells or use.code == "raise" else NOWHERE

    def _to_call(self, use: Op, _: Op) -> Iterable[Op]:
        return [use] if converts(use) or self._messages.passes(use) else self.escape()

    def _to_return(self, use: Op, _: Op, /) -> Iterable[Op]:
        orders = self._messages.orders
        near = orders.references.calls_in_file(use.function)
        far = orders.imported.calls(use.function) if orders.imported is not None else ()
        return [*near, *far] or self.escape()


class _OfOrder(_OfNumber):
    """The same of an order, in one function. What is only tested goes nowhere."""

    ends = frozenset(("compare", "drop", "not", "test"))
    same = _OfNumber.same - ends

    def step(self, use: Op, value: Op) -> Iterable[Op]:
        far = use.code in ("return", "store_global", "store_item")
        changed = far or (use.code == "call" and not self._messages.passes(use))
        return self.escape() if changed and not self.end(use, value) else super().step(use, value)


class _OfDigest(_OfNumber):
    def end(self, use: Op, value: Op) -> End:
        if use.code == "compare" and use.name in _EQUALS:
            return End.TEST
        noted = use.code == "call" and names.writes(word_of(use))
        return End.MESSAGE if noted else super().end(use, value)


def is_log_file(values: Values, file: Op) -> bool:
    """Whether a file is a log, by what it is called."""
    place = named_by(values, file)
    own = [name for op in (file, place) for name in (str(op.name), *op.function.names_of(op))]
    logs = any(each.endswith(".log") for each in texts(values, place))
    return logs or any(map(names.is_log_file, own))
