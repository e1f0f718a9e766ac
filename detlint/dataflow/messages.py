"""Which values only tell people something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import owner_word, word_of
from detlint.models import names
from detlint.models.model import Order

if TYPE_CHECKING:
    from detlint.dataflow.effects import Effects
    from detlint.dataflow.ir import Op
    from detlint.dataflow.values import Values

_LONGEST_MESSAGE = 60  # operations of which one is made
_PASSING = frozenset(
    [
        *("attr", "augment", "await", "binary", "choice", "comprehension", "format", "item"),
        *("iter", "list", "phi", "set", "slice", "star", "text", "tuple", "unpack"),
    ]
)


class Messages:
    """Tells messages from results; finishing: to print a result as it comes shows progress."""

    def __init__(self, values: Values, effects: Effects, *, finishing: bool) -> None:
        self.values = values
        self.effects = effects
        self.finishing = finishing

    def is_log(self, call: Op) -> bool:
        """Whether a call tells people something."""
        qualified = self.values.called(call)
        word, owner = word_of(call), owner_word(call)
        if self.finishing and "builtins.print" in qualified and call.given("file") is None:
            return any(each.loops for each in call.region.around())
        if self.finishing and names.is_progress(owner, word) and _is_dropped(call):
            return True
        if "builtins.print" in qualified or word == "print":
            file = call.given("file")
            if file is not None and not set(self.values.qualified(file)) & {
                "sys.stdout",
                "sys.stderr",
            }:
                return False
        return names.is_log(qualified, owner, word)

    def is_shown(self, op: Op) -> bool:
        """Whether a value only goes into messages and tests, whatever way."""
        if self._does_something(op) if op.code == "call" else self._is_held(op):
            return False
        seen, pending, told = {op}, [op], False
        while pending:
            if len(seen) > _LONGEST_MESSAGE:
                return False
            for use in pending.pop().uses:
                if use.code == "raise" or (use.code == "call" and self.is_log(use)):
                    told = True
                elif self._hands_on(use):
                    if use not in seen:
                        seen.add(use)
                        pending.append(use)
                elif use.code not in ("test", "compare", "not", "drop"):
                    return False
        return told

    def _does_something(self, call: Op) -> bool:
        """Whether a function that is not seen may do more than to give what is shown."""
        known = self.values.called(call)
        if any(name.startswith("builtins.") for name in known) or self.values.method_row(call):
            return False
        if self.values.function_row(call) is not None or self.values.callee(call) is not None:
            return False
        return not names.describes(word_of(call)) and not any(
            use.code == "raise" for use in call.uses
        )

    def _hands_on(self, use: Op) -> bool:
        """Whether an operation only makes something of what it takes."""
        if use.code == "change":
            return not self._is_held(use)
        if use.code == "call":
            return _changes(use) or self._passes(use)
        return use.code in _PASSING

    def _is_held(self, state: Op) -> bool:
        """Whether an operation changes a container that others hold."""
        return state.code == "change" and self.effects.made(state).code in (
            "attr",
            "free",
            "global",
            "param",
        )

    def _passes(self, call: Op) -> bool:
        """Whether a call only makes something of what it is given: ``sorted(x)``, an error."""
        row = self.values.function_row(call)
        if row is not None and row.order is not None:
            return row.order is not Order.READS
        owner = call.args[0].args[0] if call.args[0].code == "attr" else None
        if owner is not None and lattice.may_be(self.values.types(owner), "str"):
            return True
        return bool(call.uses) and all(use.code == "raise" for use in call.uses)


def _changes(call: Op) -> bool:
    """Whether a call only changes what its method is of: ``shown.append("…")``."""
    codes = {each.code for each in call.uses}
    return "change" in codes and codes <= {"change", "drop"}


def _is_dropped(call: Op) -> bool:
    return bool(call.uses) and all(each.code in ("await", "drop", "change") for each in call.uses)
