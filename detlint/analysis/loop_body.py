"""Whether what a loop does depends on the order of its elements.

A body is free of order if all that it does is done to each element by itself
(delete, move, copy, write its own file), commutes (add to a set, count, take a
maximum), or says the same whichever element comes first (``return True``). Lists and
dicts that it fills, and locals that outlive it, are left to the caller to follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import selections
from detlint.analysis.body_calls import BodyCalls
from detlint.analysis.handlers import handler
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption

_QUIET_MODULES = ("os.", "builtins.", "re.", "json.", "pathlib.", "shutil.", "time.", "datetime.")


class LoopBody(BodyCalls):
    """Judges the statements of the body.

    kept  locals that the body binds to an element: (name, statement)
    """

    def __init__(self, consumption: Consumption, loop: cst.For, positions: frozenset[str]) -> None:
        super().__init__(consumption, loop, positions)
        self._constants: dict[str, set[str]] = {}
        self._strange_calls = 0
        self.kept: list[tuple[cst.Name, cst.CSTNode]] = [
            (each, loop)
            for each in self._module.tree.descendants(loop.target)
            if isinstance(each, cst.Name)
        ]

    def depends_on_order(self) -> bool:
        """Whether the body itself does; its containers and kept locals may on top of that."""
        below = list(self._module.tree.descendants(self._loop.body))
        if any(isinstance(each, cst.Yield) for each in below):
            return True
        if self._consumption.conditions.draws(self._loop.body):
            return True
        self._elements.find_counters(below)
        if self._any(self._loop.body):
            return True
        if any(len(values) > 1 for values in self._constants.values()):
            return True
        return bool(self._strange_calls) and not self._effects

    # Statements: each answers whether the order of the elements shows in it

    def _any(self, block: cst.BaseSuite) -> bool:
        return _any_of([self._statement(each) for each in block.body])

    def _statement(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.SimpleStatementLine):
            return _any_of([self._statement(each) for each in node.body])
        found = handler(self, "on_", node)
        if found is not None:
            return bool(found(node))
        quiet = (
            cst.Pass,
            cst.Continue,
            cst.Break,
            cst.Import,
            cst.ImportFrom,
            cst.Global,
            cst.Nonlocal,
        )
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return self._elements.varies(node)
        return not isinstance(node, quiet)

    def on_if(self, node: cst.If) -> bool:
        if selections.is_unique_match(node.test, self._loop, self._elements):
            self._effects += 1
            return False
        if self._elements.counts(node.test):
            before = self._effects, len(self.kept)
            return self._any(node.body) or self._stops or before != (self._effects, len(self.kept))
        best = selections.keeps_best(node, self._module)
        self._effects += best
        below = not best and self._any(node.body)
        other = node.orelse
        if isinstance(other, cst.If):
            return self.on_if(other) or below
        return (other is not None and self._any(other.body)) or below

    def on_while(self, node: cst.While) -> bool:
        return self._any(node.body)

    def on_for(self, node: cst.For) -> bool:
        if self._elements.varies(node.iter):
            self._elements.add(node.target)
        return self._any(node.body)

    def on_with(self, node: cst.With) -> bool:
        for item in node.items:
            if item.asname is not None and self._elements.varies(item.item):
                self._elements.add(item.asname.name)
        return self._any(node.body)

    def on_try(self, node: cst.Try) -> bool:
        parts = [node.body, *(each.body for each in node.handlers)]
        parts += [each.body for each in (node.orelse, node.finalbody) if each is not None]
        return _any_of([self._any(part) for part in parts])

    def on_raise(self, _: cst.CSTNode) -> bool:
        self._effects += 1
        return False

    on_assert = on_raise

    def on_del(self, _: cst.CSTNode) -> bool:
        self._effects += 1
        return False

    def on_return(self, node: cst.Return) -> bool:
        self._effects += 1
        if self._elements.varies(node.value):
            return True
        self._record("return", node.value)
        return False

    def on_ann_assign(self, node: cst.AnnAssign) -> bool:
        return node.value is not None and self._assign(node.target, node.value, node)

    def on_assign(self, node: cst.Assign) -> bool:
        return _any_of([self._assign(each.target, node.value, node) for each in node.targets])

    def on_aug_assign(self, node: cst.AugAssign) -> bool:
        self._effects += 1
        commutes = isinstance(node.operator, (cst.BitOrAssign, cst.BitAndAssign))
        if commutes or self._elements.is_integer(node.value):
            return self._elements.counts(node.value) or self._counts_in_key(node.target)
        if isinstance(node.target, cst.Name):
            if isinstance(node.operator, cst.AddAssign):
                self._fill(node.target, keyed=False)
                return self._stops
            return self._elements.varies(node.value)
        return self._changes(node.target, node.value)

    def on_expr(self, node: cst.Expr) -> bool:
        value = node.value.expression if isinstance(node.value, cst.Await) else node.value
        return isinstance(value, cst.Call) and self._call(value)

    # Assignments

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        if isinstance(target, (cst.Tuple, cst.List)):
            return _any_of([self._assign(each.value, value, node) for each in target.elements])
        if isinstance(target, cst.Name):
            self._bind(target, value, node)
            return False
        if isinstance(target, cst.Subscript) and self._elements.varies(target.value):
            return False  # the element's own
        self._effects += 1
        if isinstance(target, cst.Subscript):
            return self._store(target, value)
        return self._changes(target, value)

    def _store(self, target: cst.Subscript, value: cst.BaseExpression) -> bool:
        """``found[name] = …``."""
        counts = self._elements.counts(target) or self._elements.counts(value)
        if counts or self._numbers(target, value):
            return True
        if not self._elements.varies(target.slice[0]):
            return self._elements.varies(value)
        if isinstance(target.value, cst.Name):
            self._fill(target.value, keyed=True)
        return self._stops

    def _bind(self, target: cst.Name, value: cst.BaseExpression, node: cst.CSTNode) -> None:
        called = self._module.called(value)
        again = target.value in self._elements.names(value)
        if called in ("builtins.max", "builtins.min") and again:
            self._effects += 1
        elif self._elements.varies(value) or again:
            self._elements.add(target, counted=self._elements.counts(value))
            self.kept.append((target, node))
            self._strange_calls += sum(map(self._is_strange, self._module.tree.descendants(value)))
        else:
            self._effects += 1
            reads = self._consumption.reads.reached(target, node)
            if any(self._loop not in self._module.ancestors(read) for read in reads):
                self._record(target.value, value)

    def _is_strange(self, node: cst.CSTNode) -> bool:
        """Whether a call may do more than compute something about the element."""
        if not isinstance(node, cst.Call):
            return False
        name = self._module.called(node)
        if name is not None:
            return not name.startswith(_QUIET_MODULES)
        return not (isinstance(node.func, cst.Attribute) and self._elements.varies(node.func.value))

    def _record(self, name: str, value: cst.BaseExpression | None) -> None:
        code = self._module.tree.module.code_for_node(value) if value is not None else "None"
        self._constants.setdefault(name, set()).add(code)

    def _numbers(self, target: cst.Subscript, value: cst.CSTNode) -> bool:
        """``index[name] = len(index)``, ``= next(counter)``."""
        names = set(self._elements.names(value))
        return "next" in names or not names.isdisjoint(self._elements.names(target.value))

    def _changes(self, target: cst.CSTNode, value: cst.CSTNode) -> bool:
        own = self._elements.varies(getattr(target, "value", None))
        return not own and self._elements.varies(value)

    def _counts_in_key(self, target: cst.CSTNode) -> bool:
        return isinstance(target, cst.Subscript) and self._elements.counts(target.slice[0])


def _any_of(answers: list[bool]) -> bool:
    """Every statement has to be read, also after one that depends on the order."""
    return any(answers)
