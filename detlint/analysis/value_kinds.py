"""Of what kind the value of an expression is, as far as the order of a set of them goes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from detlint.analysis import kind_tables as tables
from detlint.analysis.element_sources import Sources
from detlint.analysis.handlers import handler
from detlint.analysis.kinds import Kind, merge, tuple_of, value_by_name
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.module import Module

_DEPTH = 25


class ValueKinds:
    """Answers for single values; a subclass for what iterating over them gives."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._sources = Sources(module)
        self._busy: dict[tuple[str, cst.CSTNode], int] = {}  # with how many are around it
        self._known: dict[tuple[str, cst.CSTNode], Kind | None] = {}
        # What holds until a question from outside is answered, since it was taken for unknown in
        # it that something further out, at a place in ``_busy``, is asked about: following all
        # ways through `x = x.union(a)`, twenty times, would never end.
        self._unsure: dict[tuple[str, cst.CSTNode], tuple[Kind | None, float]] = {}
        self._outermost = math.inf  # of those places
        self._first: dict[tuple[int, str], cst.Name] = {}

    def value(self, node: cst.CSTNode) -> Kind | None:
        """The kind of one value; None where a variable is defined by itself."""
        return self._ask("value", node, self._value)

    def elements(self, node: cst.CSTNode) -> Kind | None:
        """The kind of what iterating over a value gives."""
        raise NotImplementedError

    def values(self, node: cst.CSTNode) -> Kind | None:
        """The kind of the values of a dict."""
        raise NotImplementedError

    def _ask(
        self, question: str, node: cst.CSTNode, answer: Callable[[cst.CSTNode], Kind | None]
    ) -> Kind | None:
        key = (question, self._variable(node) if isinstance(node, cst.Name) else node)
        if key in self._known:
            return self._known[key]
        if key in self._unsure:
            found, outermost = self._unsure[key]
            self._outermost = min(self._outermost, outermost)
            return found
        if key in self._busy or len(self._busy) > _DEPTH:
            self._outermost = min(self._outermost, self._busy.get(key, -1))
            return None
        return self._answered(key, answer)

    def _answered(
        self, key: tuple[str, cst.CSTNode], answer: Callable[[cst.CSTNode], Kind | None]
    ) -> Kind | None:
        place, before = len(self._busy), self._outermost
        self._busy[key], self._outermost = place, math.inf
        try:
            found = answer(key[1])
        finally:
            del self._busy[key]
        if self._outermost >= place:
            self._known[key] = found
            self._outermost = before
        else:
            self._unsure[key] = found, self._outermost
            self._outermost = min(self._outermost, before)
        if not self._busy:
            self._unsure.clear()
            self._outermost = math.inf
        return found

    def _variable(self, name: cst.Name) -> cst.Name:
        """The first name asked about that stands for the same: one answer is enough for all."""
        return self._first.setdefault((id(self._module.bindings.scope_of(name)), name.value), name)

    def _value(self, node: cst.CSTNode) -> Kind | None:
        judge = handler(self, "value_of_", node)
        found: Kind | None = judge(node) if judge is not None else Kind.UNKNOWN
        return found

    def value_of_simple_string(self, node: cst.SimpleString) -> Kind:
        """``"a"``, ``b"a"``."""
        return Kind.BYTES if "b" in node.prefix.lower() else Kind.TEXT

    def value_of_formatted_string(self, _: cst.CSTNode) -> Kind:
        """``f"{x}"``."""
        return Kind.TEXT

    def value_of_concatenated_string(self, node: cst.ConcatenatedString) -> Kind | None:
        """``"a" "b"``."""
        return self.value(node.left)

    def value_of_integer(self, _: cst.CSTNode) -> Kind:
        """A number."""
        return Kind.STABLE

    value_of_float = value_of_imaginary = value_of_comparison = value_of_integer

    def value_of_lambda(self, _: cst.CSTNode) -> Kind:
        """A function."""
        return Kind.OBJECT

    def value_of_tuple(self, node: cst.Tuple) -> Kind | None:
        """``(name, size)``."""
        return tuple_of(self.value(each.value) for each in node.elements)

    def value_of_if_exp(self, node: cst.IfExp) -> Kind | None:
        """``a if x else b``."""
        return merge((self.value(node.body), self.value(node.orelse)))

    def value_of_boolean_operation(self, node: cst.BooleanOperation) -> Kind | None:
        """``a or b``."""
        return merge((self.value(node.left), self.value(node.right)))

    def value_of_named_expr(self, node: cst.NamedExpr) -> Kind | None:
        """``(a := b)``."""
        return self.value(node.value)

    def value_of_unary_operation(self, node: cst.UnaryOperation) -> Kind | None:
        """``-x``, ``not x``."""
        stable = isinstance(node.operator, cst.Not)
        return Kind.STABLE if stable else self.value(node.expression)

    def value_of_binary_operation(self, node: cst.BinaryOperation) -> Kind | None:
        """``"a" + x``, ``"%s" % x``, ``a * 2``."""
        left, right = self.value(node.left), self.value(node.right)
        sides = {left, right} & {Kind.TEXT, Kind.LIKELY}
        if isinstance(node.operator, cst.Add) and sides:
            return Kind.TEXT if Kind.TEXT in sides else Kind.LIKELY
        if isinstance(node.operator, cst.Modulo) and left is Kind.TEXT:
            return left
        if isinstance(node.operator, cst.Divide) and right is Kind.TEXT:
            return Kind.OBJECT  # a path
        return Kind.STABLE if {left, right} == {Kind.STABLE} else Kind.UNKNOWN

    def value_of_call(self, call: cst.Call) -> Kind | None:
        """``str(x)``, ``x.strip()``, ``int(x)``."""
        name = self._module.called(call)
        if name in tables.FUNCTIONS:
            return tables.FUNCTIONS[name]
        if name in tables.TUPLES and call.args:
            return tuple_of((self.elements(call.args[0].value),))
        if name is not None and name.startswith("builtins.str."):
            return Kind.TEXT
        return self._sources.instance(call.func) or self._value_of_method(call)

    def _value_of_method(self, call: cst.Call) -> Kind:
        func = call.func
        method = func.attr.value if isinstance(func, cst.Attribute) else ""
        taken = method in ("pop", "get") and self._module.called(call) is None
        return Kind.UNKNOWN if taken else tables.METHODS.get(method) or value_by_name(method)

    def value_of_attribute(self, node: cst.Attribute) -> Kind | None:
        """``cls.__name__``, ``self.path``."""
        word = node.attr.value
        declared = self._sources.annotation(node)
        if declared is not None:
            return declared.value()
        return tables.ATTRIBUTES.get(word) or value_by_name(word)

    def value_of_subscript(self, node: cst.Subscript) -> Kind | None:
        """``line.split()[0]``, ``item["name"]``."""
        key = node.slice[0].slice
        literal = self._module.literal(key.value) if isinstance(key, cst.Index) else None
        if isinstance(literal, str):
            return value_by_name(literal)
        if isinstance(key, cst.Slice):
            whole = self.value(node.value)
            return whole if whole in (Kind.TEXT, Kind.BYTES, Kind.LIKELY) else Kind.UNKNOWN
        if isinstance(node.value, cst.Call):
            found = self.elements(node.value)
            return found if found is Kind.TEXT else Kind.UNKNOWN
        return self.value(node.value) if self._is_text(node.value) else Kind.UNKNOWN

    def _is_text(self, node: cst.CSTNode) -> bool:
        return self.value(node) in (Kind.TEXT, Kind.LIKELY)

    def value_of_name(self, name: cst.Name) -> Kind | None:
        """A variable."""
        if name.value in ("True", "False"):
            return Kind.STABLE
        if name.value == "None":
            return Kind.UNKNOWN  # does not compare with text
        found = merge(self._values_of_name(name))
        return value_by_name(name.value) if found in (None, Kind.UNKNOWN) else found

    def _values_of_name(self, name: cst.Name) -> Iterator[Kind | None]:
        for binding in self._module.names.visible(name):
            declared = self._sources.declared(binding)
            if declared is not None:
                yield declared.value()
            elif binding.kind == "value" and binding.node is not None:
                yield self.value(binding.node)
            elif binding.kind == "loop" and binding.node is not None:
                yield self.elements(binding.node)
            elif binding.kind == "definition":
                yield Kind.OBJECT
            else:
                yield self._unpacked(name)

    def _unpacked(self, name: cst.Name) -> Kind | None:
        """``for name, size in x``."""
        return (
            merge(self.part(iterable, place) for iterable, place in self._sources.unpacked(name))
            or Kind.UNKNOWN
        )

    def part(self, node: cst.CSTNode, place: int) -> Kind | None:
        """The kind of one part of the tuples that an iterable gives."""
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            parts = [getattr(each.value, "elements", ()) for each in node.elements]
            return merge(self.value(p[place].value) for p in parts if len(p) > place)
        return self._part_of_call(node, place) if isinstance(node, cst.Call) else Kind.UNKNOWN

    def _part_of_call(self, call: cst.Call, place: int) -> Kind | None:
        name = self._module.called(call)
        given = [each.value for each in call.args]
        if name == "builtins.enumerate" and given:
            return Kind.STABLE if place == 0 else self.elements(given[0])
        if name == "builtins.zip" and len(given) > place:
            return self.elements(given[place])
        if name in tables.PASSING and given:
            return self.part(given[0], place)
        func = call.func
        if not isinstance(func, cst.Attribute) or place > 1:
            return Kind.UNKNOWN
        if func.attr.value == "items" and not given:
            return self.values(func.value) if place else self.elements(func.value)
        return tables.PAIRS.get(func.attr.value, (Kind.UNKNOWN, Kind.UNKNOWN))[place]
