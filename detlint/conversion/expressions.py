"""Expressions of Python's tree, made into libcst's."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, cast

import libcst as cst

from detlint.conversion.nodes import maker
from detlint.conversion.places import Placed, Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Unsupported(Exception):
    """What is not made into libcst's nodes here, since it is rare."""


_Name, _Attribute, _Call, _Arg = map(maker, (cst.Name, cst.Attribute, cst.Call, cst.Arg))
_Tuple, _List, _Set, _Dict = map(maker, (cst.Tuple, cst.List, cst.Set, cst.Dict))
_Element, _StarredElement = map(maker, (cst.Element, cst.StarredElement))
_DictElement, _StarredDictElement = map(maker, (cst.DictElement, cst.StarredDictElement))
_Subscript, _SubscriptElement = map(maker, (cst.Subscript, cst.SubscriptElement))
_Index, _Slice = map(maker, (cst.Index, cst.Slice))
_Comparison, _ComparisonTarget = map(maker, (cst.Comparison, cst.ComparisonTarget))
_BinaryOperation, _BooleanOperation = map(maker, (cst.BinaryOperation, cst.BooleanOperation))
_UnaryOperation, _IfExp, _Lambda = map(maker, (cst.UnaryOperation, cst.IfExp, cst.Lambda))
_GeneratorExp, _ListComp, _SetComp = map(maker, (cst.GeneratorExp, cst.ListComp, cst.SetComp))
_DictComp, _CompFor, _CompIf = map(maker, (cst.DictComp, cst.CompFor, cst.CompIf))
_Await, _Yield, _From, _NamedExpr = map(maker, (cst.Await, cst.Yield, cst.From, cst.NamedExpr))
_SimpleString, _Ellipsis = map(maker, (cst.SimpleString, cst.Ellipsis))
_Param, _Parameters, _ParamStar = map(maker, (cst.Param, cst.Parameters, cst.ParamStar))
_Annotation = maker(cst.Annotation)

