"""Triton kernels: whether what they give depends on the configuration that a tuner chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.slices import behind, closure
from detlint.models import tuning
from detlint.models.atomics import is_integer_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.values import Values

# The parameters that an axis' length is made of: none for a constant.
Axis = frozenset[str]
Shape = tuple[Axis, ...]
_ONE: Axis = frozenset()
_DEEPEST = 150  # operations behind a block
_CALLS = 2  # functions in functions
_SPREAD = frozenset(("binary", "boolean", "compare", "not", "unary", "augment"))
_NUMBERS = frozenset(("const", "param", "global", "free", "iter", "import"))
_PASSES = frozenset(("attr", "phi", "choice", "binary", "augment", "unary"))
_KEEPING = frozenset(("to", "where"))  # methods and functions that give what they get


def adds_up(values: Values, kernel: Function, varied: frozenset[str] | None) -> bool:
    """Whether what a kernel gives depends on how its work is split; ``varied``: the parameters in
    which its configurations differ, None where they cannot be seen."""
    return any(
        _is_split(values, name, call, depth, varied) for name, call, depth in _used(values, kernel)
    )


def _used(values: Values, kernel: Function, depth: int = 0) -> Iterator[tuple[str, Op, int]]:
    """The functions of triton's language that a kernel uses, and what it calls of the file."""
    for op in kernel.ops:
        if op.code != "call":
            continue
        name = tuning.operation(values.called(op))
        if name:
            yield name, op, depth
        elif depth < _CALLS and op.args[0].code in ("global", "free"):
            callee = values.callee(op)
            if callee is not None and callee is not kernel:
                yield from _used(values, callee, depth + 1)


def _is_split(
    values: Values, name: str, call: Op, depth: int, varied: frozenset[str] | None
) -> bool:
    if name in tuning.ACROSS_WARPS:
        return varied != frozenset() and not _is_whole(call)
    if name not in tuning.BY_BLOCKS:
        return False
    if varied is None:
        return True
    blocks = varied - {tuning.WARPS}
    if depth or not blocks:
        return bool(blocks)
    return not _is_whole(call) and _Shapes(values, blocks).splits(call)


def _is_whole(call: Op) -> bool:
    """Whether a call visibly adds whole numbers: ``tl.sum(x.to(tl.int32))``."""
    told = call.given("out_dtype") or call.given("dtype")
    if told is not None:
        return _is_whole_type(told)
    value = call.args[1] if len(call.args) > 1 else call
    cast = value.code == "call" and value.args[0].code == "attr" and value.args[0].name == "to"
    return cast and any(map(_is_whole_type, value.args[1:]))


def _is_whole_type(op: Op) -> bool:
    return op.code == "attr" and is_integer_type(str(op.name))


