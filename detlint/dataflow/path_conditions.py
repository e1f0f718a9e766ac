"""Whether an operation may run: under the tests that it stands behind, and past what leaves."""

from __future__ import annotations

import itertools
import operator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from detlint.dataflow.calls import bound, word_of
from detlint.dataflow.ir import LISTS
from detlint.dataflow.slices import closure
from detlint.models.randomness import OF_UNIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from detlint.dataflow.ir import Function, Op, Region

    Assumed = Callable[[Op], object]

OTHER = "\0"  # stands for values that a function is seen to compare with nothing
_UNKNOWN = ...
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_EQUAL = {"Is": True, "Eq": True, "IsNot": False, "NotEq": False}
_IN = {"In": True, "NotIn": False}
_READS = frozenset(("compare", "format", "item", "iter", "slice", "test", "unpack"))
_EXIST = frozenset(("exists", "is_some", "not_none"))  # of None nothing of that name holds
_OF_TEXTS = frozenset(("casefold", "lower", "lstrip", "rstrip", "strip", "title", "upper"))
_OF_UNIT = frozenset(each.rpartition(".")[2] for each in OF_UNIT)
_DEEPEST = 40  # tests in tests
_CALLS = 3  # functions, one within another, of which what they give is worked out
_LEAVING = ("return", "leave", "raise")


