"""What a call does with the order of one of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.conditions import call_word
from detlint.analysis.sort_keys import SortKeys
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_EXTREMES = ("builtins.max", "builtins.min")
_CHOOSING = ("itertools.", "more_itertools.", "functools.reduce", "heapq.")


class Argument:
    """An unordered value given to a call."""

    def __init__(self, module: Module, arg: cst.Arg, call: cst.Call) -> None:
        self._module = module
        self.arg = arg
        self.call = call
        self.name = module.called(call)
        self.word = call_word(call)

    def ignores_order(self) -> bool:
        """``len(x)``, ``sorted(x)``, ``max(x)``, ``seen.update(x)``."""
        keyword = self.arg.keyword
        if keyword is not None and keyword.value in reductions.LOOKED_UP:
            return True
        if self.is_extreme():
            return self._module.argument(self.call, "key") is None
        if self.name == "builtins.sum":
            return not self._adds_floats()
        if self.name == "numpy.sum":
            return self._adds_tests()
        if (self.name or "").startswith("numpy.") and self.word in reductions.EXTREMES:
            return len(self.call.args) == 1
        sorts = reductions.SORTING.search(self.word) and not self.leaves_ties()
        named = self.name in reductions.ORDER_FREE or sorts
        known = bool(named) or self._compares_to_one() or self._is_set_method()
        return known or self._combines_by_coordinates()

    def leaves_ties(self) -> bool:
        """``sorted(x, key=len)``, which keeps the order among equals."""
        key = self._module.argument(self.call, "key")
        return key is not None and SortKeys(self._module).leave_ties(key)

    def is_extreme(self) -> bool:
        """``max(x, key=size)``, which keeps the first of equals."""
        return self.name in _EXTREMES

    def shuffles(self) -> bool:
        """``random.shuffle(x)``, which leaves the rest to what is done with ``x``."""
        return self.word == "shuffle" and len(self.call.args) == 1

    def _combines_by_coordinates(self) -> bool:
        """``xr.open_mfdataset(x)``, where the coordinates in the files say what follows what."""
        way = self._module.argument(self.call, "combine")
        by_order = way is not None and self._module.literal(way) != "by_coords"
        return self.name == "xarray.open_mfdataset" and not by_order

    def _is_set_method(self) -> bool:
        """``seen.union(x)``; what is given to an ``update`` is not a dict's to order."""
        if not isinstance(self.call.func, cst.Attribute):
            return False
        updates = self.word == "update" and not self._module.has_unpacking(self.call)
        removes = reductions.REMOVING.search(self.word) is not None
        return updates or removes or self.word in reductions.ORDER_FREE_METHODS

    def carries_order(self) -> bool:
        """Whether the result is in the order of the argument."""
        if self.name == "builtins.zip" and len(self.call.args) > 1:
            return False
        bar = self.word.lower() in reductions.CARRYING_WORDS
        return (
            bar
            or self.name in reductions.CARRYING
            or self.makes_dict()
            or (self.name == "builtins.sorted" and self.call.args[0] is self.arg)
        )

    def makes_dict(self) -> bool:
        """Whether the result is a dict with the keys in the order of the argument."""
        return self.name in reductions.KEYED and self.arg.keyword is None

    def copies(self) -> bool:
        """Whether the result is of the kind of the argument: a dict of a dict."""
        return self.name not in reductions.CARRYING or self.name in reductions.COPYING

    def chooses(self) -> bool:
        """Whether the call picks or groups elements by their place: ``islice(x, 5)``."""
        return (self.name or "").startswith(_CHOOSING)

    def joins(self) -> bool:
        """``", ".join(x)``."""
        return self.word == "join" and self.name != "os.path.join" and not self.arg.star

    def extends(self) -> bool:
        """``found.extend(x)``."""
        return self.word in ("extend", "extendleft") and isinstance(self.call.func, cst.Attribute)

    def writes_dict(self) -> bool:
        """Whether the call writes a dict in its order."""
        return self.name in ("json.dump", "json.dumps")

    def how(self) -> str:
        """What happens to the order, as a message says it."""
        if self.is_extreme():
            return f"searched by {self.word}(key=…), which keeps the first of equals"
        if self.name == "builtins.sum":
            return "added up as floats"
        if self.name == "builtins.next":
            return "cut to its first by next()"
        if self.name == "builtins.zip":
            return "paired by zip()"
        if self.name in reductions.KEYED and self.arg.keyword is not None:
            return "stored"  # dict(images=x)
        return f"passed to {described(self.call.func)}()"

    def pairs_filled_lists(self) -> bool:
        """``zip(names, sizes)`` of lists that one loop filled: they have the same order."""
        names = all(isinstance(arg.value, cst.Name) for arg in self.call.args)
        return self.name == "builtins.zip" and names

    def is_sorted_after(self) -> bool:
        """``sorted(zip(names, sizes))``: pairs made of the same elements, in any order."""
        above = self._module.parent(self.call)
        outer = self._module.parent(above) if isinstance(above, cst.Arg) else None
        if self.name != "builtins.zip" or not isinstance(outer, cst.Call):
            return False
        if self._module.called(outer) != "builtins.sorted":
            return False
        key = self._module.argument(outer, "key")
        named = all(isinstance(each.value, cst.Name) for each in self.call.args)
        return key is None or (named and not SortKeys(self._module).leave_ties(key))

    def repeats(self) -> bool:
        """``zip(x, itertools.repeat(y))`` pairs nothing by place."""
        named = [self._module.called(arg.value) for arg in self.call.args]
        return self.name == "builtins.zip" and named.count("itertools.repeat") == len(named) - 1

    def _adds_floats(self) -> bool:
        """Whether what ``sum`` adds is visibly a float."""
        element = getattr(self.arg.value, "elt", None)
        if element is None:
            return False
        if isinstance(element, cst.BinaryOperation) and isinstance(element.operator, cst.Divide):
            return True
        return any(
            isinstance(each, cst.Float) or self._module.called(each) == "builtins.float"
            for each in self._module.tree.descendants(element)
        )

    def _adds_tests(self) -> bool:
        """``np.sum(["final" in name for name in names])``."""
        made = self._module.names.value_of(self.arg.value)
        element = getattr(made, "elt", None)
        return isinstance(element, (cst.Comparison, cst.Integer))

    def _compares_to_one(self) -> bool:
        """``assertEqual(os.listdir(d), ["only"])``: one element has one order."""
        if not self.word.startswith("assert"):
            return False
        others = (arg.value for arg in self.call.args if arg is not self.arg)
        return any(has_one_order(other) for other in others)


def described(function: cst.BaseExpression) -> str:
    """What is called, as a message names it: ``Parallel(…)``, ``readers[…]``, ``load``."""
    if isinstance(function, cst.Call):
        return f"{described(function.func)}(…)"
    if isinstance(function, cst.Subscript):
        return f"{described(function.value)}[…]"
    if isinstance(function, cst.Attribute):
        return function.attr.value
    return function.value if isinstance(function, cst.Name) else "a function"


def has_one_order(node: cst.CSTNode) -> bool:
    """``[]``, ``["only"]`` and literals that are no sequence of several."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return len(node.elements) <= 1
    if isinstance(node, cst.Name):
        return node.value == "None"
    return isinstance(node, (cst.Set, cst.SimpleString, cst.Integer))
