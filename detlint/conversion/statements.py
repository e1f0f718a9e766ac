"""Statements of Python's tree, made into libcst's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

import libcst as cst

from detlint.conversion import nodes as new
from detlint.conversion.expressions import Expressions
from detlint.conversion.literals import UnsupportedError
from detlint.conversion.operators import ASSIGNED, ASYNCHRONOUS

if TYPE_CHECKING:
    from collections.abc import Sequence


_SIMPLE = frozenset(
    {
        *(ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue),
        *(ast.Delete, ast.Expr, ast.Global, ast.Import, ast.ImportFrom, ast.Nonlocal, ast.Pass),
        *(ast.Raise, ast.Return),
    }
)


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
            each = self.made(node)
            if type(node) not in _SIMPLE:
                made.append(cast("cst.BaseCompoundStatement", each))
                continue
            if node.lineno != ended:
                line = []
                made.append(new.SimpleStatementLine(body=line))
            line.append(cast("cst.BaseSmallStatement", each))
            ended = node.end_lineno or 0
        return made

    def block(self, nodes: Sequence[ast.stmt]) -> cst.BaseSuite:
        """What is indented, or stands behind the colon."""
        first = nodes[0]
        line = self.places.line(first.lineno)
        # A decorator always begins a line, above that of what it decorates.
        before = self.text[line : self.places.start(first)]
        made = self.statements(nodes)
        if not before or before.isspace():
            if self.text.endswith(("\\\n", "\\\r\n", "\\\r"), 0, line):
                raise UnsupportedError("a suite that begins on a line of its own")
            return new.IndentedBlock(body=made)
        return new.SimpleStatementSuite(body=cast("cst.SimpleStatementLine", made[0]).body)

    def module(self, node: ast.Module) -> cst.Module:
        """The whole."""
        return cst.Module(body=self.statements(node.body))

    # Simple ones

    def visit_Expr(self, node: ast.Expr) -> cst.Expr:
        return new.Expr(value=self.expression(node.value))

    def visit_Assign(self, node: ast.Assign) -> cst.Assign:
        targets = [new.AssignTarget(target=self.target(each)) for each in node.targets]
        return new.Assign(targets=targets, value=self.expression(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> cst.AnnAssign:
        return new.AnnAssign(
            target=self.target(node.target),
            annotation=self.annotation(node.annotation),
            value=self.optional(node.value),
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> cst.AugAssign:
        target, operator = self.target(node.target), ASSIGNED[type(node.op)]
        return new.AugAssign(target=target, operator=operator, value=self.expression(node.value))

    def visit_Return(self, node: ast.Return) -> cst.Return:
        return new.Return(value=self.optional(node.value))

    def visit_Raise(self, node: ast.Raise) -> cst.Raise:
        cause = None if node.cause is None else new.From(item=self.expression(node.cause))
        return new.Raise(exc=self.optional(node.exc), cause=cause)

    def visit_Assert(self, node: ast.Assert) -> cst.Assert:
        return new.Assert(test=self.expression(node.test), msg=self.optional(node.msg))

    def visit_Delete(self, node: ast.Delete) -> cst.Del:
        first = node.targets[0]
        alone = "," not in self.text[self.places.end(first) : self.places.end(node)]
        if alone:
            return new.Del(target=self.made(first))
        return new.Del(
            target=new.Tuple(
                elements=[new.Element(value=self.expression(each)) for each in node.targets]
            )
        )

    def visit_Global(self, node: ast.Global) -> cst.Global:
        return new.Global(names=[new.NameItem(name=self.word(each)) for each in node.names])

    def visit_Nonlocal(self, node: ast.Nonlocal) -> cst.Nonlocal:
        return new.Nonlocal(names=[new.NameItem(name=self.word(each)) for each in node.names])

    def visit_Import(self, node: ast.Import) -> cst.Import:
        return new.Import(names=list(map(self._alias, node.names)))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> cst.ImportFrom:
        names: list[cst.ImportAlias] | cst.ImportStar
        if node.names[0].name == "*":
            names = new.ImportStar()
        else:
            names = list(map(self._alias, node.names))
        module = None if node.module is None else self.dotted(node.module)
        return new.ImportFrom(
            module=module, names=names, relative=[new.Dot() for _ in range(node.level)]
        )

    def _alias(self, node: ast.alias) -> cst.ImportAlias:
        asname = None if node.asname is None else new.AsName(name=self.word(node.asname))
        return new.ImportAlias(name=self.dotted(node.name), asname=asname)

    def visit_Pass(self, node: ast.Pass) -> cst.Pass:  # noqa: ARG002 - called as the others are
        return new.Pass()

    def visit_Break(self, node: ast.Break) -> cst.Break:  # noqa: ARG002
        return new.Break()

    def visit_Continue(self, node: ast.Continue) -> cst.Continue:  # noqa: ARG002
        return new.Continue()

    # Compound ones

    def _otherwise(self, nodes: Sequence[ast.stmt]) -> cst.Else | None:
        return new.Else(body=self.block(nodes)) if nodes else None

    def visit_If(self, node: ast.If) -> cst.If:
        test, body, rest = self.expression(node.test), self.block(node.body), node.orelse
        if rest and isinstance(rest[0], ast.If):
            begins = self.places.start(rest[0])
            if self.text.startswith("elif", begins):
                return new.If(test=test, body=body, orelse=self.made(rest[0]))
        return new.If(test=test, body=body, orelse=self._otherwise(rest))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> cst.For:
        return new.For(
            target=self.target(node.target),
            iter=self.expression(node.iter),
            body=self.block(node.body),
            orelse=self._otherwise(node.orelse),
            asynchronous=ASYNCHRONOUS if isinstance(node, ast.AsyncFor) else None,
        )

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> cst.While:
        return new.While(
            test=self.expression(node.test),
            body=self.block(node.body),
            orelse=self._otherwise(node.orelse),
        )

    def visit_With(self, node: ast.With | ast.AsyncWith) -> cst.With:
        return new.With(
            items=list(map(self._item, node.items)),
            body=self.block(node.body),
            asynchronous=ASYNCHRONOUS if isinstance(node, ast.AsyncWith) else None,
        )

    visit_AsyncWith = visit_With

    def _item(self, node: ast.withitem) -> cst.WithItem:
        item, bound = self.expression(node.context_expr), node.optional_vars
        asname = None
        if bound is not None:
            asname = new.AsName(name=self.made(bound))
        return new.WithItem(item=item, asname=asname)

    def visit_Try(self, node: ast.Try) -> cst.Try:
        return new.Try(
            body=self.block(node.body),
            handlers=list(map(self._handler, node.handlers)),
            orelse=self._otherwise(node.orelse),
            finalbody=new.Finally(body=self.block(node.finalbody)) if node.finalbody else None,
        )

    def _handler(self, node: ast.ExceptHandler) -> cst.ExceptHandler:
        return new.ExceptHandler(
            type=self.optional(node.type),
            name=None if node.name is None else new.AsName(name=self.word(node.name)),
            body=self.block(node.body),
        )

    def _decorators(self, nodes: Sequence[ast.expr]) -> list[cst.Decorator]:
        return [new.Decorator(decorator=self.expression(each)) for each in nodes]

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        if getattr(node, "type_params", ()):
            raise UnsupportedError("type parameters")
        return new.FunctionDef(
            decorators=self._decorators(node.decorator_list),
            name=self.word_of(node, node.name),
            params=self.parameters(node.args),
            returns=None if node.returns is None else self.annotation(node.returns),
            body=self.block(node.body),
            asynchronous=ASYNCHRONOUS if isinstance(node, ast.AsyncFunctionDef) else None,
        )

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> cst.ClassDef:
        if getattr(node, "type_params", ()):
            raise UnsupportedError("type parameters")
        given = self.arguments(node.bases, node.keywords)
        is_named = [each.keyword is not None or each.star == "**" for each in given]
        first = is_named.index(True) if True in is_named else len(given)
        return new.ClassDef(
            decorators=self._decorators(node.decorator_list),
            name=self.word_of(node, node.name),
            bases=given[:first],
            keywords=given[first:],
            body=self.block(node.body),
        )
