"""The shapes of blocks in a Triton kernel, by the names that their lengths are made of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# The names that an axis' length is made of: none for a constant.
Axis = frozenset[str]
Shape = tuple[Axis, ...]
_ONE: Axis = frozenset()
_DEEPEST = 30
# Methods and functions that give a block of the shape of what they get.
_LIKE = frozenset({"to", "cast", "load", "advance", "abs", "exp", "exp2", "log", "log2"})
_SHAPED = frozenset({"zeros", "full", "reshape", "view"})
_DESCRIPTORS = frozenset({"make_tensor_descriptor", "make_block_ptr"})
_NUMBERS = frozenset({"program_id", "num_programs", "cdiv", "range", "static_range"})
_TURNS = frozenset({"trans", "permute", "dot"})
_BROADCASTS = frozenset({"where", "maximum", "minimum"})
_EITHER = frozenset({"builtins.min", "builtins.max"})


class Shapes:
    """Answers about the expressions of one kernel. What is not certain has no shape."""

    def __init__(self, module: Module, kernel: cst.FunctionDef) -> None:
        self._module = module
        self._kernel = kernel
        self._asked: list[cst.CSTNode] = []
        self._assumed: dict[str, Shape | None] = {}

    def of(self, node: cst.CSTNode | None) -> Shape | None:
        """The axes of a block; no axes for a single value."""
        if node is None or node in self._asked or len(self._asked) > _DEEPEST:
            return None
        self._asked.append(node)
        try:
            return self._infer(node)
        finally:
            self._asked.pop()

    def behind(self, found: Axis) -> Axis:
        """Some names, and those that their values are made of."""
        reached: set[str] = set()
        left = list(found)
        while left:
            name = left.pop()
            if name not in reached:
                reached.add(name)
                for value in self._values.get(name, ()):
                    left.extend(names(value))
        return frozenset(reached)

    def operation(self, call: cst.Call) -> str:
        """The last word of a function of triton's language, or of a method."""
        if isinstance(call.func, cst.Attribute):
            return call.func.attr.value
        return (self._module.called(call) or "").rpartition(".")[2]

    def made_of(self, node: cst.CSTNode) -> Axis:
        """The names whose values hold what an expression gives, in whatever it is changed to."""
        reached: set[str] = set()
        grown = True
        while grown:
            grown = False
            for name, value in self._steps:
                if name not in reached and (
                    not reached.isdisjoint(names(value)) or self._holds(value, node)
                ):
                    reached.add(name)
                    grown = True
        return frozenset(reached)

    def _holds(self, value: cst.CSTNode, node: cst.CSTNode) -> bool:
        return value is node or any(each is value for each in self._module.ancestors(node))

    @cached_property
    def _steps(self) -> list[tuple[str, cst.BaseExpression]]:
        """What the kernel assigns to each name, or changes it by."""
        made = [(name, value) for name in self._values for value in self._values[name]]
        changed = [
            (each.target.value, each.value)
            for each in self._module.tree.descendants(self._kernel.body)
            if isinstance(each, cst.AugAssign) and isinstance(each.target, cst.Name)
        ]
        return made + changed

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(each.name.value for each in self._kernel.params.params)

    @cached_property
    def _values(self) -> dict[str, list[cst.BaseExpression]]:
        """What the kernel assigns to each name; steps of a pointer change no shape."""
        found: dict[str, list[cst.BaseExpression]] = {}
        for each in self._module.tree.descendants(self._kernel.body):
            for name, value in _bound(each):
                found.setdefault(name, []).append(value)
        return found

    def _infer(self, node: cst.CSTNode) -> Shape | None:
        if isinstance(node, cst.Name):
            return self._infer_name(node.value)
        if isinstance(node, cst.Call):
            return self._infer_call(node)
        if isinstance(node, cst.Subscript):
            return _indexed(self.of(node.value), node)
        if isinstance(node, cst.Attribute):
            below = self.of(node.value) if node.attr.value == "T" else None
            return below[::-1] if below is not None else None
        parts = _parts(node)
        return _broadcast([self.of(each) for each in parts]) if parts is not None else None

    def _infer_name(self, name: str) -> Shape | None:
        if name in self._assumed:
            return self._assumed[name]
        values = self._values.get(name)
        if values is None:
            return ()  # a parameter or a constant of the file: a number or one address
        # What is made of itself, as in ``x = x.to(tl.float32)``, tells nothing of its own.
        known = {self.of(each) for each in values if name not in names(each)} - {None}
        if name in self._parameters:
            known.add(())
        if len(known) != 1:
            return None
        found = known.pop()
        self._assumed[name] = found
        try:
            again = [self.of(each) for each in values if name in names(each)]
        finally:
            del self._assumed[name]
        return found if all(each in (found, None) for each in again) else None

    def _infer_call(self, call: cst.Call) -> Shape | None:
        operation = self.operation(call)
        method = isinstance(call.func, cst.Attribute) and not self._is_language(call.func.value)
        values = [argument.value for argument in call.args if argument.keyword is None]
        if method and isinstance(call.func, cst.Attribute):
            values.insert(0, call.func.value)
        if operation in _NUMBERS:
            return ()
        if operation == "arange" and len(values) == 2:
            return (names(values[1]) | names(values[0]),)
        if operation in _DESCRIPTORS:
            return _sizes(self._module.argument(call, "block_shape", 4))
        if operation in _SHAPED:
            return _sizes(self._module.argument(call, "shape") or _last_tuple(values))
        if self._module.called(call) in _EITHER:
            return _broadcast([self.of(each) for each in values])
        return self._infer_same(operation, values)

    def _infer_same(self, operation: str, values: list[cst.BaseExpression]) -> Shape | None:
        if operation in _TURNS and values:
            return self._infer_turned(operation, values)
        if operation in _LIKE and values:
            return self.of(values[0])
        if operation in _BROADCASTS:
            return _broadcast([self.of(each) for each in values])
        return None

    def _infer_turned(self, operation: str, values: list[cst.BaseExpression]) -> Shape | None:
        first = self.of(values[0])
        if operation == "dot" and len(values) > 1:
            second = self.of(values[1])
            if first is None or second is None or len(first) < 2 or len(second) < 2:
                return None
            return (*first[:-1], second[-1])
        alone = first is not None and len(first) == 2
        return first[::-1] if first is not None and alone and len(values) in (1, 3) else None

    def _is_language(self, node: cst.BaseExpression) -> bool:
        name = self._module.qualified_name(node)
        return name is not None and (name.startswith("triton") or name.endswith(".tl"))


