"""Which constants a value may be where a program chooses: defaults, and what calls in the file
give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.defaults import default_of
from detlint.dataflow.arguments.settings import entries, merged_entries
from detlint.dataflow.backwards import Backwards
from detlint.dataflow.callers import given

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op

Constants = frozenset[object]
_NOTHING: Constants = frozenset()
_UNKNOWN: Constants = frozenset((...,))


class Choices(Backwards[Constants]):
    """Answers for the values of a file: the constants one of which a value may be; ``...`` stands
    for what is not written out. There are runs with each of them."""

    nothing, anything = _NOTHING, _UNKNOWN

    def join(self, parts: Iterable[Constants]) -> Constants:
        return _NOTHING.union(*parts)

    def judge(self, op: Op) -> Constants:
        found = op.constant
        return super().judge(op) if found is ... else frozenset((found,))

    def _of_param(self, op: Op) -> Constants:
        """What the calls in the file give, and the default, if others may call it."""
        known = op.function.known_calls
        values = [given(each, op) for each in known.calls]
        if not (known.all and values):
            values += op.args[:1]
        return self.join(self.of(each) if each is not None else _UNKNOWN for each in values)

    def _of_attr(self, op: Op) -> Constants:
        """What the class of an object binds an attribute to, or those give who make one."""
        unit, name = op.function.unit, str(op.name)
        owner = unit.values.owner(op.args[0])
        if not owner:
            return _UNKNOWN
        held = [_held(each) for each in unit.held(owner, name)]
        if any(each.code == "declared" for each in unit.stored(owner, name)):  # of a dataclass
            told = (each.given(name) for each in unit.callers.of_class(owner).calls)
            held += [each for each in told if each is not None]
        return self.joined(held) or _UNKNOWN

    def _of_item(self, op: Op) -> Constants:
        """``MODES[name]``, ``self.options["mode"]``: of dicts that are written out."""
        values = op.values
        key = values.constant(op.args[1])
        held = (entries if key is ... else merged_entries)(values, op.args[0])
        return self.joined(each.value for each in held if key in (..., each.name)) or _UNKNOWN


def _held(value: Op) -> Op:
    """What an attribute is bound to; ``field(default=2)`` → ``2``."""
    if value.code == "declared" and value.args:
        value = value.args[0]
    return default_of(value)
