"""Whether a size that an operator gets is other than 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import merged_entries
from detlint.dataflow.backwards import Backwards
from detlint.dataflow.callers import given
from detlint.dataflow.numerics.tensors import function_of, method_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op

Facts = frozenset[str]
_OTHER, _ONE, _UNKNOWN = (frozenset((each,)) for each in ("other", "one", "?"))
_NOTHING: Facts = frozenset()


class Sizes:
    """Answers about sizes: True if one of them is not 1, False if all are; None if unknown.

    Where code chooses between values that are all known, one of them is enough: there are runs
    with it. So is one element of what a loop goes over, and one call of the file.
    """

    def __init__(self) -> None:
        self._sizes = _Sizes()

    def other_than_one(self, op: Op | None) -> bool | None:
        """Whether a size is not 1, or one of several is not."""
        return _told(self._sizes.of(op)) if op is not None else None


def _told(facts: Facts) -> bool | None:
    """Of values one of which is taken: all have to be known."""
    return None if "?" in facts or not facts else "other" in facts


class _Sizes(Backwards[Facts]):
    """What a size may be; ``elements``: what those that a value holds may be."""

    nothing, anything = _NOTHING, _UNKNOWN

    def __init__(self, whole: _Sizes | None = None) -> None:
        super().__init__()
        self.is_of_elements = whole is not None
        self.elements: _Sizes = self if whole is not None else _Sizes(self)
        self.whole: _Sizes = self if whole is None else whole

    def join(self, parts: Iterable[Facts]) -> Facts:
        return _NOTHING.union(*parts)

    def _of_const(self, op: Op) -> Facts:
        if self.is_of_elements:
            return _UNKNOWN
        return _ONE if op.name == 1 else _OTHER

    def _of_tuple(self, op: Op) -> Facts:
        """Of several sizes: one that is not 1 settles it."""
        found = [_told(self.whole.of(each)) for each in op.args]
        if True in found:
            return _OTHER
        return _UNKNOWN if None in found or not found else _ONE

    _of_list = _of_set = _of_tuple

    def _of_iter(self, op: Op) -> Facts:
        return _UNKNOWN if self.is_of_elements else self.elements.of(op.args[0])

    def _of_item(self, op: Op) -> Facts:
        """Of a shape, or of dicts that are written out: ``self.options["size"]``."""
        if is_shape(op):
            return _OTHER
        values = op.values
        key = values.constant(op.args[1])
        named = merged_entries(values, op.args[0]) if isinstance(key, str) else ()
        return self.joined(each.value for each in named if each.name == key) or _UNKNOWN

    def _of_slice(self, op: Op) -> Facts:
        return _OTHER if is_shape(op) else _UNKNOWN

    _of_call = _of_slice

    def _of_unpack(self, op: Op) -> Facts:
        """``_, _, height, width = x.shape``, ``for place, size in enumerate(sizes)``."""
        owner, index = op.args[0], op.name[0]
        if owner.code == "iter" and function_of(owner.args[0]) == "builtins.enumerate":
            return self.elements.of(owner.args[0].args[1]) if index == 1 else _UNKNOWN
        return self._of_slice(op)

    def _of_attr(self, op: Op) -> Facts:
        """``x.shape``, or ``self.size``, if all that the class binds it to is known."""
        if is_shape(op):
            return _OTHER
        held = op.values.bound(op)
        return self.joined(held) if held else _UNKNOWN

    def _of_param(self, op: Op) -> Facts:
        """What the calls in the file give, or else the default."""
        found = []
        for call in op.function.known_calls.calls:
            value = given(call, op)
            found.append(_told(self.of(value)) if value is not None else None)
        if True in found:
            return _OTHER
        default = op.args and False not in found
        return self.joined(op.args) if default else _UNKNOWN


def is_shape(op: Op) -> bool:
    """``x.shape``, ``x.shape[-2:]``, ``x.size(2)``: what varies, and is seldom 1."""
    while op.code in ("item", "slice", "unpack"):
        op = op.args[0]
    return method_of(op) == "size" or (op.code == "attr" and op.name == "shape")


def is_size_of(op: Op, tensor: Op, places: tuple[int, ...]) -> bool:
    """Whether a value is the size of a tensor along the axis that has one of these places:
    ``x.shape[2]``, ``x.size(-1)``, ``_, _, height, width = x.shape``."""
    if op.code == "call":
        axis, shape = op.given("dim", 0), op.args[0]  # ``x.size``, which it calls
    else:
        shape = op.args[0] if op.code in ("item", "unpack") else op
        axis = op.args[1] if op.code == "item" else None
    place = op.name[0] if op.code == "unpack" else axis.constant if axis is not None else ...
    called = shape.args[0] if shape.code == "call" else shape
    is_read = called.code == "attr" and called.name in ("shape", "size")
    return is_read and called.args[0] is tensor and place in places
