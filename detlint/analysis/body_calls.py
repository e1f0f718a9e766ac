"""What the calls in the body of a loop do with its element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.conditions import call_word
from detlint.analysis.elements import Elements
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption

# Receivers whose `add` or `update` is not a set's.
_ORDERED_ADD = ("tarfile.", "hashlib.", "zlib.", "xxhash.", "blake3.")
_FILLING = ("add", "append", "extend", "update", "write")
_SETS = ("builtins.set", "builtins.frozenset", "collections.Counter")


class BodyCalls:
    """One ``for`` loop over elements in no fixed order, and the calls in it.

    containers  lists and dicts that the body fills: (name, whether by key)
    effects     how many statements do something that is known to have no order
    stops       whether the loop may end before its last element
    """

    def __init__(self, consumption: Consumption, loop: cst.For, positions: frozenset[str]) -> None:
        self._consumption = consumption
        self._module = consumption.module
        self._loop = loop
        self._elements = Elements(consumption, loop, positions)
        self._stops = _breaks(loop)
        self._effects = 0
        self.containers: list[tuple[cst.Name, bool]] = []

    def _fill(self, container: cst.Name, *, keyed: bool) -> None:
        self.containers.append((container, keyed))

    def _call(self, call: cst.Call) -> bool:
        if self._consumption.conditions.is_log(call):
            return False
        name, word = self._module.called(call), call_word(call)
        if name in reductions.FILE_OPERATIONS or reductions.FILE_WORDS.search(word):
            self._effects += 1
            return self._stops or self._elements.counts(call)
        if name in reductions.FILE_WRITERS and any(
            self._elements.varies(arg.value) for arg in call.args
        ):
            self._effects += 1
            return self._stops or self._elements.counts(call)
        if isinstance(call.func, cst.Attribute):
            return self._method(call, call.func.value, word)
        return True

    def _method(self, call: cst.Call, receiver: cst.BaseExpression, word: str) -> bool:
        if word.startswith("assert"):
            self._effects += 1
            return self._elements.counts(call)
        same = not any(self._elements.varies(arg.value) for arg in call.args)
        fresh = self._consumption.conditions.is_fresh_generator(receiver)
        if fresh or (word in _FILLING and same):
            return self._elements.counts(call)
        if word in ("add", "discard", "remove", "update"):
            self._effects += 1
            return self._stops or not self._is_set(receiver, word)
        if word in ("append", "extend", "appendleft", "extendleft"):
            self._effects += 1
            return self._extends(receiver, call)
        if word in reductions.ELEMENT_METHODS and self._elements.varies(receiver):
            self._effects += 1
            return self._stops or self._elements.counts(call)
        return True

    def _is_set(self, receiver: cst.BaseExpression, word: str) -> bool:
        """Whether ``add`` and ``update`` go to a set; an unknown receiver's ``add`` does."""
        if not isinstance(receiver, cst.Name):
            return word != "update"
        value = self._module.names.value_of(receiver)
        if isinstance(value, (cst.Set, cst.SetComp)):
            return True
        made = self._module.instance_of(receiver)
        if made in _SETS:
            return True
        return word != "update" and not (made or "").startswith(_ORDERED_ADD)

    def _extends(self, receiver: cst.BaseExpression, call: cst.Call) -> bool:
        if self._elements.counts(call) or self._stops:
            return True
        if isinstance(receiver, (cst.Subscript, cst.Call)):  # groups[key].append
            return not self._elements.varies(getattr(receiver, "value", None))
        if self._elements.varies(receiver):  # a list of its own
            return False
        if isinstance(receiver, cst.Name):
            self._fill(receiver, keyed=False)
            return False
        return not self._consumption.sorted_later(receiver)


def _breaks(loop: cst.For) -> bool:
    """Whether a loop has a ``break`` of its own."""
    stack: list[cst.CSTNode] = [loop.body]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Break):
            return True
        if not isinstance(node, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)):
            stack.extend(node.children)
    return False