def _bound(node: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names that a statement binds, each with the value that it is made of."""
    if isinstance(node, cst.Assign):
        for target in node.targets:
            yield from _pairs(target.target, node.value)
    elif isinstance(node, cst.AnnAssign) and node.value is not None:
        yield from _pairs(node.target, node.value)
    elif isinstance(node, cst.For):
        yield from _pairs(node.target, node.iter)


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[str, cst.BaseExpression]]:
    if isinstance(target, cst.Name):
        yield target.value, value
    elif isinstance(target, (cst.Tuple, cst.List)):
        values = value.elements if isinstance(value, (cst.Tuple, cst.List)) else ()
        for place, element in enumerate(target.elements):
            paired = len(values) == len(target.elements)
            yield from _pairs(element.value, values[place].value if paired else value)


def _parts(node: cst.CSTNode) -> list[cst.CSTNode] | None:
    """What an operator is put between."""
    if isinstance(node, (cst.Integer, cst.Float)):
        return []
    if isinstance(node, cst.UnaryOperation):
        return [node.expression]
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    if isinstance(node, cst.Comparison):
        return [node.left, *(each.comparator for each in node.comparisons)]
    return [node.body, node.orelse] if isinstance(node, cst.IfExp) else None


def names(node: cst.CSTNode) -> Axis:
    """The names in an expression, without what calls and attributes are called."""
    found: set[str] = set()
    left: list[cst.CSTNode] = [node]
    while left:
        each = left.pop()
        if isinstance(each, cst.Name):
            found.add(each.value)
        elif isinstance(each, (cst.Attribute, cst.Arg)):
            left.append(each.value)
        else:
            left.extend(each.children)
    return frozenset(found)


def _last_tuple(values: list[cst.BaseExpression]) -> cst.BaseExpression | None:
    shaped = [each for each in values if isinstance(each, (cst.Tuple, cst.List))]
    return shaped[0] if shaped else None


def _sizes(node: cst.BaseExpression | None) -> Shape | None:
    if not isinstance(node, (cst.Tuple, cst.List)):
        return None
    return tuple(names(element.value) for element in node.elements)


def _broadcast(shapes: list[Shape | None]) -> Shape | None:
    """The shape of what an operator gives for blocks that are spread over each other."""
    known = [each for each in shapes if each is not None]
    if len(known) < len(shapes):
        return None
    width = max((len(each) for each in known), default=0)
    padded = [(_ONE,) * (width - len(each)) + each for each in known]
    return tuple(frozenset().union(*axis) for axis in zip(*padded, strict=True))


def _indexed(shape: Shape | None, node: cst.Subscript) -> Shape | None:
    """``offsets[:, None]``, ``offsets[None, :]``."""
    if shape is None:
        return None
    left, found = list(shape), []
    for element in node.slice:
        index = element.slice
        if isinstance(index, cst.Slice):
            if not left:
                return None
            found.append(left.pop(0))
        elif isinstance(index, cst.Index) and _is_none(index.value):
            found.append(_ONE)
        else:
            return None
    return (*found, *left)


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"