class Paths:
    """Answers for one function; ``assumed``: what a value is, ``...`` where that is not known."""

    def __init__(
        self, function: Function, assumed: Assumed = lambda _: _UNKNOWN, calls: int = 0
    ) -> None:
        self._function = function
        self._values = function.unit.values
        self._assumed = assumed
        self._calls = calls  # from which it is entered
        self._held: dict[Op, bool | None] = {}
        self._joined: dict[Op, object] = {}
        self._joining: list[Op] = []

    def may_run(self, op: Op) -> bool:
        """Whether an operation may run when the function around all does; a number that is drawn
        from 0 to 1 counts only if what it is compared with does not settle that."""
        return self._is_defined and self._is_reached(op) and not self._is_settled(op)

    def _is_settled(self, op: Op) -> bool:
        tests_ = compared(op)
        return bool(tests_) and all(self.value(each) is not _UNKNOWN for each in tests_)

    @cached_property
    def _is_defined(self) -> bool:
        """Whether the function around one may define it."""
        made = self._function.makers
        return not made or any(map(Paths(made[0].function, calls=self._calls).may_run, made))

    def _is_reached(self, op: Op) -> bool:
        passes = True  # what comes after `return` does not run, but for `finally`
        for region in op.region.around():
            if self.enters(region) is False:
                return False
            if passes and self._left.get(region, op.place) < op.place:
                return False
            passes = passes and region.kind != "finally"
        return True

    @cached_property
    def _left(self) -> dict[Region, int]:
        """From which places on the rest of a region never runs."""
        found: dict[Region, int] = {}
        for op in self._function.leaving:
            is_tested = op.code == "raise" and op.region.head is not None
            if is_tested and not self._function.name:  # that of the module
                continue  # who starts the file is to fill in what is tested: `if root == "": raise`
            if op.code != "test" or self.holds(op.args[0]) is False:
                found.setdefault(self._farthest(op), op.place)
        return found

    def _farthest(self, op: Op) -> Region:
        """The outermost region that certainly ends where an operation leaves."""
        region = op.region
        while region.parent is not None:
            if region.kind != "finally" and self.enters(region) is not True:
                break
            if region.loops:
                break
            region = region.parent
        return region

    def enters(self, region: Region) -> bool | None:
        """Whether a region is entered; None if that is not known."""
        head = region.head
        if head is None or head.code != "test" or head.name == "match":
            return None
        if region.kind not in ("if", "else", "while"):
            return None
        holds = self.holds(head.args[0])
        return holds if holds is None or region.kind != "else" else not holds

    def holds(self, test: Op) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        if test not in self._held:
            self._held[test] = self._truth(test, 0)
        return self._held[test]

    def _truth(self, op: Op, depth: int) -> bool | None:
        """Whether a value counts as true; of ``a or b`` that may be known without the value."""
        if op.code == "boolean" and depth <= _DEEPEST and self._assumed(op) is _UNKNOWN:
            sides = [self._truth(each, depth + 1) for each in op.args]
            decides = op.name == "Or"
            return decides if decides in sides else None if None in sides else not decides
        value = self.value(op, depth)
        return None if value is _UNKNOWN else bool(value)

    def value(self, op: Op, depth: int = 0) -> object:
        """What an operation gives; ``...`` if that is not known."""
        found = self._assumed(op)
        if found is not _UNKNOWN or depth > _DEEPEST:
            return found
        if self._is_rebound(op):
            return _UNKNOWN
        judge = getattr(self, f"_of_{op.code}", None)
        if judge is not None:
            return judge(op, depth + 1)
        value = self._values.bound_to(op)
        # What is written out may be filled.
        return _UNKNOWN if value.code in LISTS else self._values.constant(value)

    def _is_rebound(self, op: Op) -> bool:
        """Whether functions may bind a variable of the module anew before it is read."""
        rebound = self._function.unit.rebound
        own = rebound and self._function is self._function.unit.module
        return bool(own) and not rebound.isdisjoint(self._function.names_of(op))

    def _of_call(self, op: Op, depth: int) -> object:
        if op.called == ["builtins.len"] and _is_fixed(op.args[-1]):
            return len(op.args[-1].args)
        given = [self.value(each, depth) for each in op.args[1:]]
        called = op.args[0]
        if len(given) == 1 and given[0] is None and word_of(op) in _EXIST:
            return False
        if not given and called.code == "attr" and called.name in _OF_TEXTS:
            text = self.value(called.args[0], depth)
            return getattr(text, called.name)() if isinstance(text, str) else _UNKNOWN
        if len(given) == 1 and given[0] is not _UNKNOWN and "builtins.str" in op.called:
            return str(given[0])
        known = any(each is not _UNKNOWN for each in given) and not op.unpacks
        return self._given_back(op, depth) if known and self._calls < _CALLS else _UNKNOWN

    def _given_back(self, call: Op, depth: int) -> object:
        """What a function of the file certainly gives for what a call passes."""
        callee = self._values.callee(call)
        if callee is None or callee.is_generator or not callee.is_defined:
            return _UNKNOWN
        ask = partial(self.value, depth=depth)
        inner = Paths(callee, partial(passed, bound(callee, call), ask=ask), self._calls + 1)
        returns = [each for each in callee.returns if inner.may_run(each)]
        ends = any(each.region is callee.region for each in returns)
        found = [inner.value(x.args[0]) if x.args else None for x in returns if ends]
        return found[0] if found and all(each == found[0] for each in found) else _UNKNOWN

    def _of_phi(self, op: Op, depth: int) -> object:
        """What all branches give that may run, or the one that certainly does."""
        if op not in self._joined and len(self._joining) <= _DEEPEST:
            self._joined[op] = _UNKNOWN  # what a round of a loop makes of itself
            self._joining.append(op)
            found = [self.value(each, depth) for each in self.given_to(op)]
            same = bool(found) and all(each == found[0] for each in found)
            self._joined[op] = found[0] if same else _UNKNOWN
            self._joining.pop()
        return self._joined.get(op, _UNKNOWN)

    def given_to(self, joint: Op) -> list[Op]:
        """What of a joint may be given to it; what a branch gives that certainly runs, alone."""
        given = []
        for each in joint.args:
            entered = {region: self.enters(region) for region in each.region.around()}
            if any(region.node is joint.node and sure for region, sure in entered.items()):
                return [each]
            if False not in entered.values():
                given.append(each)
        return given

    def _of_not(self, op: Op, depth: int) -> object:
        truth = self._truth(op.args[0], depth)
        return _UNKNOWN if truth is None else not truth

    def _of_boolean(self, op: Op, depth: int) -> object:
        value: object = _UNKNOWN
        for each in op.args:
            value = self.value(each, depth)
            if value is _UNKNOWN or bool(value) is (op.name == "Or"):
                break
        return value

    def _of_compare(self, op: Op, depth: int) -> object:
        sides = [self.value(each, depth) for each in op.args]
        if len(sides) == 2 and any(map(is_of_unit, op.args)):
            return _drawn(op.args[0], *op.name, *sides)
        found = [
            self._compared(how, left, right, op.args[place + 1], depth)
            for place, (how, left, right) in enumerate(zip(op.name, sides, sides[1:], strict=False))
        ]
        return False if False in found else _UNKNOWN if _UNKNOWN in found else True

    def _compared(self, how: str, left: object, right: object, op: Op, depth: int) -> object:
        if left is _UNKNOWN:
            return _UNKNOWN
        if how in _IN:
            held = self._is_in(left, op, depth)
            return held if held is _UNKNOWN else held is _IN[how]
        if right is _UNKNOWN or (self._calls and OTHER in (left, right)):
            return _UNKNOWN
        if how in _EQUAL:
            return (left == right) is _EQUAL[how]
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        return _ORDERS[how](left, right) if numbers and how in _ORDERS else _UNKNOWN

    def _is_in(self, value: object, held: Op, depth: int) -> object:
        """Whether a collection that is written out holds a value."""
        if held.elements is None or (self._calls and value == OTHER):
            return _UNKNOWN
        values = [self.value(each, depth) for each in held.elements]
        return _UNKNOWN if _UNKNOWN in values else value in values


def _is_fixed(op: Op) -> bool:
    """Whether a list is written out, and nothing may change how long it is."""
    reads = (each.code in _READS or each.called == ["builtins.len"] for each in op.uses)
    return op.elements is not None and all(reads)


