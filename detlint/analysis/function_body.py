"""Whether what a function does depends on the order of the elements that it is called with.

Stricter than with the body of a loop, because what outlives the call cannot be followed:
nothing but the element, its files and the function's own objects may change.
"""

from __future__ import annotations

import re

from detlint.analysis import reductions
from detlint.analysis.body_calls import SETS
from detlint.analysis.conditions import call_word
from detlint.analysis.function_statements import FunctionStatements
from detlint.analysis.nested_draws import NestedDraws
from detlint.analysis.reads import Reads
from detlint.rule import cst

# Objects that draw random numbers, wherever they come from.
_GENERATOR = re.compile(r"(?:^|_)(?:p?rng|generator|random_state)(?:_|$)", re.IGNORECASE)
# Methods that give something else each time they are called.
TAKING = frozenset(("__next__", "increment", "next", "pop", "popitem", "popleft", "step"))
_GIVING = frozenset(("append", "appendleft", "extend", "extendleft", "insert", "push", "put"))
# Of the methods that may be called on an element, those that leave files as they are.
_HARMLESS = frozenset(("clear", "close", "flush", "reverse", "seek", "sort"))
_NAMING_FILE = ("imsave", "save", "savefig")


class FunctionBody(FunctionStatements):
    """Judges the body of one function."""

    def depends_on_order(self) -> bool:
        """Whether it does, or may."""
        body = self._definition.node.body
        if self._any(body) or self._consumption.conditions.draws(body):
            return True
        below = self._module.tree.descendants(body)
        undecided = (cst.Yield, cst.Global, cst.Nonlocal)
        if any(isinstance(each, undecided) or is_generator(each) for each in below):
            return True
        calls = [each for each in below if isinstance(each, cst.Call) and self._runs(each)]
        if any(map(self._exchanges, calls)) or self._draws_below(body):
            return True
        return any(map(self._does_more, calls)) and not any(map(self._writes, calls))

    def _draws_below(self, body: cst.CSTNode) -> bool:
        """Whether the functions draw that this one calls."""
        conditions = self._consumption.conditions
        nested = NestedDraws(Reads, type(conditions))
        return not conditions.seeds(body) and nested.are_below(self._module, body)

    def _judge(self, call: cst.Call) -> bool | None:
        """What the function does when it calls itself is being judged here; others are not."""
        found = self._consumption.definitions.of(call.func)
        if found is None or found.offset != self._definition.offset:
            return None
        given = found.arguments(call)
        if given is None or not self._given.issuperset(given):
            return True  # it may do something else, in a branch that was left out
        varying = {name for name, value in given.items() if self._elements.varies(value)}
        return not varying <= self._varying

    def _exchanges(self, call: cst.Call) -> bool:
        """``next(self.counter)``, ``return found.append(path)``: what is left for the others."""
        if self._module.called(call) == "builtins.next":
            return not (call.args and self._owns(call.args[0].value))
        gives = _method_of(call) in _GIVING and self._elements.varies(call)
        return (gives or _method_of(call) in TAKING) and not self._owns(call.func)

    def _does_more(self, call: cst.Call) -> bool:
        """Whether a call gives the element to code that keeps it, by its name."""
        if not self._elements.varies(call) or self._consumption.conditions.is_log(call):
            return False
        return self._is_strange(call) and self._shows_order(call, dropped=False)

    def _writes(self, call: cst.Call) -> bool:
        """Whether a call shows that the function is about files of the element."""
        if self._works_on_file(call):
            return True
        writes = _method_of(call) in reductions.ELEMENT_METHODS - _HARMLESS
        return writes and self._owns(call.func)

    def _method(self, call: cst.Call, receiver: cst.BaseExpression, word: str) -> bool:
        if word in _NAMING_FILE and call.args and not self._elements.varies(call.args[0].value):
            return True  # all to one file
        return super()._method(call, receiver, word)

    def _is_set(self, receiver: cst.BaseExpression, _: str) -> bool:
        return self._owns(receiver) or self._module.instance_of(receiver) in SETS

    def _extends(self, receiver: cst.BaseExpression, _: cst.Call) -> bool:
        return not self._owns(receiver)


def _method_of(call: cst.Call) -> str:
    return call_word(call) if isinstance(call.func, cst.Attribute) else ""


def is_generator(node: cst.CSTNode) -> bool:
    """Whether a name is that of an object which draws random numbers."""
    return isinstance(node, cst.Name) and _GENERATOR.search(node.value) is not None
