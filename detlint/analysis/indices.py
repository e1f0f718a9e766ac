"""Which element of a listing code can pick: the only one, or the one that a person chose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.best_places import BestPlaces
from detlint.analysis.conditions import call_word
from detlint.analysis.parallels import Parallels
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.conditions import Conditions
    from detlint.analysis.reads import Reads
    from detlint.module import Module

_LEAVING = re.compile("exit|fail|skip|error|raise(?:_.*)?")
_EQUALITY_CALLS = ("assertEqual", "assert_equal", "assertEquals")
_LISTS = ("builtins.list", "builtins.tuple", "builtins.sorted")
_PROMPTS = ("builtins.input", "click.prompt", "typer.prompt", "rich.prompt.IntPrompt.ask")


class Indices:
    """Answers for the locals of one module."""

    def __init__(self, module: Module, reads: Reads, conditions: Conditions) -> None:
        self._module = module
        self._reads = reads
        self._conditions = conditions
        self.parallels = Parallels(module, reads, conditions)

    def picks_surely(self, subscript: cst.Subscript) -> bool:
        """Whether an index picks the same element whatever the order."""
        if self.parallels.follows(subscript) or self._is_sorted_by(subscript.slice[0]):
            return True
        if BestPlaces(self._module, self.parallels).picks(subscript):
            return True
        return self.holds_one(subscript.value) or self._is_asked_for(subscript.slice[0])

    def _is_sorted_by(self, index: cst.CSTNode) -> bool:
        """``names[order]``, where ``order = np.argsort(numbers)``."""
        place = index.slice if isinstance(index, cst.SubscriptElement) else index
        value = place.value if isinstance(place, cst.Index) else place
        made = self._module.names.value_of(value)
        if not isinstance(made, cst.Call) or call_word(made) != "argsort":
            return False
        sorted_by = map(self._module.names.value_of, self._module.tree.descendants(made))
        return not any(map(self._conditions.draws, sorted_by))

    def _is_asked_for(self, index: cst.CSTNode) -> bool:
        """``names[int(input()) - 1]``: a person chose among the names as they were shown."""
        values = map(self._module.names.value_of, self._module.tree.descendants(index))
        return any(
            self._module.called(each) in _PROMPTS
            for value in values
            for each in self._module.tree.descendants(value)
        )

    def holds_one(self, node: cst.CSTNode) -> bool:
        """Whether a local, or what a call lists again, is known to hold one element here."""
        while isinstance(node, cst.Call) and node.args:  # next(iter(x))
            if self._is_counted_before(node):
                return True
            node = node.args[0].value
        if not isinstance(node, cst.Name):
            return False
        loads = self._reads.loads(node)
        if len(loads) > 1 and loads[0] is node and self._finds_no_more(loads[1], node):
            return True
        return any(self._checks_one(load, node) for load in loads)

    # A second next() that fails

    def _finds_no_more(self, load: cst.Name, read: cst.Name) -> bool:
        """``try: next(it)``, ``except StopIteration: …``, ``else: return`` after a ``next(it)``."""
        line = next(
            (x for x in self._module.ancestors(load) if isinstance(x, cst.SimpleStatementLine)),
            None,
        )
        block = self._module.parent(line) if line is not None else None
        attempt = self._module.parent(block) if block is not None else None
        if not isinstance(attempt, cst.Try) or line is not attempt.body.body[0]:
            return False
        arg = self._module.parent(load)
        call = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        if not isinstance(call, cst.Call) or len(call.args) != 1:
            return False
        stops = any(
            each.type is not None and dotted(each.type) == "StopIteration"
            for each in attempt.handlers
        )
        way_out = attempt.orelse.body if attempt.orelse is not None else attempt.body
        is_next = self._module.called(call) == "builtins.next"
        return is_next and stops and _leaves(way_out) and not self._shows_first(read, way_out)

    def _shows_first(self, read: cst.Name, block: cst.BaseSuite) -> bool:
        """Whether a block reads the local that ``next(read)`` was given to."""
        statement = next(
            (x for x in self._module.ancestors(read) if isinstance(x, cst.Assign)), None
        )
        target = statement.targets[0].target if statement is not None else None
        if statement is None or not isinstance(target, cst.Name):
            return True
        return any(
            block in self._module.ancestors(each) and not self._conditions.is_diagnostic(each)
            for each in self._reads.reached(target, statement)
        )

    # A length that is compared to 1

    def _is_counted_before(self, call: cst.Call) -> bool:
        """``assert len(os.listdir(folder)) == 1`` before ``os.listdir(folder)[0]``."""
        function = self._module.enclosing_function(call)
        for name in self._module.tree.occurrences.get(call_word(call), ()):
            above = self._module.parent(name)
            other = self._module.parent(above) if isinstance(above, cst.Attribute) else above
            length = self._around(other) if isinstance(other, cst.Call) else None
            if (
                isinstance(other, cst.Call)
                and length is not None
                and self._module.called(length) == "builtins.len"
                and self._reads.place(other) < self._reads.place(call)
                and self._module.enclosing_function(other) is function
                and other.deep_equals(call)
                and not self._changes_between(other, call)
                and any(self._guards(each, call) for each in self._comparisons(length))
            ):
                return True
        return False

    def _around(self, call: cst.Call) -> cst.CSTNode | None:
        """The call that gets what another gives, made a list perhaps: ``len(list(call))``."""
        arg = self._module.parent(call)
        outer = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        if isinstance(outer, cst.Call) and self._module.called(outer) in _LISTS:
            return self._around(outer)
        return outer

    def _changes_between(self, first: cst.Call, second: cst.Call) -> bool:
        """Whether what a call mentions is bound anew before another call of the same text."""
        start, end = self._reads.place(first), self._reads.place(second)
        return any(
            start < store.end < end
            for name in self._reads.variables(first)
            for store in self._reads.stores(name)
        )

    def _checks_one(self, load: cst.Name, read: cst.Name) -> bool:
        """Whether ``len(load)`` is compared to 1 so that ``read`` sees no other length."""
        arg = self._module.parent(load)
        length = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        if length is None or self._module.called(length) != "builtins.len":
            return False
        above = self._module.parent(length)
        call = self._module.parent(above) if isinstance(above, cst.Arg) else None
        if isinstance(call, cst.Call):
            asserts = call_word(call) in _EQUALITY_CALLS
            return asserts and any(self._module.literal(each.value) == 1 for each in call.args)
        return any(self._guards(each, read) for each in self._comparisons(length))

    def _comparisons(self, node: cst.CSTNode) -> Iterator[cst.Comparison]:
        """Where a length is compared, also as a local: ``count = len(names)``."""
        above = self._module.parent(node)
        if isinstance(above, cst.Assign) and isinstance(above.targets[0].target, cst.Name):
            for read in self._reads.reached(above.targets[0].target, above):
                yield from self._comparisons(read)
        elif isinstance(above, cst.NamedExpr):
            yield from self._comparisons(above)
        if isinstance(above, cst.ComparisonTarget):
            above = self._module.parent(above)
        if isinstance(above, cst.Comparison):
            yield above

    def _says_one(self, test: cst.Comparison) -> bool | None:
        """Whether a comparison holds for one element, or for any other number; else None."""
        first = test.comparisons[0]
        right, left = self._module.literal(first.comparator), self._module.literal(test.left)
        if isinstance(first.operator, cst.Equal) and 1 in (left, right):
            return True
        # Of none, there is no first.
        if (type(first.operator), right) in ((cst.LessThanEqual, 1), (cst.LessThan, 2)):
            return True
        differs = isinstance(first.operator, cst.NotEqual) and 1 in (left, right)
        exceeds = (type(first.operator), right) in ((cst.GreaterThan, 1), (cst.GreaterThanEqual, 2))
        return False if differs or exceeds else None

    def _guards(self, test: cst.Comparison, read: cst.CSTNode) -> bool:
        """Whether a comparison with 1 decides if the read is reached."""
        one = self._says_one(test)
        if one is None:
            return False
        around = [read, *self._module.ancestors(read)]
        below: cst.CSTNode = test
        for each in self._module.ancestors(test):
            if isinstance(each, cst.UnaryOperation):
                one = not one
            elif not isinstance(each, cst.BooleanOperation):
                return _is_decided(each, around, one=one)
            elif isinstance(each.operator, cst.And) is not one:
                return False  # `one or x`, `more and x`: neither side says how many
            elif each.left is below and each.right in around:
                return True
            below = each
        return False


def _is_decided(choice: cst.CSTNode, around: list[cst.CSTNode], *, one: bool) -> bool:
    """Whether a place is only reached where a statement's test holds, or where it does not."""
    if isinstance(choice, cst.Assert):
        return one
    if not isinstance(choice, (cst.If, cst.IfExp)):
        return False
    if one:
        return choice.body in around
    leaves = isinstance(choice, cst.If) and _leaves(choice.body)
    return choice.body not in around and (leaves or choice.orelse in around)


def _leaves(block: cst.BaseSuite) -> bool:
    """Whether a block ends by leaving: ``raise``, ``return``, ``continue``, ``sys.exit()``."""
    last: cst.CSTNode = block.body[-1]
    statement = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    if isinstance(statement, (cst.Raise, cst.Return, cst.Continue, cst.Break)):
        return True
    return (
        isinstance(statement, cst.Expr)
        and isinstance(statement.value, cst.Call)
        and _LEAVING.fullmatch(call_word(statement.value)) is not None
    )
