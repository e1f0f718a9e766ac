"""Calls that allocate memory without filling it."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.models import names
from detlint.models.memory import Shape

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit
    from detlint.models.memory import Library

# NumPy fills arrays of objects with None, and strings of variable length with "".
_FILLED = re.compile(r"[\"']?\|?(?:O\d*|T|object)[\"']?|.*\b(?:object_?|StringDType)(?:\(.*)?")


class Allocations:
    """Recognises them in one file.

    What has fewer elements than ``least`` stands in for something else. ``named``: to the older
    constructors, one argument by the name of a count is a length.
    """

    def __init__(self, unit: Unit, library: Library, *, least: int, named: bool) -> None:
        self._unit = unit
        self._values = unit.values
        self._library = library
        self._least = least
        self._named = named
        self._words = {name.rpartition(".")[2] for name in library.allocations}
        self._words |= library.allocating.keys()
        self._made: dict[Op, bool] = {}

    def is_allocation(self, call: Op) -> bool:
        """Whether a call returns memory that certainly holds what was left there."""
        if call.code != "call":
            return False
        if call not in self._made:
            self._made[call] = self._allocates(call)
        return self._made[call]

    def _allocates(self, call: Op) -> bool:
        shape = self.shape_of(call)
        if shape is None or self._is_elsewhere(call) or self._is_filled(call):
            return False
        sizes = self._sizes(call, shape)
        if shape is Shape.LIKE:
            return True
        if shape is Shape.LEGACY and not self._are_sizes(sizes):
            return False
        if shape is Shape.GROWS and not self._grows(call, sizes):
            return False
        count = self._count(sizes)
        return count is None or count >= self._least

    def shape_of(self, call: Op) -> Shape | None:
        """How a call is told the shape of the memory that it allocates."""
        if str(call.args[0].name).rpartition(".")[2] not in self._words:
            return None
        called = self._values.called(call)
        for name in called:
            shape = self._library.allocations.get(name)
            if shape is not None:
                return shape
        if called or call.args[0].code != "attr":
            return None
        return self._library.allocating.get(str(call.args[0].name))

    def _is_elsewhere(self, call: Op) -> bool:
        """Whether memory is another's, has no content, or is there for copies."""
        if call.given("out") is not None or self.is_meta(call.given("device")):
            return True
        pinned = call.given("pin_memory")
        if pinned is not None and pinned.literal is True:
            return True
        names_ = self._values.called(call)
        if any(name.endswith(".ndarray") for name in names_):
            return call.given("buffer", 2) is not None
        return False

    def is_meta(self, device: Op | None) -> bool:
        if device is None:
            return False
        if device.code == "call" and "torch.device" in self._values.called(device):
            return any(map(self.is_meta, device.args[1:]))
        return device.text == "meta"

    def _is_filled(self, call: Op) -> bool:
        if not any(name.startswith(("numpy.", "cupy.")) for name in self._values.called(call)):
            return False
        kind = call.given("dtype", 1)
        if kind is None:
            return call.unpacks
        return call.unpacks or _FILLED.fullmatch(ast.unparse(kind.node)) is not None

    def _sizes(self, call: Op, shape: Shape) -> list[Op]:
        named = call.given("size") or call.given("shape")
        given = [value for name, value in call.arguments() if name in (None, "*")]
        if named is not None:
            return [named]
        return given[:1] if shape in (Shape.FIRST, Shape.LIKE) else given

    def _count(self, sizes: list[Op]) -> int | None:
        """The number of elements of a shape, as far as literals tell; 0 if any length is 0."""
        lengths: list[int | None] = []
        for size in sizes:
            parts = size.args if size.code in ("tuple", "list") else [size]
            lengths += map(self._length, parts)
        if 0 in lengths:
            return 0
        known = [each for each in lengths if each is not None]
        return math.prod(known) if len(known) == len(lengths) else None

    def _length(self, op: Op) -> int | None:
        if op.code == "global":
            bound = self._unit.module.bindings.get(str(op.name), ()) if self._is_bound(op) else ()
            op = bound[0] if len(bound) == 1 else op
        return op.literal if type(op.literal) is int else None

    def _is_bound(self, op: Op) -> bool:
        return str(op.name) in self._unit.bound_names

    def _are_sizes(self, sizes: list[Op]) -> bool:
        """Whether a legacy constructor gets lengths: several arguments, or one whole number."""
        if len(sizes) != 1:
            return len(sizes) > 1
        return self._is_integer(sizes[0])

    def _is_integer(self, op: Op) -> bool:
        told = (spoken(op), *op.function.names_of(op))
        if self._named and any(map(names.counts, told)):
            return True
        if lattice.are(self._values.types(op), "int"):
            return op.code != "const" or op.name is not None
        if op.code == "binary":
            return all(map(self._is_integer, op.args))
        if op.code == "item":
            return op.args[0].code == "attr" and str(op.args[0].name) == "shape"
        method = op.args[0] if op.code == "call" else op
        # A torch.Size is taken as a shape, too.
        return method is not op and method.code == "attr" and str(method.name) == "size"

    def _grows(self, call: Op, sizes: list[Op]) -> bool:
        """Whether ``resize_`` certainly adds elements, which nothing fills."""
        made = call.args[0].args[0]
        if made.code != "call" or self._library.factories.isdisjoint(self._values.called(made)):
            return False
        given = [value for name, value in made.arguments() if name is None]
        legacy = "torch.Tensor" in self._values.called(made)
        if legacy and given:
            return False
        before = 0 if legacy else self._count(given)
        if before is None or before == 0:
            return before == 0
        after = self._count(sizes)
        return after is not None and after > before


def spoken(op: Op) -> str:
    """The last word of what a value is called."""
    node = op.node
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, (ast.Name, ast.arg)):
        return node.id if isinstance(node, ast.Name) else node.arg
    return str(op.name) if isinstance(op.name, str) else ""
