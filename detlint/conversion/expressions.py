"""Expressions of Python's tree, made into libcst's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, ClassVar, cast

import libcst as cst

from detlint.conversion import nodes as new
from detlint.conversion.literals import UnsupportedError, formatted, string
from detlint.conversion.operators import ASYNCHRONOUS, BINARY, BOOLEAN, COMPARING, EQUAL, UNARY
from detlint.conversion.places import Placed, Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def _place(node: ast.AST) -> tuple[int, int]:
    return cast("ast.expr", node).lineno, cast("ast.expr", node).col_offset


class Expressions:
    """Makes expressions.

    found  by the ids of nodes that were made: the node of Python's tree that stands where it
           does, or, of a name that is a word in Python's tree, the one that holds it
    """

    _makers: ClassVar[dict[type[ast.AST], Callable[..., cst.CSTNode]]]

    def __init_subclass__(cls) -> None:
        names = [each for each in dir(cls) if each.startswith("visit_")]
        cls._makers = {
            getattr(ast, each.removeprefix("visit_")): getattr(cls, each) for each in names
        }

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = Places(text)
        self.found: dict[int, Placed] = {}

    def made(self, node: Placed) -> Any:  # noqa: ANN401 - of the kind that stands for the node's
        """The same node. Raises UnsupportedError."""
        try:
            make = self._makers[type(node)]
        except KeyError:
            raise UnsupportedError(type(node).__name__) from None
        made = make(self, node)
        self.found[id(made)] = node
        return made

    # By name, what is made of an expression; one call, as there are many.
    expression: Callable[..., cst.BaseExpression] = made
    target: Callable[..., cst.BaseAssignTargetExpression] = made

    def optional(self, node: ast.expr | None) -> cst.BaseExpression | None:
        """The same expression, or none."""
        return None if node is None else self.expression(node)

    def word(self, name: str) -> cst.Name:
        """A name that Python's tree holds as a word."""
        return new.Name(value=name)

    def word_of(self, node: Placed, name: str) -> cst.Name:
        made = new.Name(value=name)
        self.found[id(made)] = node
        return made

    def dotted(self, name: str) -> cst.Name | cst.Attribute:
        """Names with dots between them."""
        first, *rest = name.split(".")
        made: cst.Name | cst.Attribute = self.word(first)
        for each in rest:
            made = new.Attribute(value=made, attr=self.word(each))
        return made

    def code(self, node: ast.expr) -> str:
        """A node as it is written."""
        return self.text[self.places.start(node) : self.places.end(node)]

    def annotation(self, node: ast.expr) -> cst.Annotation:
        """What stands behind a colon or an arrow."""
        return new.Annotation(annotation=self.expression(node))

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
                made = new.Arg(value=value, star="**")
            else:
                made = new.Arg(value=value, keyword=self.word_of(node, node.arg), equal=EQUAL)
            self.found[id(made)] = node
            return made
        if isinstance(node, ast.Starred):
            return new.Arg(value=self.expression(node.value), star="*")
        return new.Arg(value=self.expression(cast("ast.expr", node)))

    def parameters(self, node: ast.arguments) -> cst.Parameters:
        """What a function takes."""
        plain = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(plain) - len(node.defaults)) + node.defaults
        made = list(map(self._parameter, plain, defaults))
        before = len(node.posonlyargs)
        star: cst.Param | cst.ParamStar | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            star = self._parameter(node.vararg, None, "*")
        elif node.kwonlyargs:
            star = new.ParamStar()
        return new.Parameters(
            posonly_params=made[:before],
            params=made[before:],
            kwonly_params=list(map(self._parameter, node.kwonlyargs, node.kw_defaults)),
            star_arg=star,
            star_kwarg=None if node.kwarg is None else self._parameter(node.kwarg, None, "**"),
        )

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        return new.Param(
            name=self.word_of(node, node.arg),
            annotation=None if node.annotation is None else self.annotation(node.annotation),
            default=self.optional(default),
            star=star,
        )

    # One kind each

    def visit_Name(self, node: ast.Name) -> cst.Name:
        return new.Name(value=node.id)

    def visit_Attribute(self, node: ast.Attribute) -> cst.Attribute:
        value = self.expression(node.value)
        return new.Attribute(value=value, attr=self.word_of(node, node.attr))

    def visit_Call(self, node: ast.Call) -> cst.Call:
        function = self.expression(node.func)
        return new.Call(func=function, args=self.arguments(node.args, node.keywords))

    def visit_Constant(self, node: ast.Constant) -> cst.BaseExpression:
        value = node.value
        if isinstance(value, (str, bytes)):
            return string(self.code(node))
        if value is Ellipsis:
            return new.Ellipsis()
        if value is None or isinstance(value, bool):
            return new.Name(value=str(value))
        if isinstance(value, int):
            return new.Integer(value=self.code(node))
        if isinstance(value, float):
            return new.Float(value=self.code(node))
        return new.Imaginary(value=self.code(node))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> cst.BaseExpression:
        return formatted(self.code(node))

    def _elements(self, nodes: Iterable[ast.expr]) -> list[cst.BaseElement]:
        return [
            new.StarredElement(value=self.expression(each.value))
            if type(each) is ast.Starred
            else new.Element(value=self.expression(each))
            for each in nodes
        ]

    def visit_Tuple(self, node: ast.Tuple) -> cst.Tuple:
        return new.Tuple(elements=self._elements(node.elts))

    def visit_List(self, node: ast.List) -> cst.List:
        return new.List(elements=self._elements(node.elts))

    def visit_Set(self, node: ast.Set) -> cst.Set:
        return new.Set(elements=self._elements(node.elts))

    def visit_Dict(self, node: ast.Dict) -> cst.Dict:
        elements = [
            new.StarredDictElement(value=self.expression(value))
            if key is None
            else new.DictElement(key=self.expression(key), value=self.expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return new.Dict(elements=elements)

    def visit_Subscript(self, node: ast.Subscript) -> cst.Subscript:
        value, within = self.expression(node.value), node.slice
        several = isinstance(within, ast.Tuple) and not self.places.is_in_parentheses(within)
        parts = cast("ast.Tuple", within).elts if several else [within]
        return new.Subscript(
            value=value, slice=[new.SubscriptElement(slice=self._index(each)) for each in parts]
        )

    def _index(self, node: ast.expr) -> cst.BaseSlice:
        if isinstance(node, ast.Slice):
            return new.Slice(
                lower=self.optional(node.lower),
                upper=self.optional(node.upper),
                step=self.optional(node.step),
            )
        if isinstance(node, ast.Starred):
            return new.Index(value=self.expression(node.value), star="*")
        return new.Index(value=self.expression(node), star=None)

    def visit_Compare(self, node: ast.Compare) -> cst.Comparison:
        left = self.expression(node.left)
        targets = [
            new.ComparisonTarget(operator=COMPARING[type(how)], comparator=self.expression(each))
            for how, each in zip(node.ops, node.comparators, strict=True)
        ]
        return new.Comparison(left=left, comparisons=targets)

    def visit_BoolOp(self, node: ast.BoolOp) -> cst.BaseExpression:
        operator = BOOLEAN[type(node.op)]
        first, *rest = map(self.expression, node.values)
        for each in rest:
            first = new.BooleanOperation(left=first, operator=operator, right=each)
        return first

    def visit_BinOp(self, node: ast.BinOp) -> cst.BinaryOperation:
        left = self.expression(node.left)
        operator = BINARY[type(node.op)]
        return new.BinaryOperation(left=left, operator=operator, right=self.expression(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> cst.UnaryOperation:
        operand = self.expression(node.operand)
        return new.UnaryOperation(operator=UNARY[type(node.op)], expression=operand)

    def visit_IfExp(self, node: ast.IfExp) -> cst.IfExp:
        return new.IfExp(
            test=self.expression(node.test),
            body=self.expression(node.body),
            orelse=self.expression(node.orelse),
        )

    def visit_Lambda(self, node: ast.Lambda) -> cst.Lambda:
        return new.Lambda(params=self.parameters(node.args), body=self.expression(node.body))

    def _loops(self, generators: Sequence[ast.comprehension]) -> cst.CompFor:
        inner = None
        for each in reversed(generators):
            inner = new.CompFor(
                target=self.target(each.target),
                iter=self.expression(each.iter),
                ifs=[new.CompIf(test=self.expression(test)) for test in each.ifs],
                inner_for_in=inner,
                asynchronous=ASYNCHRONOUS if each.is_async else None,
            )
        return cast("cst.CompFor", inner)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> cst.GeneratorExp:
        return new.GeneratorExp(elt=self.expression(node.elt), for_in=self._loops(node.generators))

    def visit_ListComp(self, node: ast.ListComp) -> cst.ListComp:
        return new.ListComp(elt=self.expression(node.elt), for_in=self._loops(node.generators))

    def visit_SetComp(self, node: ast.SetComp) -> cst.SetComp:
        return new.SetComp(elt=self.expression(node.elt), for_in=self._loops(node.generators))

    def visit_DictComp(self, node: ast.DictComp) -> cst.DictComp:
        return new.DictComp(
            key=self.expression(node.key),
            value=self.expression(node.value),
            for_in=self._loops(node.generators),
        )

    def visit_Await(self, node: ast.Await) -> cst.Await:
        return new.Await(expression=self.expression(node.value))

    def visit_Yield(self, node: ast.Yield) -> cst.Yield:
        return new.Yield(value=self.optional(node.value))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> cst.Yield:
        return new.Yield(value=new.From(item=self.expression(node.value)))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> cst.NamedExpr:
        return new.NamedExpr(target=self.target(node.target), value=self.expression(node.value))
