"""What takes the elements of a set one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.argument import Argument
from detlint.analysis.conditions import call_word
from detlint.analysis.handlers import handler
from detlint.analysis.sort_keys import SortKeys
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.sets import Sets
    from detlint.module import Module

_READING = reductions.CARRYING - {"copy.copy", "copy.deepcopy", "numpy.array", "numpy.asarray"}
_READING_METHODS = words("imap map starmap extend extendleft writelines")
_FREE = reductions.ORDER_FREE | {"builtins.max", "builtins.min"}


class SetReads:
    """Judges the place where a set stands: a set that is only passed on has no order yet."""

    def __init__(self, module: Module, sets: Sets) -> None:
        self._module = module
        self._sets = sets
        self._sort_keys = SortKeys(module)

    def reads(self, node: cst.CSTNode) -> bool:
        """Whether the code around a set takes its elements one after the other."""
        if self._holds_one(node):
            return False  # one has one order
        parent = self._module.parent(node)
        judge = handler(self, "in_", parent)
        return judge is not None and bool(judge(parent, node))

    def _holds_one(self, node: cst.CSTNode) -> bool:
        """``{x}``, or a local that is that and takes no more."""
        made = self._module.names.value_of(node)
        if not isinstance(made, cst.Set) or len(made.elements) > 1:
            return False
        filled = isinstance(node, cst.Name) and any(self._sets.kinds.fills(node))
        return not (filled or isinstance(made.elements[0], cst.StarredElement))

    def in_for(self, loop: cst.For | cst.CompFor, node: cst.CSTNode) -> bool:
        """``for name in x``."""
        return loop.iter is node

    in_comp_for = in_for

    def in_from(self, _: cst.From, __: cst.CSTNode) -> bool:
        """``yield from x``."""
        return True

    def in_starred_element(self, element: cst.StarredElement, _: cst.CSTNode) -> bool:
        """``[*x]``."""
        return not isinstance(self._module.parent(element), cst.Set)

    def in_assign(self, statement: cst.Assign, _: cst.CSTNode) -> bool:
        """``a, b = x``."""
        return isinstance(statement.targets[0].target, (cst.Tuple, cst.List))

    def in_aug_assign(self, statement: cst.AugAssign, node: cst.CSTNode) -> bool:
        """``names += x``."""
        return isinstance(statement.operator, cst.AddAssign) and statement.value is node

    def in_attribute(self, attribute: cst.Attribute, _: cst.CSTNode) -> bool:
        """``x.pop()``."""
        call = self._module.parent(attribute)
        return attribute.attr.value == "pop" and isinstance(call, cst.Call) and not call.args

    def in_arg(self, argument: cst.Arg, _: cst.CSTNode) -> bool:
        """``list(x)``, ``f(*x)``, ``max(x, key=len)``."""
        call = self._module.parent(argument)
        if not isinstance(call, cst.Call):
            return False
        if argument.star:
            return argument.star == "*" and not self._is_free(call)
        given = Argument(self._module, argument, call)
        if self._sorts_with_ties(given):
            return True
        if given.ignores_order():
            return False
        return self._leaves_ties(call) if given.is_extreme() else self._goes_through(given)

    def _goes_through(self, given: Argument) -> bool:
        """``enumerate(x)``, ``", ".join(x)``, ``pool.map(f, x)``."""
        if given.name in _READING or given.name == "builtins.sum" or given.makes_dict():
            return True
        if given.joins() or given.chooses() or given.word.lower() in reductions.CARRYING_WORDS:
            return True
        return isinstance(given.call.func, cst.Attribute) and given.word in _READING_METHODS

    def _is_free(self, call: cst.Call) -> bool:
        """``set().union(*sets)``, ``max(*x)``: what takes any number of things in any order."""
        if self._sets.is_set(call) or self._module.called(call) in _FREE:
            return True
        return call_word(call) in reductions.ORDER_FREE_METHODS | {"update"}

    def _sorts_with_ties(self, given: Argument) -> bool:
        """``sorted(x, key=len)``."""
        first = given.call.args[0] is given.arg
        return given.name == "builtins.sorted" and first and self._leaves_ties(given.call)

    def _leaves_ties(self, call: cst.Call) -> bool:
        key = self._module.argument(call, "key")
        return key is not None and self._sort_keys.leave_ties(key)

    def sorted_with_ties(self, node: cst.CSTNode) -> cst.Call | None:
        """The call that sorts a set, where its key does not tell all elements apart."""
        argument = self._module.parent(node)
        call = self._module.parent(argument) if isinstance(argument, cst.Arg) else None
        if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call):
            return None
        sorts = self._sorts_with_ties(Argument(self._module, argument, call))
        return call if sorts else None
