"""What code asks about a value, or says of it: tests, random draws, messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.models.names import means_seeding
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.analysis.reads import Reads
    from detlint.module import Module

_TESTING_CALLS = ("bool", "assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone")

_ERROR_REPORTS = ("builtins.print", "traceback.print_exc")


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
            logged = isinstance(each, cst.Call) and below is not each.func and self.is_log(each)
            if logged or (isinstance(each, cst.Yield) and self.is_shown(each)):
                return True
            if isinstance(each, (cst.BaseStatement, cst.BaseSmallStatement, cst.Lambda)):
                return False
            below = each
        return False

    def is_log(self, call: cst.Call) -> bool:
        """Whether a call writes to a log, or says what went wrong."""
        if self._module.called(call) in _ERROR_REPORTS and self.handles_error(call):
            return True
        receiver = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else None
        return reductions.is_log(self._module.called(call), receiver, call_word(call))

    def is_shown(self, _: cst.Yield) -> bool:
        """Whether what a generator gives is only shown."""
        return False

    def handles_error(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in an ``except``."""
        for each in self._module.ancestors(node):
            if isinstance(each, (cst.FunctionDef, cst.Lambda)):
                return False
            if isinstance(each, (cst.ExceptHandler, cst.ExceptStarHandler)):
                return True
        return False

    # Random numbers

    def draws(self, node: cst.CSTNode) -> bool:
        """Whether code draws random numbers, so that each element's depends on its place.

        It does not where the code seeds before it draws.
        """
        below = self._module.tree.descendants(node)
        first = next((each for each in below if self._draws(each)), None)
        return first is not None and not self._seeds_before(first, node)

    def seeds(self, node: cst.CSTNode) -> bool:
        """Whether code seeds whatever draws after it."""
        return any(map(self._seeds, self._module.tree.descendants(node)))

    def _seeds_before(self, draw: cst.CSTNode, body: cst.CSTNode) -> bool:
        below = filter(self._seeds, self._module.tree.descendants(body))
        return any(
            self._reads.place(each) < self._reads.place(draw) and self._reads.dominates(each, draw)
            for each in below
        )

    def _seeds(self, node: cst.CSTNode) -> bool:
        """``np.random.seed(0)``, ``set_seed(args)``."""
        return isinstance(node, cst.Call) and means_seeding(call_word(node)) and bool(node.args)

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

    def is_worklist(self, attribute: cst.Attribute) -> bool:
        """``while x: … x.pop()``: what is left to do is done in any order."""
        loops = (each for each in self._module.ancestors(attribute) if isinstance(each, cst.While))
        return any(
            each.deep_equals(attribute.value)
            for loop in loops
            for each in self._module.tree.descendants(loop.test)
        )

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
