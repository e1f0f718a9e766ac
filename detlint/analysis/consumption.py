"""How an expression's order is used, if at all.

Follows a value whose order is not fixed through calls, comprehensions and locals
to the places where the order reaches a result. ``sorted``, ``set``, ``len``, tests for
membership or emptiness, error messages and logs end the trail. So does a dict that is
filled in that order and leaves the function: most are only looked up in.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis import expectations, patterns, reductions
from detlint.analysis.argument import Argument
from detlint.analysis.attributes import Attributes
from detlint.analysis.called_functions import CalledFunctions
from detlint.analysis.callers import Callers
from detlint.analysis.conditions import call_word
from detlint.analysis.definitions import Definitions
from detlint.analysis.expressions import Expressions
from detlint.analysis.global_names import GlobalNames
from detlint.analysis.handlers import handler
from detlint.analysis.indices import Indices
from detlint.analysis.iterations import Iterations
from detlint.analysis.kept_aside import is_only_filled
from detlint.analysis.keys import Keys
from detlint.analysis.later_sorts import is_sorted_later
from detlint.analysis.loop_body import LoopBody
from detlint.analysis.messages import Messages
from detlint.analysis.order import Flow, Use
from detlint.analysis.pairings import Pairings
from detlint.analysis.reads import Reads
from detlint.analysis.sets import Sets
from detlint.analysis.sort_keys import SortKeys
from detlint.analysis.statements import Statements
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.conditions import Conditions
    from detlint.module import Module
    from detlint.scope import Scope

_DEPTH = 3  # functions that hand the same listing on, each to the next


class Consumption:
    """The uses of unordered values in one module."""

    def __init__(
        self,
        module: Module,
        conditions: type[Conditions] = Messages,
        depth: int = 0,
        *,
        possible: bool = False,
    ) -> None:
        self.module = module
        self.possible = possible  # whether to follow what is not likely to show the order
        self.reads = Reads(module)
        self.conditions = conditions(module, self.reads)
        self.indices = Indices(module, self.reads, self.conditions)
        self.pairings = Pairings(module, self.reads)
        self.definitions = Definitions(module)
        self.functions = CalledFunctions(self)
        self.callers = Callers(self)
        self._depth = depth
        self.keys = Keys(module, self.definitions)
        self._attributes = Attributes(module)
        self._global_names = GlobalNames(self)
        self._handlers = (Expressions(self), Iterations(self), Statements(self))
        self._seen: set[cst.CSTNode] = set()
        self._root: cst.CSTNode | None = None
        # The module and the listing whose order is followed here, where they are others.
        self.origin: tuple[Module, cst.CSTNode | None] | None = None

    @cached_property
    def sets(self) -> Sets:
        """The sets of the module."""
        return Sets(self.module, self.reads)

    def uses(self, value: cst.CSTNode, *, keyed: bool = False) -> Iterator[Use]:
        """Where the order of a value is used; ``keyed`` for a dict filled in that order."""
        self._seen = set()
        self._root = value
        yield from self.follow(Flow(value, keyed))

    def of_other(self, module: Module) -> Consumption:
        """The uses in what a function that hands the order on stands in."""
        return Consumption(module, type(self.conditions), self._depth + 1, possible=self.possible)

    def body(self, loop: cst.For, positions: frozenset[str]) -> LoopBody:
        """The body of a loop over the elements; ``positions`` are names that count them."""
        return LoopBody.of(self, loop, positions)

    def follow_counted(self, loop: cst.For) -> Iterator[Use]:
        """The uses in ``for i in range(len(names))``, which goes through ``names[i]``, once."""
        if loop not in self._seen:
            self._seen.add(loop)
            yield from self.body(loop, frozenset()).uses()

    def is_deep(self) -> bool:
        """Whether an order was followed from function to function often enough."""
        return self._depth == _DEPTH

    def uses_of_filled(self, container: cst.CSTNode, node: cst.CSTNode) -> Iterator[Use]:
        """Where the order of a list is used that a node adds an element to, round after round."""
        self._seen = set()
        self._root = node
        yield from self.follow_container(container, node, Flow(node, filled=True))

    def listing(self) -> tuple[Module, cst.CSTNode | None]:
        """What is being followed, and the module that it stands in."""
        return self.origin or (self.module, self._root)

    def lists_one_folder(self) -> bool:
        """Whether what is being followed is the names in one folder, so that no two are equal."""
        return patterns.lists_one_folder(*self.listing())

    def holds_one(self, flow: Flow) -> bool:
        """Whether a value holds at most one element."""
        sought = not flow.filled and patterns.seeks_one(*self.listing())
        return sought or self.indices.holds_one(flow.node)

    def expects_one(self, flow: Flow) -> bool:
        """Whether code that takes the first element of a value expects no other."""
        return not flow.filled and expectations.expects_one(*self.listing())

    def used_reads(self, name: cst.Name, statement: cst.CSTNode) -> dict[cst.Name, Use]:
        """The reads of what a statement gave to a name whose order is used, with their first use.

        Reads that follow a ``sort`` are not among them.
        """
        found: dict[cst.Name, Use] = {}
        for read in self.reads.reached(name, statement):
            if self.sorts(read):
                break
            use = next(self.uses(read), None)
            if use is not None:
                found[read] = use
        return found

    def follow(self, flow: Flow) -> Iterator[Use]:
        """The uses of the order of one expression, in the place where it stands."""
        if flow.node in self._seen or self.conditions.is_diagnostic(flow.node):
            return
        self._seen.add(flow.node)
        parent = self.module.parent(flow.node)
        for owner in self._handlers:
            found = handler(owner, "in_", parent)
            if found is not None:
                yield from found(parent, flow)
                return
        if parent is not None and not isinstance(parent, _dropping()):
            yield Use(parent, "used")

    def follow_name(
        self,
        name: cst.Name,
        statement: cst.CSTNode,
        *,
        keyed: bool = False,
        filled: bool = False,
    ) -> Iterator[Use]:
        """The uses of a variable's order, from a statement on until it is sorted."""
        if name.value == "__all__":
            return  # what a star import takes is looked up by name
        scope = self.reads.home(name)
        reads = list(self.reads.reached(name, statement)) if scope is not None else []
        is_global = scope is not None and isinstance(scope.node, cst.Module)
        if is_global:
            # Functions may be cut from the region, so those are read anew.
            reads = [read for read in reads if self.module.enclosing_function(read) is None]
        if not keyed and self._outlives(name, scope, reads, filled=filled):
            yield Use(statement, f"assigned to {name.value}")
        for read in reads:
            if self.sorts(read):
                return
            yield from self.follow(Flow(read, keyed, filled))
        if is_global:
            yield from self._global_names.uses(name, statement, keyed=keyed)

    def _outlives(
        self, name: cst.Name, scope: Scope | None, reads: list[cst.Name], *, filled: bool
    ) -> bool:
        """Whether the variable is seen by code that cannot be followed."""
        if scope is None or isinstance(scope.node, cst.ClassDef):
            return True
        if isinstance(scope.node, cst.Module):
            own = reads or name.value == "_" or self._runs_as_script(name)
            return not own and self._global_names.are_for_others(name)
        kinds = [binding.kind for binding in scope.bindings[name.value]]
        return filled and kinds == ["parameter"] and not is_sorted_later(self, name)

    def _runs_as_script(self, node: cst.CSTNode) -> bool:
        """Whether code stands under ``if __name__ == "__main__":``: nobody imports its names."""
        tests = (x.test for x in self.module.ancestors(node) if isinstance(x, cst.If))
        return any(isinstance(x, cst.Comparison) and dotted(x.left) == "__name__" for x in tests)

    def is_settled(self, target: cst.CSTNode) -> bool:
        """Whether the order of an attribute or element does not matter once it is assigned."""
        if is_sorted_later(self, target) or self._attributes.only_looked_up(target):
            return True
        return self._attributes.is_never_read(target) or is_only_filled(self, target)

    def sorts(self, read: cst.CSTNode) -> bool:
        """``x.sort()``, ``sort(x)``, or ``x = sorted(x)`` in any branch."""
        parent = self.module.parent(read)
        if isinstance(parent, cst.Attribute):
            sorting = bool(reductions.SORTING.search(parent.attr.value))
            return parent.value is read and sorting and not self._leaves_ties(parent)
        call = self.module.parent(parent) if isinstance(parent, cst.Arg) else None
        if not isinstance(call, cst.Call) or not reductions.SORTING.search(call_word(call)):
            return False
        if isinstance(parent, cst.Arg) and Argument(self.module, parent, call).leaves_ties():
            return False
        statement = self.module.parent(call)
        if isinstance(statement, cst.Expr):
            return True
        if isinstance(statement, cst.Subscript):  # x = sorted(x)[:5]
            statement = self.module.parent(statement)
        if not isinstance(statement, cst.Assign):
            return False
        targets = (each.target for each in statement.targets)
        names = (dotted(t.value if isinstance(t, cst.Subscript) else t) for t in targets)
        return dotted(read) in names

    def _leaves_ties(self, method: cst.Attribute) -> bool:
        """``x.sort(key=len)``."""
        call = self.module.parent(method)
        key = self.module.argument(call, "key") if isinstance(call, cst.Call) else None
        return key is not None and SortKeys(self.module).leave_ties(key)

    def follow_target(
        self, target: cst.CSTNode, statement: cst.CSTNode, flow: Flow
    ) -> Iterator[Use]:
        """The uses of what a statement assigns to a target."""
        if isinstance(target, cst.Name):
            yield from self.follow_name(target, statement, keyed=flow.keyed)
        elif isinstance(target, (cst.Tuple, cst.List)):
            if len(target.elements) > 1:
                yield Use(statement, "unpacked")
        elif isinstance(target, cst.Subscript) and isinstance(target.slice[0].slice, cst.Slice):
            yield from self.follow_container(target.value, statement, flow)
        elif not self.is_settled(target):
            yield from flow.escapes(statement, f"assigned to {describe(target)}")

    def follow_container(
        self, container: cst.CSTNode, node: cst.CSTNode, flow: Flow
    ) -> Iterator[Use]:
        """The uses of a list that takes the elements over, by ``extend`` or ``+=``."""
        if isinstance(container, cst.Name):
            loop = self._outermost_loop(node)
            yield from self.follow_name(container, loop, keyed=flow.keyed, filled=True)
        elif not self.is_settled(container):
            yield from flow.escapes(node, f"added to {describe(container)}")

    def _outermost_loop(self, node: cst.CSTNode) -> cst.CSTNode:
        """The outermost loop of the function around a node, or the node."""
        found = node
        for each in self.module.ancestors(node):
            if isinstance(each, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(each, cst.For):
                found = each
        return found


def describe(target: cst.CSTNode) -> str:
    """A target as a message names it."""
    if isinstance(target, cst.Subscript):
        return f"{describe(target.value)}[…]"
    return dotted(target) or "a target"


def _dropping() -> tuple[type[cst.CSTNode], ...]:
    """Nodes that use no order of what stands directly in them."""
    return (
        cst.Annotation,
        cst.Assert,
        cst.AssignTarget,
        cst.AugAssign,
        cst.CompIf,
        cst.Del,
        cst.Expr,
        cst.For,
        cst.If,
        cst.Index,
        cst.Raise,
        cst.SetComp,
        cst.UnaryOperation,
        cst.While,
    )
