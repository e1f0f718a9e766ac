"""Places and numbers that the body of a loop gives by what is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detlint.analysis.consumption import Consumption


class Numberings:
    """Answers for one body.

    owns  whether an object belongs to the element alone
    made  what the locals of the body were given
    """

    def __init__(
        self,
        consumption: Consumption,
        owns: Callable[[cst.CSTNode], bool],
        made: Mapping[str, cst.BaseExpression],
    ) -> None:
        self._reads = consumption.reads
        self._module = consumption.module
        self._owns = owns
        self._made = made

    def number(self, target: cst.Subscript, value: cst.CSTNode) -> bool:
        """``index[name] = len(index)``, ``= next(counter)``."""
        if any(each.value == "next" for each in self._reads.variables(value)):
            return True
        return self._mentions(value, target.value)

    def number_new(self, call: cst.CSTNode) -> bool:
        """``index.setdefault(name, len(index))``."""
        if not isinstance(call, cst.Call) or call_word(call) != "setdefault" or not call.args:
            return False
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if owner is None or isinstance(call.args[0].value, cst.BaseString) or self._owns(owner):
            return False
        return self._mentions(call.args[-1].value, owner)

    def add_at_end(self, target: cst.Subscript) -> bool:
        """``n = len(all[:])``, and then ``all[n:end] = part``."""
        names = (each.value for each in self._reads.variables(target.slice[0]))
        lengths = [
            each
            for name in names
            for each in self._module.tree.descendants(self._made.get(name, target.slice[0]))
            if self._module.called(each) == "builtins.len"
            or (isinstance(each, cst.Attribute) and each.attr.value in ("shape", "size"))
        ]
        return any(self._mentions(each, target.value) for each in lengths)

    def _mentions(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        return any(each.deep_equals(other) for each in self._module.tree.descendants(node))
