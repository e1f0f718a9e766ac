"""Statements of Python's tree, made into libcst's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

import libcst as cst

from detlint.conversion.expressions import _ASYNCHRONOUS, _OPERATORS, Expressions, Unsupported
from detlint.conversion.nodes import maker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_IndentedBlock, _SimpleStatementSuite = map(maker, (cst.IndentedBlock, cst.SimpleStatementSuite))
_SimpleStatementLine, _Expr = map(maker, (cst.SimpleStatementLine, cst.Expr))
_Assign, _AssignTarget = map(maker, (cst.Assign, cst.AssignTarget))
_AnnAssign, _AugAssign = map(maker, (cst.AnnAssign, cst.AugAssign))
_Return, _Raise, _From, _Assert = map(maker, (cst.Return, cst.Raise, cst.From, cst.Assert))
_Del, _Tuple, _Element = map(maker, (cst.Del, cst.Tuple, cst.Element))
_Global, _Nonlocal, _NameItem = map(maker, (cst.Global, cst.Nonlocal, cst.NameItem))
_Import, _ImportFrom = map(maker, (cst.Import, cst.ImportFrom))
_ImportAlias, _ImportStar, _AsName = map(maker, (cst.ImportAlias, cst.ImportStar, cst.AsName))
_Pass, _Break, _Continue = map(maker, (cst.Pass, cst.Break, cst.Continue))
_If, _Else, _For, _While = map(maker, (cst.If, cst.Else, cst.For, cst.While))
_With, _WithItem = map(maker, (cst.With, cst.WithItem))
_Try, _ExceptHandler, _Finally = map(maker, (cst.Try, cst.ExceptHandler, cst.Finally))
_FunctionDef, _ClassDef, _Decorator = map(maker, (cst.FunctionDef, cst.ClassDef, cst.Decorator))
_Dot = maker(cst.Dot)

_ASSIGNED: dict[type[ast.operator], cst.BaseAugOp] = {
    ast.Add: cst.AddAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
    ast.Div: cst.DivideAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.Sub: cst.SubtractAssign(),
}


class Statements(Expressions):
    """Makes statements."""

    def statements(
        self, nodes: Sequence[ast.stmt]
    ) -> list[cst.SimpleStatementLine | cst.BaseCompoundStatement]:
        """Lines of simple statements, and compound ones."""
        made: list[cst.SimpleStatementLine | cst.BaseCompoundStatement] = []
        line: list[cst.BaseSmallStatement] = []
        ended = 0
        for node in nodes:
            kind = type(node)
            simple = _SIMPLE.get(kind)
            if simple is None:
                make = _COMPOUND.get(kind)
                if make is None:
                    raise Unsupported(kind.__name__)
                each = make(self, node)
                made.append(each)
            else:
                each = simple(self, node)
                if node.lineno != ended:
                    line = []
                    made.append(_SimpleStatementLine(body=line))
                line.append(each)
                ended = node.end_lineno or 0
            self.found[id(each)] = node
        return made

    def block(self, nodes: Sequence[ast.stmt]) -> cst.BaseSuite:
        """What is indented, or stands behind the colon."""
        first = nodes[0]
        line = self.places.line(first.lineno)
        begins = first.decorator_list[0] if getattr(first, "decorator_list", ()) else first
        before = self.text[line : self.places.start(begins)] if begins is first else ""
        made = self.statements(nodes)
        if not before or before.isspace():
            if self.text.endswith(("\\\n", "\\\r\n", "\\\r"), 0, line):
                raise Unsupported("a suite that begins on a line of its own")
            return _IndentedBlock(body=made)
        return _SimpleStatementSuite(body=cast("cst.SimpleStatementLine", made[0]).body)

    def module(self, node: ast.Module) -> cst.Module:
        """The whole."""
        return cst.Module(body=self.statements(node.body))

    # Simple ones

    def _of_expr(self, node: ast.Expr) -> cst.Expr:
        return _Expr(value=self.expression(node.value))

    def _of_assign(self, node: ast.Assign) -> cst.Assign:
        targets = [_AssignTarget(target=self.expression(each)) for each in node.targets]
        return _Assign(targets=targets, value=self.expression(node.value))

    def _of_annotated(self, node: ast.AnnAssign) -> cst.AnnAssign:
        return _AnnAssign(
            target=self.expression(node.target),
            annotation=self.annotation(node.annotation),
            value=self.optional(node.value),
        )

    def _of_augmented(self, node: ast.AugAssign) -> cst.AugAssign:
        target, operator = self.expression(node.target), _ASSIGNED[type(node.op)]
        return _AugAssign(target=target, operator=operator, value=self.expression(node.value))

    def _of_return(self, node: ast.Return) -> cst.Return:
        return _Return(value=self.optional(node.value))

    def _of_raise(self, node: ast.Raise) -> cst.Raise:
        cause = None if node.cause is None else _From(item=self.expression(node.cause))
        return _Raise(exc=self.optional(node.exc), cause=cause)

    def _of_assert(self, node: ast.Assert) -> cst.Assert:
        return _Assert(test=self.expression(node.test), msg=self.optional(node.msg))

    def _of_delete(self, node: ast.Delete) -> cst.Del:
        first = node.targets[0]
        if len(node.targets) == 1:
            rest = self.text[self.places.end(first) : self.places.end(node)]
            if "," not in rest:
                return _Del(target=self.expression(first))
        return _Del(
            target=_Tuple(elements=[_Element(value=self.expression(each)) for each in node.targets])
        )

    def _of_global(self, node: ast.Global) -> cst.Global:
        return _Global(names=[_NameItem(name=self.word(each)) for each in node.names])

    def _of_nonlocal(self, node: ast.Nonlocal) -> cst.Nonlocal:
        return _Nonlocal(names=[_NameItem(name=self.word(each)) for each in node.names])

    def _of_import(self, node: ast.Import) -> cst.Import:
        return _Import(names=list(map(self._alias, node.names)))

    def _of_import_from(self, node: ast.ImportFrom) -> cst.ImportFrom:
        names: list[cst.ImportAlias] | cst.ImportStar
        if node.names[0].name == "*":
            names = _ImportStar()
        else:
            names = list(map(self._alias, node.names))
        module = None if node.module is None else self.dotted(node.module)
        return _ImportFrom(module=module, names=names, relative=[_Dot() for _ in range(node.level)])

    def _alias(self, node: ast.alias) -> cst.ImportAlias:
        asname = None if node.asname is None else _AsName(name=self.word(node.asname))
        return _ImportAlias(name=self.dotted(node.name), asname=asname)

    def _of_pass(self, node: ast.Pass) -> cst.Pass:  # noqa: ARG002 - called as the others are
        return _Pass()

    def _of_break(self, node: ast.Break) -> cst.Break:  # noqa: ARG002
        return _Break()

    def _of_continue(self, node: ast.Continue) -> cst.Continue:  # noqa: ARG002
        return _Continue()

    # Compound ones

    def _otherwise(self, nodes: Sequence[ast.stmt]) -> cst.Else | None:
        return _Else(body=self.block(nodes)) if nodes else None

    def _of_if(self, node: ast.If) -> cst.If:
        test, body, rest = self.expression(node.test), self.block(node.body), node.orelse
        if rest and isinstance(rest[0], ast.If):
            begins = self.places.start(rest[0])
            if self.text.startswith("elif", begins):
                inner = self._of_if(rest[0])
                self.found[id(inner)] = rest[0]
                return _If(test=test, body=body, orelse=inner)
        return _If(test=test, body=body, orelse=self._otherwise(rest))

    def _of_for(self, node: ast.For | ast.AsyncFor) -> cst.For:
        return _For(
            target=self.expression(node.target),
            iter=self.expression(node.iter),
            body=self.block(node.body),
            orelse=self._otherwise(node.orelse),
            asynchronous=_ASYNCHRONOUS if isinstance(node, ast.AsyncFor) else None,
        )

    def _of_while(self, node: ast.While) -> cst.While:
        return _While(
            test=self.expression(node.test),
            body=self.block(node.body),
            orelse=self._otherwise(node.orelse),
        )

    def _of_with(self, node: ast.With | ast.AsyncWith) -> cst.With:
        return _With(
            items=list(map(self._item, node.items)),
            body=self.block(node.body),
            asynchronous=_ASYNCHRONOUS if isinstance(node, ast.AsyncWith) else None,
        )

    def _item(self, node: ast.withitem) -> cst.WithItem:
        item, bound = self.expression(node.context_expr), node.optional_vars
        asname = None if bound is None else _AsName(name=self.expression(bound))
        return _WithItem(item=item, asname=asname)

    def _of_try(self, node: ast.Try) -> cst.Try:
        return _Try(
            body=self.block(node.body),
            handlers=list(map(self._handler, node.handlers)),
            orelse=self._otherwise(node.orelse),
            finalbody=_Finally(body=self.block(node.finalbody)) if node.finalbody else None,
        )

    def _handler(self, node: ast.ExceptHandler) -> cst.ExceptHandler:
        return _ExceptHandler(
            type=self.optional(node.type),
            name=None if node.name is None else _AsName(name=self.word(node.name)),
            body=self.block(node.body),
        )

    def _decorators(self, nodes: Sequence[ast.expr]) -> list[cst.Decorator]:
        return [_Decorator(decorator=self.expression(each)) for each in nodes]

    def _of_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        if getattr(node, "type_params", ()):
            raise Unsupported("type parameters")
        return _FunctionDef(
            decorators=self._decorators(node.decorator_list),
            name=self.word_of(node, node.name),
            params=self.parameters(node.args),
            returns=self.annotation(node.returns),
            body=self.block(node.body),
            asynchronous=_ASYNCHRONOUS if isinstance(node, ast.AsyncFunctionDef) else None,
        )

    def _of_class(self, node: ast.ClassDef) -> cst.ClassDef:
        if getattr(node, "type_params", ()):
            raise Unsupported("type parameters")
        given = self.arguments(node.bases, node.keywords)
        is_named = [each.keyword is not None or each.star == "**" for each in given]
        first = is_named.index(True) if True in is_named else len(given)
        return _ClassDef(
            decorators=self._decorators(node.decorator_list),
            name=self.word_of(node, node.name),
            bases=given[:first],
            keywords=given[first:],
            body=self.block(node.body),
        )


_SIMPLE: dict[type[ast.stmt], Callable[..., cst.BaseSmallStatement]] = {
    ast.AnnAssign: Statements._of_annotated,  # noqa: SLF001 - the table of the class
    ast.Assert: Statements._of_assert,
    ast.Assign: Statements._of_assign,
    ast.AugAssign: Statements._of_augmented,
    ast.Break: Statements._of_break,
    ast.Continue: Statements._of_continue,
    ast.Delete: Statements._of_delete,
    ast.Expr: Statements._of_expr,
    ast.Global: Statements._of_global,
    ast.Import: Statements._of_import,
    ast.ImportFrom: Statements._of_import_from,
    ast.Nonlocal: Statements._of_nonlocal,
    ast.Pass: Statements._of_pass,
    ast.Raise: Statements._of_raise,
    ast.Return: Statements._of_return,
}
_COMPOUND: dict[type[ast.stmt], Callable[..., cst.BaseCompoundStatement]] = {
    ast.AsyncFor: Statements._of_for,
    ast.AsyncFunctionDef: Statements._of_function,
    ast.AsyncWith: Statements._of_with,
    ast.ClassDef: Statements._of_class,
    ast.For: Statements._of_for,
    ast.FunctionDef: Statements._of_function,
    ast.If: Statements._of_if,
    ast.Try: Statements._of_try,
    ast.While: Statements._of_while,
    ast.With: Statements._of_with,
}