def is_of_unit(op: Op) -> bool:
    """Whether a number is drawn from 0 to 1: ``random.random()``, ``torch.rand(1).item()``."""
    while _is_item(op):
        op = op.args[0].args[0]
    if word_of(op) not in _OF_UNIT or OF_UNIT.isdisjoint(op.called):
        return False
    return word_of(op) != "uniform" or [each.constant for each in op.args[1:]] in ([], [0, 1])


def compared(draw: Op) -> list[Op]:
    """The comparisons that a number drawn from 0 to 1 is used in, if that is all."""
    if draw.code != "call" or not is_of_unit(draw):
        return []
    held = closure([draw], lambda op: filter(_is_number_of, op.uses))
    found = [use for each in held for use in each.uses if not _is_number_of(use)]
    return found if all(each.code == "compare" for each in found) else []


def _is_number_of(use: Op) -> bool:
    return use.code == "phi" or (use.code == "attr" and use.name == "item") or _is_item(use)


def _is_item(op: Op) -> bool:
    called = op.args[0] if op.code == "call" and len(op.args) == 1 else op
    return called is not op and (called.code, called.name) == ("attr", "item")


def _drawn(left: Op, how: str, *sides: object) -> object:
    """What a comparison comes to of which one side is drawn from 0 to 1."""
    limit = sides[is_of_unit(left)]
    if not isinstance(limit, (int, float)) or how not in _ORDERS:
        return _UNKNOWN
    below = how.startswith("Lt") is is_of_unit(left)  # whether it holds for small numbers
    return below is (limit > 0) if limit <= 0 or limit >= 1 else _UNKNOWN


def passed(given: Mapping[Op, Op], op: Op, ask: Assumed = lambda op: op.constant) -> object:
    """What a parameter certainly is by what a call gives, or by its default."""
    if op.code != "param" or op.name[0]:
        return _UNKNOWN
    value = given.get(op)
    if value is not None:
        return ask(value)
    return op.args[0].constant if op.args else _UNKNOWN


def deciding(op: Op) -> Iterator[Op]:
    """All that ``Paths`` asks the value of to tell whether an operation runs: what is tested around
    it, and around what leaves its function before."""
    before = itertools.takewhile(lambda each: each.place < op.place, op.function.leaving)
    for each in (op, *before):
        heads = (region.head for region in each.region.around())
        tests_ = [x.args[0] for x in (each, *heads) if x is not None and x.code == "test"]
        yield from closure((*tests_, *(compared(op) if each is op else ())), _looked_into)


def _looked_into(op: Op) -> Sequence[Op]:
    judged = op.code in LISTS or hasattr(Paths, f"_of_{op.code}")
    return (*inputs(op), *deciding_branches(op)) if judged else ()


def deciding_branches(joint: Op) -> Iterator[Op]:
    """The tests of the branches that a joint joins."""
    for each in joint.args if joint.code == "phi" else ():
        heads = (region.head for region in each.region.around())
        yield from (x.args[0] for x in heads if x is not None and x.code == "test")


def inputs(op: Op) -> Sequence[Op]:
    """What an operation takes; of a method that is called, the object, too."""
    of_method = op.code == "call" and op.args[0].code == "attr"
    return (*op.args[1:], *op.args[0].args) if of_method else op.args


def tests(function: Function) -> Iterator[Op]:
    """What is tested in a function, where that decides what else runs."""
    for op in function.coded("test"):
        if op.name not in ("match", "comprehension"):
            yield op.args[0]


class Says(Protocol):
    """Whether a condition that holds, or does not, says something."""

    def __call__(self, test: Op, /, *, holds: bool) -> bool:
        """For a condition that is not made of others."""


def implies(test: Op, says: Says, *, holds: bool) -> bool:
    """Whether a condition that holds, or does not, says something, whatever it is made of: one part
    of ``a and b`` where that holds, each where it does not."""
    if test.code == "not":
        return implies(test.args[0], says, holds=not holds)
    if test.code != "boolean":
        return says(test, holds=holds)
    sides = (implies(each, says, holds=holds) for each in test.args)
    return any(sides) if (test.name == "And") is holds else all(sides)


def decided(op: Op) -> Iterator[tuple[Op, bool]]:
    """The tests that are decided where an operation runs: of branches around it, and of those that
    were left before it, as by a ``return``."""
    around = list(op.region.around())
    for region in around:
        head = region.head if region.kind in ("if", "else") else None
        if head is not None and head.name != "match":
            yield head.args[0], region.kind == "if"
    leaving = (each for code in _LEAVING for each in op.function.coded(code))
    for each in leaving:
        region = each.region
        if each.place > op.place or region.kind != "if":
            continue
        left = region.parent in around and region not in around and region.head is not None
        if left and region.head is not None and not getattr(region.node, "orelse", ()):
            yield region.head.args[0], False
