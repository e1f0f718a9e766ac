"""Which values only tell people something."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import owner_word, word_of
from detlint.dataflow.ends import End, draws_figure, ends_of
from detlint.dataflow.references import stores_of
from detlint.dataflow.slices import closure
from detlint.models import names
from detlint.models.model import Order
from detlint.models.roles import DRAWING
from detlint.syntax.layout import says_in_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.loops.effects import Effects
    from detlint.dataflow.values import Values

_LONGEST_MESSAGE = 60  # operations of which one is made
_ADDING_LINES = frozenset(("write", "writelines", "writerow", "writerows"))
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
            return call.loop is not None
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

    def notes(self, call: Op) -> bool:
        """Whether a call adds to a log, by what its file is called: ``log_file.write(line)``."""
        function = call.args[0]
        method = function.code == "attr" and str(function.name) in _ADDING_LINES
        file = function.args[0] if method else call.given("file")
        return file is not None and is_log_file(file)

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

    def is_drawn(self, op: Op) -> bool:
        """Whether a value only goes into figures that people look at."""
        if not self._draws or (op.code == "call" and draws_figure(op)):
            return self._draws
        does = self._does_something(op) if op.code == "call" else self._is_held(op)
        return not does and End.FIGURE in ends_of(op, picks=True)

    @cached_property
    def _draws(self) -> bool:
        return says_in_code(self.values.unit.text, DRAWING)

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
        if state.code != "change":
            return False
        made = self.effects.made(state)
        return made.code in ("attr", "free", "global", "param") or any(stores_of(made))

    def _passes(self, call: Op) -> bool:
        """Whether a call only makes something of what it is given: ``sorted(x)``, an error."""
        row = self.values.function_row(call)
        if row is not None and row.order is not None:
            return row.order is not Order.READS
        owner = call.args[0].args[0] if call.args[0].code == "attr" else None
        if owner is not None and lattice.may_be(self.values.types(owner), "str"):
            return True
        return bool(call.uses) and all(use.code == "raise" for use in call.uses)


def is_log_file(file: Op) -> bool:
    """Whether a file is a log, by what it is called."""
    return any(map(_is_called_log, closure([file], _named_by, _LONGEST_MESSAGE)))


def _named_by(op: Op) -> Sequence[Op]:
    """What tells which file something is: ``csv.writer(file)``, ``open(folder / "a.log", "a")``."""
    if op.code in ("binary", "text"):
        return op.args[-1:]
    if op.code != "call":
        return op.args if op.code in ("declared", "enter", "free", "phi") else ()
    function = op.args[0]
    if function.code == "attr" and function.name == "open":
        return function.args
    return op.args[-1:] if word_of(op) == "join" else op.args[1:2]


def _is_called_log(op: Op) -> bool:
    if op.code == "const":
        return str(op.name).endswith(".log")
    own = [str(op.name)] if op.code in ("attr", "global") else op.function.names_of(op)
    return any(map(names.is_log_file, own))


def _changes(call: Op) -> bool:
    """Whether a call only changes what its method is of: ``shown.append("…")``."""
    codes = {each.code for each in call.uses}
    return "change" in codes and codes <= {"change", "drop"}


def _is_dropped(call: Op) -> bool:
    return bool(call.uses) and all(each.code in ("await", "drop", "change") for each in call.uses)
