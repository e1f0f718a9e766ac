"""Whether what a loop does depends on the order of its elements.

A body is free of order if all that it does is done to each element by itself
(delete, move, copy, write its own file), commutes (add to a set, count, take a
maximum), or says the same whichever element comes first (``return True``). Lists and
dicts that it fills, and locals that outlive it, are left to the caller to follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import selections
from detlint.analysis.body_statements import BodyStatements, any_of
from detlint.analysis.by_name import ByName
from detlint.analysis.chosen_keys import ChosenKeys
from detlint.analysis.elements import Elements
from detlint.analysis.expectations import is_of_a_kind
from detlint.analysis.flushes import Flushes
from detlint.analysis.numberings import Numberings
from detlint.analysis.order import Use
from detlint.analysis.passes import Passes
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.module import Module


class LoopBody(BodyStatements):
    """Judges the statements of the body.

    kept  locals that the body binds to an element: (name, statement)
    """

    def __init__(
        self,
        consumption: Consumption,
        loop: cst.For | cst.While,
        elements: Elements,
        *,
        stops: bool,
    ) -> None:
        super().__init__(consumption, elements, stops=stops)
        self._loop = loop
        self._target = loop.target if isinstance(loop, cst.For) else None
        self._constants: dict[str, set[str]] = {}
        self._strange: list[cst.Call] = []
        self._chosen = ChosenKeys(consumption, self._target)
        self._made: dict[str, cst.BaseExpression] = {}
        self._by_name = ByName(consumption, self._target)
        self._numberings = Numberings(consumption, self._owns, self._made)
        self._apart = False
        self.kept: list[tuple[cst.Name, cst.CSTNode]] = []

    @classmethod
    def of(cls, consumption: Consumption, loop: cst.For, positions: frozenset[str]) -> LoopBody:
        """The body of a loop over the elements."""
        targets = list(consumption.reads.variables(loop.target))
        elements = Elements(consumption, (each.value for each in targets), positions)
        body = cls(consumption, loop, elements, stops=_breaks(consumption.module, loop))
        body.kept += [(each, loop) for each in targets]
        return body

    def uses(self) -> Iterator[Use]:
        """Where the order is used, in the loop or after it."""
        if self.depends_on_order() or self._is_kept():
            yield Use(self._loop, "looped over")
            return
        for name, keyed in self.containers:
            for use in self._consumption.follow_name(name, self._loop, keyed=keyed, filled=True):
                if not self._by_name.are_written(name.value, use):
                    yield use._replace(how="looped over")

    def _is_kept(self) -> bool:
        """Whether a local that holds the last element is read after the loop."""
        reads, conditions = self._consumption.reads, self._consumption.conditions
        end = reads.end(self._loop.body)
        return any(
            reads.place(read) > end
            and not conditions.only_tested(read)
            and not conditions.is_diagnostic(read)
            for name, statement in self.kept
            for read in reads.reached(name, statement)
        )

    def depends_on_order(self) -> bool:
        """Whether the body itself does; its containers and kept locals may on top of that."""
        if self._yields() or self._consumption.conditions.draws(self._loop.body):
            return True
        self._elements.find_counters(self._loop)
        if self._any(self._loop.body):
            return True
        below = self._module.tree.descendants(self._loop.body)
        several = any(len(values) > 1 for values in self._constants.values())
        if several or any(map(self._numberings.number_new, below)):
            return True
        asked = self._used_calls() if self._apart else [] if self._effects else self._strange
        return any(map(self._is_asked_in_order, asked))

    def _yields(self) -> bool:
        below = self._module.tree.descendants(self._loop.body)
        yields = (each for each in below if isinstance(each, cst.Yield))
        return not all(map(self._consumption.conditions.is_shown, yields))

    def _used_calls(self) -> list[cst.Call]:
        below = self._module.tree.descendants(self._loop.body)
        calls = (each for each in below if isinstance(each, cst.Call))
        used = (each for each in calls if not isinstance(self._module.parent(each), cst.Expr))
        return list(filter(self._is_strange, used))

    def _adds_apart(self, slot: cst.CSTNode) -> bool:
        loop = self._loop
        apart = isinstance(loop, cst.For) and Passes(self._consumption, loop).add_apart(slot)
        self._apart = self._apart or apart
        return apart

    def _is_asked_in_order(self, call: cst.Call) -> bool:
        """``loss = model.step(element)``, of which only the call itself may matter."""
        return self._elements.counts(call) or self._shows_order(call, dropped=False)

    def on_if(self, node: cst.If) -> bool:
        self._note_named(node.test)
        if selections.is_unique_match(node.test, self._target, self._elements.varies):
            self._effects += 1
            self._note_chosen(node.body)
            return False
        if self._takes_first(node) and is_of_a_kind(self._module, node.test, self._target):
            self._effects += 1
            return False
        if self._elements.counts(node.test):
            if Flushes(self._consumption).are_apart(node):
                self._effects += 1
                return False
            before = self._effects, len(self.kept)
            return self._any(node.body) or self._stops or before != (self._effects, len(self.kept))
        best = selections.keeps_best(node, self._module)
        self._effects += best
        below = not best and self._any(node.body)
        other = node.orelse
        if isinstance(other, cst.If):
            return self.on_if(other) or below
        return (other is not None and self._any(other.body)) or below

    def _note_chosen(self, block: cst.BaseSuite) -> None:
        for each in self._module.tree.descendants(block):
            target = each.targets[0].target if isinstance(each, cst.Assign) else None
            if not isinstance(each, cst.Assign) or not isinstance(target, cst.Name):
                continue
            if self._chosen.note(target, each.value, each):
                self._elements.add(target)

    def _takes_first(self, node: cst.If) -> bool:
        """``if …: found = element; break``, and nothing else in the loop."""
        lines = [each for each in node.body.body if isinstance(each, cst.SimpleStatementLine)]
        last_in_loop = list(self._loop.body.body)[-1:] == [node]
        if node.orelse is not None or not last_in_loop or len(lines) < len(node.body.body):
            return False
        *before, last = [each for line in lines for each in line.body]
        given = all(isinstance(each, cst.Assign) for each in before)
        return given and isinstance(last, (cst.Break, cst.Return))

    def on_function_def(self, node: cst.FunctionDef) -> bool:
        """A function that sees the element does nothing until it is called."""
        if not self._elements.varies(node):
            return False
        self._elements.tainted.add(node.name.value)
        return bool(node.decorators)

    def on_return(self, node: cst.Return) -> bool:
        self._effects += 1
        if self._elements.varies(node.value) or self._is_filled(node.value):
            return True
        self._record("return", node.value)
        return False

    def _is_filled(self, value: cst.BaseExpression | None) -> bool:
        """Whether a result holds what the elements so far gave."""
        names = {each.value for each, _ in self.containers}
        return value is not None and not names.isdisjoint(self._elements.names(value))

    def on_aug_assign(self, node: cst.AugAssign) -> bool:
        self._effects += 1
        if isinstance(node.target, cst.Name) and node.target.value in self._elements.own:
            self.kept.append((node.target, node))
        commutes = isinstance(node.operator, (cst.BitOrAssign, cst.BitAndAssign))
        if commutes or self._elements.is_integer(node.value):
            return self._elements.counts(node.value) or self._counts_in_key(node.target)
        if isinstance(node.target, cst.Name):
            if isinstance(node.operator, cst.AddAssign):
                self._fill(node.target, keyed=False)
                return self._stops
            return self._elements.varies(node.value)
        if not self._changes(node.target, node.value):
            return False
        placed = self._stops or self._elements.counts(node.value)
        return placed or not self._adds_apart(node.target)

    # Assignments

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        if isinstance(target, (cst.Tuple, cst.List)):
            return any_of(self._assign(each.value, value, node) for each in target.elements)
        if isinstance(target, cst.Name):
            self._bind(target, value, node)
            return False
        if isinstance(target, cst.Subscript) and self._owns(target.value):
            if self._elements.counts(value):  # record["id"] = number
                self._elements.add(target.value, counted=True)
            return False
        self._effects += 1
        if isinstance(target, cst.Subscript):
            return self._store(target, value)
        return self._changes(target, value)

    def _store(self, target: cst.Subscript, value: cst.BaseExpression) -> bool:
        """``found[name] = …``."""
        counts = self._elements.counts(target) or self._elements.counts(value)
        if counts or self._numbers(target, value) or self._numberings.add_at_end(target):
            return True
        if self._chosen.is_there(target, self._loop):
            return self._stops
        if not self._elements.varies(target.slice[0]):
            return self._elements.varies(value)
        if isinstance(target.value, cst.Name):
            self._by_name.note_slot(target)
            self._fill(target.value, keyed=True)
        return self._stops

    def _bind(self, target: cst.Name, value: cst.BaseExpression, node: cst.CSTNode) -> None:
        self._made[target.value] = value
        self._by_name.note(target, value)
        called = self._module.called(value)
        again = target.value in self._elements.names(value)
        if called in ("builtins.max", "builtins.min") and again:
            self._effects += 1
        elif self._elements.varies(value) or again or self._makes_own(target, value, node):
            self._elements.add(target, counted=self._elements.counts(value))
            self.kept.append((target, node))
            below = self._module.tree.descendants(value)
            calls = (each for each in below if isinstance(each, cst.Call))
            self._strange += filter(self._is_strange, calls)
        else:
            self._effects += 1
            reads = self._consumption.reads.reached(target, node)
            if any(self._loop not in self._module.ancestors(read) for read in reads):
                self._record(target.value, value)

    def _makes_own(self, target: cst.Name, value: cst.CSTNode, node: cst.CSTNode) -> bool:
        """``info = {}``, ``names = []``, read after it in the same block: what it takes is this
        element's alone."""
        if not isinstance(value, (cst.Dict, cst.List)):
            return False
        reads = self._consumption.reads
        inside = (x for x in reads.loads(target) if self._loop.body in self._module.ancestors(x))
        return all(
            reads.place(read) > reads.place(node) and reads.dominates(node, read) for read in inside
        )

    def _record(self, name: str, value: cst.BaseExpression | None) -> None:
        code = self._module.tree.text(value) if value is not None else "None"
        self._constants.setdefault(name, set()).add(code)

    def _numbers(self, target: cst.Subscript, value: cst.CSTNode) -> bool:
        """``index[name] = len(index)``, ``= next(counter)``."""
        return self._numberings.number(target, value)

    def _changes(self, target: cst.CSTNode, value: cst.CSTNode) -> bool:
        """``settings.name = name``."""
        own = self._elements.varies(getattr(target, "value", None))
        return not own and self._elements.varies(value)

    def _counts_in_key(self, target: cst.CSTNode) -> bool:
        return isinstance(target, cst.Subscript) and self._elements.counts(target.slice[0])


def _breaks(module: Module, loop: cst.For) -> bool:
    """Whether a loop has a ``break`` of its own."""
    stack: list[cst.CSTNode] = [loop.body]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Break):
            return True
        if not isinstance(node, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)):
            stack.extend(module.tree.children(node))
    return False