_NUMBERS = {int: maker(cst.Integer), float: maker(cst.Float), complex: maker(cst.Imaginary)}
# No node of a tree: nothing asks where an operator stands, so that all may share one.
_OPERATORS: dict[type[ast.AST], cst.CSTNode] = {
    ast.Add: cst.Add(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.LShift: cst.LeftShift(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Mod: cst.Modulo(),
    ast.Mult: cst.Multiply(),
    ast.Pow: cst.Power(),
    ast.RShift: cst.RightShift(),
    ast.Sub: cst.Subtract(),
    ast.And: cst.And(),
    ast.Or: cst.Or(),
    ast.Invert: cst.BitInvert(),
    ast.Not: cst.Not(),
    ast.UAdd: cst.Plus(),
    ast.USub: cst.Minus(),
    ast.Eq: cst.Equal(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.In: cst.In(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.NotEq: cst.NotEqual(),
    ast.NotIn: cst.NotIn(),
}
_ASYNCHRONOUS = cst.Asynchronous()
# One literal, and not several beside each other.
_LITERAL = re.compile(
    r"\w*(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?!'')(?:[^\\'\n]|\\.)*'"
    r"|\"(?!\"\")(?:[^\\\"\n]|\\.)*\")",
    re.DOTALL,
)


def _place(node: ast.AST) -> tuple[int, int]:
    return cast("ast.expr", node).lineno, cast("ast.expr", node).col_offset


class Expressions:
    """Makes expressions.

    found  by the ids of nodes that were made: the node of Python's tree that stands where it
           does, or, of a name that is a word in Python's tree, the one that holds it
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = Places(text)
        self.found: dict[int, Placed] = {}
        self._is_ascii = text.isascii()

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The same expression. Raises Unsupported."""
        kind = type(node)
        try:
            make = _EXPRESSIONS[kind]
        except KeyError:
            raise Unsupported(kind.__name__) from None
        made = make(self, node)
        if kind is not ast.Tuple and kind is not ast.GeneratorExp:  # whose place has parentheses
            self.found[id(made)] = node
        return made

    def optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        """The same expression, or none."""
        return None if node is None else self.expression(node)

    def word(self, name: str) -> cst.Name:
        """A name that Python's tree holds as a word."""
        if not (self._is_ascii or name.isascii()):
            raise Unsupported("Python's tree has such names in another form")
        return _Name(value=name)

    def word_of(self, node: Placed, name: str) -> cst.Name:
        made = self.word(name)
        self.found[id(made)] = node
        return made

    def dotted(self, name: str) -> cst.Name | cst.Attribute:
        """Names with dots between them."""
        first, *rest = name.split(".")
        made: cst.Name | cst.Attribute = self.word(first)
        for each in rest:
            made = _Attribute(value=made, attr=self.word(each))
        return made

    def code(self, node: ast.expr) -> str:
        """A node as it is written."""
        return self.text[self.places.start(node) : self.places.end(node)]

    def annotation(self, node: ast.expr | None) -> cst.Annotation | None:
        """What stands behind a colon or an arrow."""
        return None if node is None else _Annotation(annotation=self.expression(node))

    def arguments(
        self, positional: Sequence[ast.expr], named: Sequence[ast.keyword]
    ) -> list[cst.Arg]:
        """Arguments in the order in which they are written."""
        given: Iterable[ast.AST] = positional
        if named:
            given = (*positional, *named)
            if positional and isinstance(positional[-1], ast.Starred):
                given = sorted(given, key=_place)
        return list(map(self._argument, given))

    def _argument(self, node: ast.AST) -> cst.Arg:
        if isinstance(node, ast.keyword):
            value = self.expression(node.value)
            if node.arg is None:
                return _Arg(value=value, star="**")
            return _Arg(value=value, keyword=self.word_of(node, node.arg))
        if isinstance(node, ast.Starred):
            return _Arg(value=self.expression(node.value), star="*")
        return _Arg(value=self.expression(cast("ast.expr", node)))

    def parameters(self, node: ast.arguments) -> cst.Parameters:
        """What a function takes."""
        plain = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(plain) - len(node.defaults)) + node.defaults
        made = list(map(self._parameter, plain, defaults))
        before, optional = len(node.posonlyargs), {}
        if node.vararg is not None:
            optional["star_arg"] = self._parameter(node.vararg, None, "*")
        elif node.kwonlyargs:
            optional["star_arg"] = _ParamStar()
        if node.kwarg is not None:
            optional["star_kwarg"] = self._parameter(node.kwarg, None, "**")
        return _Parameters(
            posonly_params=made[:before],
            params=made[before:],
            kwonly_params=list(map(self._parameter, node.kwonlyargs, node.kw_defaults)),
            **optional,
        )

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        return _Param(
            name=self.word_of(node, node.arg),
            annotation=self.annotation(node.annotation),
            default=self.optional(default),
            star=star,
        )

    # One kind each

    def _of_name(self, node: ast.Name) -> cst.Name:
        return self.word(node.id)

    def _of_attribute(self, node: ast.Attribute) -> cst.Attribute:
        value = self.expression(node.value)
        return _Attribute(value=value, attr=self.word_of(node, node.attr))

    def _of_call(self, node: ast.Call) -> cst.Call:
        function = self.expression(node.func)
        return _Call(func=function, args=self.arguments(node.args, node.keywords))

    def _of_constant(self, node: ast.Constant) -> cst.BaseExpression:
        value = node.value
        if isinstance(value, (str, bytes)):
            code = self.code(node)
            return _SimpleString(value=code) if _is_one(code) else _parsed(code)
        if value is Ellipsis:
            return _Ellipsis()
        if value is None or isinstance(value, bool):
            return _Name(value=str(value))
        return _NUMBERS[type(value)](value=self.code(node))

    def _of_joined(self, node: ast.expr) -> cst.BaseExpression:
        return _parsed(self.code(node))

    def _elements(self, nodes: Iterable[ast.expr]) -> list[cst.BaseElement]:
        return [
            _StarredElement(value=self.expression(each.value))
            if type(each) is ast.Starred
            else _Element(value=self.expression(each))
            for each in nodes
        ]

    def _of_tuple(self, node: ast.Tuple) -> cst.Tuple:
        return _Tuple(elements=self._elements(node.elts))

    def _of_list(self, node: ast.List) -> cst.List:
        return _List(elements=self._elements(node.elts))

    def _of_set(self, node: ast.Set) -> cst.Set:
        return _Set(elements=self._elements(node.elts))

    def _of_dict(self, node: ast.Dict) -> cst.Dict:
        elements = [
            _StarredDictElement(value=self.expression(value))
            if key is None
            else _DictElement(key=self.expression(key), value=self.expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return _Dict(elements=elements)

    def _of_subscript(self, node: ast.Subscript) -> cst.Subscript:
        value, within = self.expression(node.value), node.slice
        several = isinstance(within, ast.Tuple) and not self._is_in_parentheses(within)
        parts = cast("ast.Tuple", within).elts if several else [within]
        return _Subscript(
            value=value, slice=[_SubscriptElement(slice=self._index(each)) for each in parts]
        )

    def _index(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            return _Slice(
                lower=self.optional(node.lower),
                upper=self.optional(node.upper),
                step=self.optional(node.step),
            )
        if isinstance(node, ast.Starred):
            return _Index(value=self.expression(node.value), star="*")
        return _Index(value=self.expression(node), star=None)

    def _is_in_parentheses(self, node: ast.Tuple) -> bool:
        """Whether the parentheses at both ends of a tuple are its own: those of ``(a), (b)`` are
        of its elements."""
        code = self.code(node)
        if not (code.startswith("(") and code.endswith(")")):
            return False
        if not node.elts:
            return True
        start, first = self.places.start(node), node.elts[0]
        before = code[: self.places.start(first) - start]
        after = code[self.places.end(first) - start :].partition(",")[0]
        return before.count("(") > after.count(")")

    def _of_comparison(self, node: ast.Compare) -> cst.Comparison:
        left = self.expression(node.left)
        targets = [
            _ComparisonTarget(operator=_OPERATORS[type(how)], comparator=self.expression(each))
            for how, each in zip(node.ops, node.comparators, strict=True)
        ]
        return _Comparison(left=left, comparisons=targets)

    def _of_boolean(self, node: ast.BoolOp) -> cst.BaseExpression:
        operator = _OPERATORS[type(node.op)]
        first, *rest = map(self.expression, node.values)
        for each in rest:
            first = _BooleanOperation(left=first, operator=operator, right=each)
        return first

    def _of_binary(self, node: ast.BinOp) -> cst.BinaryOperation:
        left = self.expression(node.left)
        operator = _OPERATORS[type(node.op)]
        return _BinaryOperation(left=left, operator=operator, right=self.expression(node.right))

    def _of_unary(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        operand = self.expression(node.operand)
        return _UnaryOperation(operator=_OPERATORS[type(node.op)], expression=operand)

    def _of_choice(self, node: ast.IfExp) -> cst.IfExp:
        return _IfExp(
            test=self.expression(node.test),
            body=self.expression(node.body),
            orelse=self.expression(node.orelse),
        )

    def _of_lambda(self, node: ast.Lambda) -> cst.Lambda:
        return _Lambda(params=self.parameters(node.args), body=self.expression(node.body))

    def _loops(self, generators: Sequence[ast.comprehension]) -> cst.CompFor:
        inner = None
        for each in reversed(generators):
            inner = _CompFor(
                target=self.expression(each.target),
                iter=self.expression(each.iter),
                ifs=[_CompIf(test=self.expression(test)) for test in each.ifs],
                inner_for_in=inner,
                asynchronous=_ASYNCHRONOUS if each.is_async else None,
            )
        return cast("cst.CompFor", inner)

    def _of_generator(self, node: ast.GeneratorExp) -> cst.GeneratorExp:
        return _GeneratorExp(elt=self.expression(node.elt), for_in=self._loops(node.generators))

    def _of_list_comprehension(self, node: ast.ListComp) -> cst.ListComp:
        return _ListComp(elt=self.expression(node.elt), for_in=self._loops(node.generators))

    def _of_set_comprehension(self, node: ast.SetComp) -> cst.SetComp:
        return _SetComp(elt=self.expression(node.elt), for_in=self._loops(node.generators))

    def _of_dict_comprehension(self, node: ast.DictComp) -> cst.DictComp:
        return _DictComp(
            key=self.expression(node.key),
            value=self.expression(node.value),
            for_in=self._loops(node.generators),
        )

    def _of_await(self, node: ast.Await) -> cst.Await:
        return _Await(expression=self.expression(node.value))

    def _of_yield(self, node: ast.Yield) -> cst.Yield:
        return _Yield(value=self.optional(node.value))

    def _of_yield_from(self, node: ast.YieldFrom) -> cst.Yield:
        return _Yield(value=_From(item=self.expression(node.value)))

    def _of_named(self, node: ast.NamedExpr) -> cst.NamedExpr:
        return _NamedExpr(target=self.expression(node.target), value=self.expression(node.value))


def _is_one(code: str) -> bool:
    """Whether a string is one literal."""
    first = code[0]
    if first in "\"'" and code[-1] == first and code.count(first) == 2:  # noqa: PLR2004 - both ends
        return True
    literal = _LITERAL.match(code)
    return literal is not None and literal.end() == len(code)


def _parsed(code: str) -> cst.BaseExpression:
    try:
        return cst.parse_expression(f"({code})")
    except cst.ParserSyntaxError as error:
        raise Unsupported(code) from error


_EXPRESSIONS: dict[type[ast.expr], Callable[..., cst.BaseExpression]] = {
    ast.Attribute: Expressions._of_attribute,  # noqa: SLF001 - the table of the class
    ast.Await: Expressions._of_await,
    ast.BinOp: Expressions._of_binary,
    ast.BoolOp: Expressions._of_boolean,
    ast.Call: Expressions._of_call,
    ast.Compare: Expressions._of_comparison,
    ast.Constant: Expressions._of_constant,
    ast.Dict: Expressions._of_dict,
    ast.DictComp: Expressions._of_dict_comprehension,
    ast.GeneratorExp: Expressions._of_generator,
    ast.IfExp: Expressions._of_choice,
    ast.JoinedStr: Expressions._of_joined,
    ast.Lambda: Expressions._of_lambda,
    ast.List: Expressions._of_list,
    ast.ListComp: Expressions._of_list_comprehension,
    ast.Name: Expressions._of_name,
    ast.NamedExpr: Expressions._of_named,
    ast.Set: Expressions._of_set,
    ast.SetComp: Expressions._of_set_comprehension,
    ast.Subscript: Expressions._of_subscript,
    ast.Tuple: Expressions._of_tuple,
    ast.UnaryOp: Expressions._of_unary,
    ast.Yield: Expressions._of_yield,
    ast.YieldFrom: Expressions._of_yield_from,
}
