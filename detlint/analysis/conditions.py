"""What code makes sure of, or asks, about a value: tests, guards, messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.analysis.reads import Reads
    from detlint.module import Module

_TESTING_CALLS = ("bool", "assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone")
_EQUALITY_CALLS = ("assertEqual", "assert_equal", "assertEquals")


def call_word(call: cst.Call) -> str:
    """The last word of what is called: ``x.y.sort()`` → ``sort``."""
    func = call.func
    if isinstance(func, cst.Attribute):
        return func.attr.value
    return func.value if isinstance(func, cst.Name) else ""


class Conditions:
    """Answers for the expressions of one module."""

    def __init__(self, module: Module, reads: Reads) -> None:
        self._module = module
        self._reads = reads

    # Messages

    def is_diagnostic(self, node: cst.CSTNode) -> bool:
        """Whether a value only shows in the text of an error, an assertion or a log."""
        below, text = node, False
        for each in self._module.ancestors(node):
            text = text or isinstance(each, cst.FormattedString)
            if isinstance(each, cst.Raise):
                return True
            if text and isinstance(each, cst.Call) and call_word(each).startswith("assert"):
                return True
            if isinstance(each, cst.Assert):
                return each.msg is below
            if isinstance(each, cst.Call) and below is not each.func and self.is_log(each):
                return True
            if isinstance(each, (cst.BaseStatement, cst.BaseSmallStatement, cst.Lambda)):
                return False
            below = each
        return False

    def is_log(self, call: cst.Call) -> bool:
        """Whether a call writes to a log."""
        receiver = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else None
        return reductions.is_log(self._module.called(call), receiver, call_word(call))

    # Random numbers

    def draws(self, node: cst.CSTNode) -> bool:
        """Whether code draws random numbers, so that each element's depends on its place."""
        return any(self._draws(each) for each in self._module.tree.descendants(node))

    def _draws(self, node: cst.CSTNode) -> bool:
        if not isinstance(node, cst.Call):
            return False
        name = self._module.called(node)
        if name is not None:
            return reductions.DRAWS.match(name) is not None
        if not isinstance(node.func, cst.Attribute):
            return False
        made = self._module.instance_of(node.func.value)
        return made in reductions.GENERATORS and not self.is_fresh_generator(node.func.value)

    def is_fresh_generator(self, node: cst.CSTNode) -> bool:
        """``random.Random(0)`` on the spot: each element gets the same numbers."""
        if not isinstance(node, cst.Call) or not node.args:
            return False
        return self._module.called(node) in reductions.GENERATORS

    # Emptiness

    def only_tested(self, node: cst.CSTNode) -> bool:
        """Whether only the truth of a value, or its being None, is asked for."""
        parent = self._module.parent(node)
        if isinstance(parent, (cst.If, cst.While, cst.Assert, cst.IfExp)):
            return parent.test is node
        if isinstance(parent, cst.UnaryOperation):
            return isinstance(parent.operator, cst.Not)
        if isinstance(parent, cst.BooleanOperation):
            return self.only_tested(parent)
        if isinstance(parent, cst.Comparison):
            return dotted(parent.comparisons[0].comparator) == "None"
        if isinstance(parent, cst.Assign):
            return self._only_tested_later(parent)
        return isinstance(parent, (cst.Expr, cst.CompIf)) or self._is_test(parent)

    def asks_truth(self, node: cst.CSTNode) -> bool:
        """Whether a test needs the truth of a value; a call for its effect is no test."""
        parent = self._module.parent(node)
        while isinstance(parent, cst.BooleanOperation):
            parent = self._module.parent(parent)
        return not isinstance(parent, cst.Expr) and self.only_tested(node)

    def _only_tested_later(self, statement: cst.Assign) -> bool:
        target = statement.targets[0].target
        reads = list(self._reads.reached(target, statement)) if isinstance(target, cst.Name) else []
        return bool(reads) and all(self.only_tested(read) for read in reads)

    def _is_test(self, arg: cst.CSTNode | None) -> bool:
        """``bool(x)``, ``assertTrue(x)``."""
        call = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        return isinstance(call, cst.Call) and call_word(call) in _TESTING_CALLS

    # A length of one

    def holds_one(self, node: cst.CSTNode) -> bool:
        """Whether a local is known to hold one element where it is read."""
        while isinstance(node, cst.Call) and node.args:  # next(iter(x))
            node = node.args[0].value
        if not isinstance(node, cst.Name):
            return False
        loads = self._reads.loads(node)
        if len(loads) > 1 and loads[0] is node and self._finds_no_more(loads[1], node):
            return True
        return any(self._checks_one(load, node) for load in loads)

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
        leaves = isinstance(way_out, cst.IndentedBlock) and _leaves(way_out)
        is_next = self._module.called(call) == "builtins.next"
        return is_next and stops and leaves and not self._shows_first(read, way_out)

    def _shows_first(self, read: cst.Name, block: cst.BaseSuite) -> bool:
        """Whether a block reads the local that ``next(read)`` was given to."""
        statement = next(
            (x for x in self._module.ancestors(read) if isinstance(x, cst.Assign)), None
        )
        target = statement.targets[0].target if statement is not None else None
        if statement is None or not isinstance(target, cst.Name):
            return True
        return any(
            block in self._module.ancestors(each) and not self.is_diagnostic(each)
            for each in self._reads.reached(target, statement)
        )

    def _checks_one(self, load: cst.Name, read: cst.Name) -> bool:
        """Whether ``len(load)`` is compared to 1 so that ``read`` sees no other length."""
        arg = self._module.parent(load)
        length = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        if length is None or self._module.called(length) != "builtins.len":
            return False
        above = self._module.parent(length)
        if isinstance(above, cst.Arg):
            call = self._module.parent(above)
            if not isinstance(call, cst.Call) or call_word(call) not in _EQUALITY_CALLS:
                return False
            return any(self._module.literal(each.value) == 1 for each in call.args)
        comparison = (
            self._module.parent(above) if isinstance(above, cst.ComparisonTarget) else above
        )
        if not isinstance(comparison, cst.Comparison):
            return False
        first = comparison.comparisons[0]
        sides = (self._module.literal(first.comparator), self._module.literal(comparison.left))
        return 1 in sides and self._guards(comparison, first.operator, read)

    def _guards(self, test: cst.Comparison, operator: cst.CSTNode, read: cst.Name) -> bool:
        """Whether a comparison with 1 decides if the read is reached."""
        around = [read, *self._module.ancestors(read)]
        for each in self._module.ancestors(test):
            if isinstance(each, cst.Assert):
                return isinstance(operator, cst.Equal)
            if isinstance(each, (cst.If, cst.IfExp)):
                if isinstance(operator, cst.Equal):
                    return each.body in around
                if not isinstance(operator, (cst.NotEqual, cst.GreaterThan)):
                    return False
                leaves = isinstance(each.body, cst.IndentedBlock) and _leaves(each.body)
                return each.body not in around and (leaves or each.orelse in around)
            if isinstance(each, cst.BaseStatement):
                return False
        return False


def _leaves(block: cst.IndentedBlock) -> bool:
    """Whether a block ends by leaving: ``raise``, ``return``, ``continue``, ``sys.exit()``."""
    last = block.body[-1] if block.body else None
    if not isinstance(last, cst.SimpleStatementLine):
        return False
    statement = last.body[-1]
    if isinstance(statement, (cst.Raise, cst.Return, cst.Continue, cst.Break)):
        return True
    return (
        isinstance(statement, cst.Expr)
        and isinstance(statement.value, cst.Call)
        and call_word(statement.value) in ("exit", "fail", "skip", "error")
    )
