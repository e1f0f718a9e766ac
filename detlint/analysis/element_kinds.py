"""Of what kind the elements of an expression are: what iterating over it gives.

By literals, calls, annotations, what a local is bound to and filled with, and where all of
that says nothing, by the name of a variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import kind_tables as tables
from detlint.analysis.handlers import handler
from detlint.analysis.kinds import Kind, elements_by_name, merge, tuple_of
from detlint.analysis.value_kinds import ValueKinds
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module


class Kinds(ValueKinds):
    """Answers for the expressions of one module.

    shared  kinds of the elements of attributes and names that functions share
    """

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.shared: dict[cst.CSTNode, Kind | None] = {}

    def elements(self, node: cst.CSTNode) -> Kind | None:
        """The kind of what iterating over a value gives: the keys of a dict."""
        if node in self.shared:
            return self.shared[node]
        return self._ask("elements", node, self._elements)

    def _elements(self, node: cst.CSTNode) -> Kind | None:
        judge = handler(self, "elements_of_", node)
        if judge is not None:
            found: Kind | None = judge(node)
            return found
        text = self.value(node)
        return text if text in (Kind.TEXT, Kind.LIKELY) else Kind.UNKNOWN

    def elements_of_list(self, node: cst.List | cst.Tuple | cst.Set) -> Kind | None:
        """``["a", *names]``."""
        return merge(
            self.elements(each.value)
            if isinstance(each, cst.StarredElement)
            else self.value(each.value)
            for each in node.elements
        )

    elements_of_tuple = elements_of_set = elements_of_list

    def elements_of_list_comp(self, node: cst.ListComp | cst.SetComp) -> Kind | None:
        """``[x.name for x in y]``."""
        return self.value(node.elt)

    elements_of_set_comp = elements_of_generator_exp = elements_of_list_comp

    def elements_of_dict(self, node: cst.Dict) -> Kind | None:
        """``{"a": 1}``."""
        return merge(
            self.value(each.key) if isinstance(each, cst.DictElement) else self.elements(each.value)
            for each in node.elements
        )

    def elements_of_dict_comp(self, node: cst.DictComp) -> Kind | None:
        """``{x.name: x for x in y}``."""
        return self.value(node.key)

    def elements_of_if_exp(self, node: cst.IfExp) -> Kind | None:
        """``a if x else b``."""
        return merge((self.elements(node.body), self.elements(node.orelse)))

    def elements_of_boolean_operation(self, node: cst.BooleanOperation) -> Kind | None:
        """``a or []``."""
        return merge((self.elements(node.left), self.elements(node.right)))

    def elements_of_binary_operation(self, node: cst.BinaryOperation) -> Kind | None:
        """``a | b``, ``a - b``, ``a + b``."""
        left, right = self.elements(node.left), self.elements(node.right)
        if isinstance(node.operator, cst.Subtract):
            # What is taken away is of the kind of what it is taken from.
            return Kind.LIKELY if left is Kind.UNKNOWN and _is_text(right) else left
        if isinstance(node.operator, cst.BitAnd) and left is Kind.UNKNOWN:
            return right
        if isinstance(node.operator, cst.BitAnd) and right is Kind.UNKNOWN:
            return left
        if isinstance(node.operator, cst.Add) and self._is_text(node):
            return self.value(node)
        return merge((left, right))

    def elements_of_call(self, call: cst.Call) -> Kind | None:
        """``set(x)``, ``line.split()``, ``map(int, x)``."""
        name = self._module.called(call)
        if name in tables.ELEMENTS:
            return tables.ELEMENTS[name]
        if name in tables.COMBINING:
            return self._combined(name or "", [each.value for each in call.args])
        if name in tables.MERGING:
            return merge(self._starred(each) for each in call.args)
        return self._copied(call) if name in tables.PASSING else self._elements_of_method(call)

    def _combined(self, name: str, given: list[cst.BaseExpression]) -> Kind | None:
        """``map(int, x)``, ``zip(x, y)``: more than one argument, or a changed one."""
        word = name.rpartition(".")[2]
        if word == "zip":
            return tuple_of(self.elements(each) for each in given)
        if not given:
            return None if word == "defaultdict" else Kind.UNKNOWN
        if word == "map":
            return self._mapped(given[0])
        if word == "filter":
            return self.elements(given[-1])
        if word == "enumerate":
            return tuple_of((Kind.STABLE, self.elements(given[0])))
        return self._nested(given[0]) if word == "from_iterable" else None

    def _copied(self, call: cst.Call) -> Kind | None:
        """``set(x)``, ``set()``, ``dict(a=1)``."""
        if not call.args:
            return None
        if call.args[0].keyword is not None or call.args[0].star:
            return Kind.TEXT if call.args[0].keyword is not None else Kind.UNKNOWN
        first = call.args[0].value
        if self._module.called(call) in ("builtins.dict", "collections.OrderedDict"):
            pairs = self.part(first, 0)
            return pairs if pairs is not Kind.UNKNOWN else self.elements(first)
        return self.elements(first)

    def _starred(self, argument: cst.Arg) -> Kind | None:
        """``chain(a, b)``, ``chain(*lists)``."""
        return self._nested(argument.value) if argument.star else self.elements(argument.value)

    def _nested(self, node: cst.CSTNode) -> Kind | None:
        """What the members of an iterable of iterables give."""
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self.elements(node.elt)
        if isinstance(node, (cst.List, cst.Tuple)):
            return merge(self.elements(each.value) for each in node.elements)
        func = node.func if isinstance(node, cst.Call) else None
        if isinstance(func, cst.Attribute) and func.attr.value == "values":
            return self._lists_in_dict(func.value)
        return Kind.UNKNOWN

    def _lists_in_dict(self, node: cst.CSTNode) -> Kind | None:
        value = self._module.names.value_of(node)
        if isinstance(value, cst.Dict):
            return merge(self.elements(each.value) for each in value.elements)
        return Kind.UNKNOWN

    def _mapped(self, function: cst.BaseExpression) -> Kind | None:
        if isinstance(function, cst.Lambda):
            return self.value(function.body)
        return tables.FUNCTIONS.get(self._module.qualified_name(function) or "", Kind.UNKNOWN)

    def _elements_of_method(self, call: cst.Call) -> Kind | None:
        func = call.func
        if not isinstance(func, cst.Attribute):
            return elements_by_name(func.value) if isinstance(func, cst.Name) else Kind.UNKNOWN
        method = func.attr.value
        if method in tables.PAIRS:
            return tuple_of(tables.PAIRS[method])
        if method in tables.VIEWS and not call.args:
            return self._viewed(method, func.value)
        if method in tables.PASSING_METHODS:
            added = call.args if method in ("symmetric_difference", "union") else ()
            return merge((self.elements(func.value), *map(self._starred, added)))
        known = tables.ELEMENT_METHODS.get(method)
        text = known or self.value_of_call(call)
        return text if text is Kind.TEXT else elements_by_name(method)

    def _viewed(self, method: str, node: cst.BaseExpression) -> Kind | None:
        """``x.values()``, ``x.items()``."""
        values = self.values(node)
        return values if method == "values" else tuple_of((self.elements(node), values))

    def values(self, node: cst.CSTNode) -> Kind | None:
        """The kind of the values of a dict."""
        value = self._module.names.value_of(node)
        if isinstance(value, cst.Dict):
            return merge(self.value(each.value) for each in value.elements)
        if isinstance(value, cst.DictComp):
            return self.value(value.value)
        declared = self._sources.annotation(node) if isinstance(node, cst.Attribute) else None
        if isinstance(node, cst.Name):
            bindings = map(self._sources.declared, self._module.names.visible(node))
            declared = next(filter(None, bindings), None)
        return declared.elements(1) if declared is not None else Kind.UNKNOWN

    def elements_of_attribute(self, node: cst.Attribute) -> Kind | None:
        """``self.names``, ``inspect.signature(f).parameters``."""
        name = self._module.qualified_name(node)
        if name in tables.ELEMENTS:
            return tables.ELEMENTS[name]
        if node.attr.value in tables.NAMESPACES:
            return Kind.TEXT
        if node.attr.value == "parameters":
            called = self._module.called(self._module.names.value_of(node.value))
            return Kind.TEXT if called == "inspect.signature" else Kind.UNKNOWN
        declared = self._sources.annotation(node)
        found = declared.elements() if declared is not None else Kind.UNKNOWN
        return elements_by_name(node.attr.value) if found in (None, Kind.UNKNOWN) else found

    def elements_of_subscript(self, node: cst.Subscript) -> Kind | None:
        """``batch["names"]``, ``names[:5]``, ``groups[key]``."""
        key = node.slice[0].slice
        if not isinstance(key, cst.Index):
            return self.elements(node.value)
        literal = self._module.literal(key.value)
        if isinstance(literal, str):
            return elements_by_name(literal)
        text = self.value(node)
        return text if text in (Kind.TEXT, Kind.LIKELY) else Kind.UNKNOWN

    def elements_of_name(self, name: cst.Name) -> Kind | None:
        """A variable: what it is bound to, and what it is filled with."""
        found = merge((*self._elements_of_name(name), *self._fills(name)))
        return elements_by_name(name.value) if found in (None, Kind.UNKNOWN) else found

    def _elements_of_name(self, name: cst.Name) -> Iterator[Kind | None]:
        bindings = self._module.names.visible(name)
        declared = [found for each in bindings if (found := self._sources.declared(each))]
        if declared:
            yield from (each.elements() for each in declared)
            return
        for binding in bindings:
            if binding.kind == "value" and binding.node is not None:
                if not self._is_none(binding.node):
                    yield self.elements(binding.node)
            elif binding.kind == "loop" and binding.node is not None:
                yield self._nested(binding.node)
            elif binding.kind == "with" and binding.node is not None:
                opens = self._module.called(binding.node) == "builtins.open"
                yield Kind.TEXT if opens else Kind.UNKNOWN
            elif not (binding.kind == "parameter" and self._sources.is_keywords(name)):
                yield Kind.TEXT if self._sources.is_keywords(name) else Kind.UNKNOWN

    @staticmethod
    def _is_none(node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value == "None"

    def fills(self, name: cst.Name) -> Iterator[bool]:
        """One answer for each statement that puts something into a variable."""
        return (True for _ in self._sources.fills(name))

    def _fills(self, name: cst.Name) -> Iterator[Kind | None]:
        for how, value in self._sources.fills(name):
            yield self.value(value) if how == "one" else self.elements(value)


def _is_text(kind: Kind | None) -> bool:
    return kind in (Kind.TEXT, Kind.LIKELY)