class _Shapes:
    """The shapes of the blocks of a kernel. What is not certain has no shape."""

    def __init__(self, values: Values, varied: frozenset[str]) -> None:
        self._values = values
        self._varied = varied
        self._known: dict[Op, Shape | None] = {}
        self._depth = 0

    def splits(self, dot: Op) -> bool:
        """Whether the axis that a ``tl.dot`` sums over, or the loop around it, can vary."""
        found: list[Axis] = []
        left, right = (
            self._of(given) if given is not None else None
            for given in (dot.given("input", 0), dot.given("other", 1))
        )
        if left is not None and len(left) >= 2:
            found.append(left[-1])
        if right is not None and len(right) >= 2:
            found.append(right[-2])
        if not found or any(map(self._varies, found)):
            return True
        loops = [region for region in dot.region.around() if region.kind in ("for", "while")]
        return any(self._sums_in(region, dot) for region in loops)

    def _varies(self, axis: Axis) -> bool:
        return not self._varied.isdisjoint(axis)

    def _sums_in(self, loop: Region, dot: Op) -> bool:
        """Whether a loop, whose rounds vary in number, adds a product to what it started with."""
        if loop.head is None or not self._varies(parameters(loop.head.args[0])):
            return False
        return any(_adds_to(after, joint, dot) for joint in loop.joints for after in joint.args[1:])

    def _of(self, op: Op) -> Shape | None:
        """The axes of a block; no axes for a single value."""
        if op not in self._known:
            if self._depth > _DEEPEST:
                return None
            self._depth += 1
            self._known[op] = None  # of what is made of itself
            self._known[op] = self._joined(op) if op.code == "phi" else self._inferred(op)
            self._depth -= 1
        return self._known[op]

    def _joined(self, op: Op) -> Shape | None:
        """What all branches give; the rounds of a loop leave a block its shape."""
        for each in op.args:
            found = self._of(each)
            if found is not None:
                self._known[op] = found
                others = [self._of(other) for other in op.args]
                return found if all(other in (found, None) for other in others) else None
        return None

    def _inferred(self, op: Op) -> Shape | None:
        if op.code in _NUMBERS:
            return ()
        if op.code in _SPREAD:
            return _broadcast([self._of(each) for each in op.args])
        if op.code == "choice":
            return _broadcast([self._of(each) for each in op.args[1:]])
        if op.code == "item":
            return _indexed(self._of(op.args[0]), op.args[1])
        if op.code == "attr":
            below = self._of(op.args[0]) if op.name == "T" else None
            return below[::-1] if below is not None else None
        return self._of_call(op) if op.code == "call" else None

    def _of_call(self, op: Op) -> Shape | None:
        function, given = op.args[0], [value for name, value in op.arguments() if name is None]
        named = self._values.called(op)
        word = (named[0] if named else str(function.name)).rpartition(".")[2]
        if not named and function.code == "attr":
            given.insert(0, function.args[0])
        if word in tuning.NUMBERS:
            return ()
        if word == "arange" and len(given) == 2:
            return (parameters(given[0]) | parameters(given[1]),)
        if word in tuning.DESCRIPTORS:
            return _sizes(op.given("block_shape", tuning.BLOCK_SHAPE))
        if word in tuning.SHAPED:
            listed = (each for each in given if each.code in ("tuple", "list"))
            return _sizes(op.given("shape") or next(listed, None))
        return self._of_blocks(word, given)

    def _of_blocks(self, word: str, given: list[Op]) -> Shape | None:
        if word in tuning.BROADCASTS:
            return _broadcast([self._of(each) for each in given])
        first = self._of(given[0]) if given else None
        if first is None or word in tuning.LIKE:
            return first
        if word == "dot" and len(given) > 1:
            second = self._of(given[1])
            fits = second is not None and len(first) >= 2 and len(second) >= 2
            return (*first[:-1], second[-1]) if fits and second is not None else None
        turns = word in tuning.TURNS and len(first) == 2 and len(given) in (1, 3)
        return first[::-1] if turns else None


def parameters(op: Op) -> Axis:
    """The parameters that a value is made of."""
    return frozenset(each.name[1] for each in behind(op) if each.code == "param")


def _adds_to(after: Op, joint: Op, dot: Op) -> bool:
    """Whether a round adds to what a variable held before it, and a product comes to that:
    ``acc += tl.dot(a, b)``, ``acc = tl.dot(a, b, acc)``."""

    def terms(term: tuple[Op, bool]) -> Iterator[tuple[Op, bool]]:
        op, added = term
        if op is joint:
            return
        if op.code in _PASSES:
            more = op.code in ("binary", "augment") and op.name in ("Add", "Sub")
            yield from ((each, added or more) for each in op.args)
        elif op.code == "call" and op.args[0].name in tuning.BY_BLOCKS:
            yield from ((each, True) for each in op.args[3:])
        elif op.code == "call" and op.args[0].name in _KEEPING:
            yield from ((each, added) for each in op.args)

    adds = (joint, True) in closure([(after, False)], terms)
    return adds and dot in closure([after], lambda op: () if op is joint else op.args)


def _sizes(op: Op | None) -> Shape | None:
    sizes = None if op is None else op.elements
    return None if sizes is None else tuple(map(parameters, sizes))


def _broadcast(shapes: list[Shape | None]) -> Shape | None:
    """The shape of what an operator gives for blocks that are spread over each other."""
    known = [each for each in shapes if each is not None]
    if len(known) < len(shapes):
        return None
    width = max((len(each) for each in known), default=0)
    padded = [(_ONE,) * (width - len(each)) + each for each in known]
    return tuple(frozenset().union(*axis) for axis in zip(*padded, strict=True))


def _indexed(shape: Shape | None, key: Op) -> Shape | None:
    """``offsets[:, None]``, ``offsets[None, :]``."""
    if shape is None:
        return None
    left, found = list(shape), []
    for each in key.args if key.code == "tuple" else [key]:
        if each.is_none:
            found.append(_ONE)
        elif each.code == "other" and each.name == "Slice" and left:
            found.append(left.pop(0))
        else:
            return None
    return (*found, *left)
