"""How an expression's order is used, if at all.

Follows a value whose order is not fixed through calls, comprehensions and locals
to the places where the order reaches a result. ``sorted``, ``set``, ``len``, tests for
membership or emptiness, error messages and logs end the trail. So does a dict that is
filled in that order and leaves the function: most are only looked up in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint import reductions
from detlint.loop_body import LoopBody
from detlint.reads import Reads
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module


class Use(NamedTuple):
    """A place where an order reaches a result.

    node   where that happens
    how    a participle: "looped over", "returned"
    value  the expression in that order: the original, or a local that holds it
    """

    node: cst.CSTNode
    how: str
    value: cst.CSTNode


class Consumption:
    """The uses of unordered values in one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.reads = Reads(module)
        self._seen: set[cst.CSTNode] = set()

    def uses(self, value: cst.CSTNode, *, keyed: bool = False) -> Iterator[Use]:
        """Where the order of a value is used; ``keyed`` for a dict filled in that order."""
        self._seen = set()
        yield from self.follow(value, value, keyed=keyed)

    def uses_of_reads(
        self, name: cst.Name, statement: cst.CSTNode, *, keyed: bool = False
    ) -> Iterator[Use]:
        """Where the order of what a statement gave to a name is used."""
        self._seen = set()
        yield from self.follow_name(name, statement, keyed=keyed)

    def follow(self, node: cst.CSTNode, value: cst.CSTNode, *, keyed: bool = False) -> Iterator[Use]:
        """The uses of the order of one expression, in the place where it stands."""
        if node in self._seen or self.is_diagnostic(node):
            return
        self._seen.add(node)
        parent = self.module.parent(node)
        handler = getattr(self, f"_in_{type(parent).__name__}", None)
        if handler is not None:
            yield from handler(parent, node, value, keyed)
        elif not isinstance(parent, _dropping()):
            yield Use(parent or node, "used", value)

    # Calls

    def _in_Arg(self, arg: cst.Arg, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        call = self.module.parent(arg)
        if not isinstance(call, cst.Call):  # a base class
            return
        name = self.module.called(call)
        word = call_word(call)
        if self._ignores_order(call, arg, name, word):
            return
        if name in ("builtins.max", "builtins.min"):
            if self.module.argument(call, "key") is not None:
                yield Use(call, f"searched by {word}(key=…), which keeps the first of equals", value)
        elif name == "builtins.sum":
            if self._adds_floats(node):
                yield Use(call, "added up as floats", value)
        elif name == "builtins.next":
            if not self.only_tested(call) and not self._holds_one(node):
                yield Use(call, "cut to its first by next()", value)
        elif name == "builtins.zip" and len(call.args) > 1 and not self._pairs_safely(call, node, value):
            yield Use(call, "paired by zip()", value)
        elif name in reductions.CARRYING or word.lower() in reductions.CARRYING_WORDS:
            yield from self.follow(call, call if value is node else value)
        elif name in reductions.KEYED:
            yield from self.follow(call, value, keyed=True)
        elif word == "join" and name != "os.path.join" and not arg.star:
            for use in self.follow(call, value):
                yield use._replace(how="joined")
        elif word in ("extend", "extendleft") and isinstance(call.func, cst.Attribute):
            yield from self._into_container(call.func.value, call, value)
        elif not (self._compares_to_one(call, node) or self._is_judged_whole(call)):
            if not keyed or name in ("json.dump", "json.dumps"):
                yield Use(call, f"passed to {word or 'a call'}()", value)

    def _is_judged_whole(self, call: cst.Call) -> bool:
        """``len(keep_images(os.listdir(d)))``: what the call returns is only reduced."""
        if not isinstance(self.module.parent(call), (cst.Arg, cst.ComparisonTarget)):
            return False
        return next(self.follow(call, call), None) is None

    def _ignores_order(self, call: cst.Call, arg: cst.Arg, name: str | None, word: str) -> bool:
        if name in reductions.ORDER_FREE or reductions.SORTING.search(word):
            return True
        if arg.keyword is not None and arg.keyword.value in reductions.LOOKED_UP:
            return True
        if name in ("builtins.max", "builtins.min"):
            return self.module.argument(call, "key") is None
        if not isinstance(call.func, cst.Attribute):
            return False
        return word in reductions.ORDER_FREE_METHODS or (
            word == "update" and not self.module.has_unpacking(call)
        )

    def _adds_floats(self, node: cst.CSTNode) -> bool:
        """Whether what ``sum`` adds is visibly a float."""
        element = node.elt if isinstance(node, (cst.GeneratorExp, cst.ListComp)) else None
        if element is None:
            return False
        return any(
            isinstance(each, (cst.Float, cst.Divide)) or self.module.called(each) == "builtins.float"
            for each in self.module.tree.descendants(element)
        ) or (isinstance(element, cst.BinaryOperation) and isinstance(element.operator, cst.Divide))

    def _compares_to_one(self, call: cst.Call, node: cst.CSTNode) -> bool:
        """``assertEqual(os.listdir(d), ["only"])``: one element has one order."""
        if not call_word(call).startswith("assert"):
            return False
        others = [arg.value for arg in call.args if arg.value is not node]
        return any(isinstance(each, cst.List) and len(each.elements) < 2 for each in others)

    def _pairs_safely(self, call: cst.Call, node: cst.CSTNode, value: cst.CSTNode) -> bool:
        """Lists filled by one loop have the same order; ``repeat`` has none."""
        if isinstance(node, cst.Name) and value is not node:
            return all(isinstance(arg.value, cst.Name) for arg in call.args)
        named = [self.module.called(arg.value) for arg in call.args]
        return named.count("itertools.repeat") == len(named) - 1

    # Containers

    def _in_Element(self, element: cst.Element, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        outer = self.module.parent(element)
        above = self.module.parent(outer) if outer else None
        if isinstance(above, cst.Assign) and isinstance(outer, (cst.Tuple, cst.List)):
            place = list(outer.elements).index(element)
            for target in above.targets:
                sides = getattr(target.target, "elements", ())
                if len(sides) == len(outer.elements):
                    yield from self._into(sides[place].value, above, value, keyed)
                    return
        if keyed:
            return
        if isinstance(above, (cst.Return, cst.Yield)):
            yield Use(above, "returned", value)
        elif not isinstance(outer, cst.Set):
            yield Use(element, "stored", value)

    def _in_StarredElement(self, element: cst.StarredElement, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        outer = self.module.parent(element)
        if outer is not None and not isinstance(outer, cst.Set):
            yield from self.follow(outer, value)

    def _in_DictElement(self, element: cst.DictElement, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if not keyed:
            yield Use(element, "stored", value)

    def _in_ListComp(self, outer: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if not keyed:
            yield Use(outer, "collected", value)

    _in_GeneratorExp = _in_DictComp = _in_ListComp

    def _in_StarredDictElement(self, element: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        outer = self.module.parent(element)
        if outer is not None:
            yield from self.follow(outer, value, keyed=True)

    def _into_container(self, container: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode) -> Iterator[Use]:
        """The uses of a list that takes the elements over, by ``extend`` or ``+=``."""
        if isinstance(container, cst.Name):
            yield from self.follow_name(container, self._first_line(node), value=value)
        elif not self.sorted_later(container):
            yield Use(node, f"added to {describe(container)}", value)

    def _first_line(self, node: cst.CSTNode) -> cst.CSTNode:
        """The outermost loop around a node that fills something, or the node."""
        found = node
        for each in self.module.ancestors(node):
            if isinstance(each, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(each, cst.For):
                found = each
        return found

    # Loops

    def _in_For(self, loop: cst.For, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if loop.iter is node:
            yield from self._loop(loop, loop.target, node, value)

    def _loop(self, loop: cst.For, target: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode) -> Iterator[Use]:
        body = LoopBody(self, loop, positions=self._positions(node, target))
        if body.depends_on_order():
            yield Use(loop, "looped over", value)
            return
        for name, statement, filled in body.containers:
            for use in self.follow_name(name, statement, keyed=filled, value=value):
                yield use._replace(how="looped over")
        for name, statement in body.kept:
            reads = self.reads.reached(name, statement)
            inside = self.reads.place(loop), self.reads.end(loop.body)
            for read in reads:
                outside = not inside[0] <= self.reads.place(read) <= inside[1]
                if outside and not self.only_tested(read) and not self.is_diagnostic(read):
                    yield Use(loop, "looped over", value)
                    return

    def _positions(self, node: cst.CSTNode, target: cst.CSTNode) -> frozenset[str]:
        """The names in a loop's target that count: the first of ``enumerate``."""
        call = node
        while isinstance(call, cst.Call) and self.module.called(call) != "builtins.enumerate":
            call = call.args[0].value if call.args else cst.Name("none")
        if not isinstance(call, cst.Call) or not isinstance(target, (cst.Tuple, cst.List)):
            return frozenset()
        first = target.elements[0].value
        return frozenset((first.value,)) if isinstance(first, cst.Name) else frozenset()

    def _in_CompFor(self, clause: cst.CompFor, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        outer = self.module.parent(clause)
        while isinstance(outer, cst.CompFor):
            outer = self.module.parent(outer)
        if outer is None or isinstance(outer, cst.SetComp):
            return
        counted = self._positions(node, clause.target)
        made = (outer.key, outer.value) if isinstance(outer, cst.DictComp) else (outer.elt,)  # type: ignore[attr-defined]
        names = {
            each.value
            for part in made
            for each in self.module.tree.descendants(part)
            if isinstance(each, cst.Name)
        }
        if names & counted:
            yield Use(outer, "numbered by enumerate()", value)
        elif isinstance(outer, cst.DictComp):
            yield from self.follow(outer, value, keyed=True)
        elif names:
            yield from self.follow(outer, value)

    # Operators

    def _in_ComparisonTarget(self, target: cst.ComparisonTarget, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if isinstance(target.operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot)) or keyed:
            return
        comparison = self.module.parent(target)
        if isinstance(comparison, cst.Comparison) and not _has_one_order(comparison.left):
            yield Use(comparison, "compared", value)

    def _in_Comparison(self, comparison: cst.Comparison, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        first = comparison.comparisons[0]
        identity = isinstance(first.operator, (cst.Is, cst.IsNot))
        if not (keyed or identity or _has_one_order(first.comparator)):
            yield Use(comparison, "compared", value)

    def _in_BooleanOperation(self, operation: cst.BooleanOperation, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if not self.only_tested(operation):
            yield from self.follow(operation, value, keyed=keyed)

    def _in_IfExp(self, choice: cst.IfExp, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if choice.test is not node:
            yield from self.follow(choice, value, keyed=keyed)

    def _in_BinaryOperation(self, operation: cst.BinaryOperation, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        yield from self.follow(operation, value)

    _in_FormattedString = _in_BinaryOperation

    def _in_Await(self, node: cst.Await, below: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        yield from self.follow(node, value, keyed=keyed)

    def _in_FormattedStringExpression(self, part: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        text = self.module.parent(part)
        if text is not None:
            yield from self.follow(text, value)

    def _in_Subscript(self, subscript: cst.Subscript, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if subscript.value is not node or keyed:
            return
        index = subscript.slice[0].slice
        parent = self.module.parent(subscript)
        if isinstance(parent, cst.AssignTarget):
            return
        if isinstance(index, cst.Slice):
            if index.lower is index.upper is None and index.step is None:
                yield from self.follow(subscript, value)
            else:
                yield Use(subscript, "sliced", value)
        elif not self._holds_one(node):
            yield Use(subscript, "indexed", value)

    def _in_Attribute(self, attribute: cst.Attribute, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        method = attribute.attr.value
        if method in reductions.UNORDERED_READS or (keyed and method in reductions.KEYED_READS):
            return
        call = self.module.parent(attribute)
        if isinstance(call, cst.Call) and method in ("copy", "keys", "values", "items", "tolist"):
            yield from self.follow(call, value, keyed=keyed and method == "copy")
        elif method != "pop" or not self._holds_one(node):
            yield Use(attribute, f"asked for .{method}", value)

    # Statements

    def _in_Assign(self, statement: cst.Assign, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        for target in statement.targets:
            yield from self._into(target.target, statement, value, keyed)

    def _in_AnnAssign(self, statement: cst.AnnAssign, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        yield from self._into(statement.target, statement, value, keyed)

    def _in_NamedExpr(self, node: cst.NamedExpr, below: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        yield from self._into(node.target, node, value, keyed)
        yield from self.follow(node, value, keyed=keyed)

    def _in_AugAssign(self, statement: cst.AugAssign, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if isinstance(statement.operator, cst.AddAssign):
            yield from self._into_container(statement.target, statement, value)

    def _in_WithItem(self, item: cst.WithItem, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        statement = self.module.parent(item)
        if item.asname is not None and isinstance(item.asname.name, cst.Name) and statement:
            yield from self.follow_name(item.asname.name, statement)

    def _in_Return(self, statement: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if not keyed:
            yield Use(statement, "returned", value)

    _in_Lambda = _in_Return

    def _in_Yield(self, statement: cst.CSTNode, node: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        if not keyed:
            yield Use(statement, "yielded", value)

    _in_From = _in_Yield

    def _into(self, target: cst.CSTNode, statement: cst.CSTNode, value: cst.CSTNode, keyed: bool) -> Iterator[Use]:
        """The uses of what a statement assigns."""
        if isinstance(target, cst.Name):
            yield from self.follow_name(target, statement, keyed=keyed)
        elif isinstance(target, (cst.Tuple, cst.List)):
            if len(target.elements) > 1:
                yield Use(statement, "unpacked", value)
        elif isinstance(target, cst.Subscript) and isinstance(target.slice[0].slice, cst.Slice):
            yield from self._into_container(target.value, statement, value)
        elif not keyed and not self.sorted_later(target):
            yield Use(statement, f"assigned to {describe(target)}", value)

    def follow_name(
        self,
        name: cst.Name,
        statement: cst.CSTNode,
        *,
        keyed: bool = False,
        value: cst.CSTNode | None = None,
    ) -> Iterator[Use]:
        """The uses of a variable's order, from a statement on until it is sorted."""
        scope = self.reads.home(name)
        if scope is None or isinstance(scope.node, cst.ClassDef):
            if not keyed:
                yield Use(statement, f"assigned to {name.value}", value or name)
            return
        reads = list(self.reads.reached(name, statement))
        if isinstance(scope.node, cst.Module):
            # Functions may be cut from the region, so only module-level code is judged.
            inside = self.module.enclosing_function
            reads = [read for read in reads if inside(read) is None]
            if not reads and not keyed:
                yield Use(statement, f"assigned to {name.value}", value or name)
        elif self._is_parameter(scope.bindings[name.value]) and value is not None:
            if not keyed and not self.sorted_later(name):
                yield Use(statement, f"added to {name.value}", value)
        for read in reads:
            if self._sorts(read):
                return
            yield from self.follow(read, read if value is None else value, keyed=keyed)

    @staticmethod
    def _is_parameter(bindings: list) -> bool:  # type: ignore[type-arg]
        return len(bindings) == 1 and bindings[0].kind == "parameter"

    def _sorts(self, read: cst.CSTNode) -> bool:
        """``x.sort()``, or ``x = sorted(x)`` in any branch."""
        parent = self.module.parent(read)
        if isinstance(parent, cst.Attribute):
            return parent.value is read and bool(reductions.SORTING.search(parent.attr.value))
        if not isinstance(parent, cst.Arg):
            return False
        call = self.module.parent(parent)
        if not isinstance(call, cst.Call) or not reductions.SORTING.search(call_word(call)):
            return False
        statement = self.module.parent(call)
        name = dotted(read)
        if isinstance(statement, cst.Expr):  # natsort in place, np.random.Generator…
            return True
        return isinstance(statement, cst.Assign) and any(
            _assigned_name(target.target) == name for target in statement.targets
        )

    def sorted_later(self, target: cst.CSTNode) -> bool:
        """Whether the function sorts an attribute or element that it assigns."""
        around = self.module.enclosing_function(target) or self.module.tree.module
        return any(
            type(each) is type(target) and self._sorts(each) and each.deep_equals(target)
            for each in self.module.tree.descendants(around)
        )

    # Tests

    def is_diagnostic(self, node: cst.CSTNode) -> bool:
        """Whether a value only shows in the text of an error, an assertion or a log."""
        below = node
        for each in self.module.ancestors(node):
            if isinstance(each, cst.Raise):
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
        return reductions.is_log(self.module.called(call), receiver, call_word(call))

    def only_tested(self, node: cst.CSTNode) -> bool:
        """Whether only the truth of a value, or its being None, is asked for."""
        parent = self.module.parent(node)
        if isinstance(parent, (cst.If, cst.While, cst.Assert, cst.IfExp)):
            return parent.test is node
        if isinstance(parent, (cst.Expr, cst.CompIf)):
            return True
        if isinstance(parent, cst.UnaryOperation):
            return isinstance(parent.operator, cst.Not)
        if isinstance(parent, cst.BooleanOperation):
            return self.only_tested(parent)
        if isinstance(parent, cst.Comparison):
            other = parent.comparisons[0].comparator
            return isinstance(other, cst.Name) and other.value == "None"
        if isinstance(parent, cst.Arg):
            call = self.module.parent(parent)
            asserted = isinstance(call, cst.Call) and call_word(call) in (
                "bool assertTrue assertFalse assertIsNone assertIsNotNone".split()
            )
            return asserted and self.module.parent(parent) is not None
        if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
            reads = list(self.reads.reached(parent.targets[0].target, parent))
            return bool(reads) and all(self.only_tested(read) for read in reads)
        return False

    def _holds_one(self, node: cst.CSTNode) -> bool:
        """Whether a local is known to hold one element where it is read."""
        while isinstance(node, cst.Call) and node.args:  # next(iter(x))
            node = node.args[0].value
        if not isinstance(node, cst.Name):
            return False
        return any(self._checks_one(load, node) for load in self.reads.loads(node))

    def _checks_one(self, load: cst.Name, read: cst.CSTNode) -> bool:
        """Whether ``len(load)`` is compared to 1 so that ``read`` sees no other length."""
        arg = self.module.parent(load)
        length = self.module.parent(arg) if isinstance(arg, cst.Arg) else None
        if self.module.called(length) != "builtins.len" or length is None:
            return False
        above = self.module.parent(length)
        if isinstance(above, cst.Arg):
            call = self.module.parent(above)
            named = isinstance(call, cst.Call) and call_word(call).lower() in (
                "assertequal",
                "assert_equal",
            )
            return named and any(self.module.literal(a.value) == 1 for a in call.args)  # type: ignore[union-attr]
        comparison = self.module.parent(above) if isinstance(above, cst.ComparisonTarget) else above
        if not isinstance(comparison, cst.Comparison):
            return False
        first = comparison.comparisons[0]
        if 1 not in (self.module.literal(first.comparator), self.module.literal(comparison.left)):
            return False
        return self._guards(comparison, first.operator, read)

    def _guards(self, test: cst.Comparison, operator: cst.CSTNode, read: cst.CSTNode) -> bool:
        for each in self.module.ancestors(test):
            if isinstance(each, cst.Assert):
                return isinstance(operator, cst.Equal)
            if isinstance(each, (cst.If, cst.IfExp)):
                branch = each.body
                within = branch is read or branch in self.module.ancestors(read)
                if isinstance(operator, cst.Equal):
                    return within
                leaves = isinstance(branch, cst.IndentedBlock) and _leaves(branch)
                other = each.orelse is not None and each.orelse in [read, *self.module.ancestors(read)]
                rejects = isinstance(operator, (cst.NotEqual, cst.GreaterThan))
                return rejects and not within and (leaves or other)
            if isinstance(each, cst.BaseStatement):
                return False
        return False


def _dropping() -> tuple[type[cst.CSTNode], ...]:
    """Nodes that use no order of what stands directly in them."""
    return (
        cst.Expr,
        cst.If,
        cst.While,
        cst.Assert,
        cst.UnaryOperation,
        cst.CompIf,
        cst.Raise,
        cst.Annotation,
        cst.AugAssign,
        cst.Del,
        cst.AssignTarget,
        cst.Index,
        cst.For,
    )


def call_word(call: cst.Call) -> str:
    """The last word of what is called: ``x.y.sort()`` → ``sort``."""
    func = call.func
    if isinstance(func, cst.Attribute):
        return func.attr.value
    return func.value if isinstance(func, cst.Name) else ""


def describe(target: cst.CSTNode) -> str:
    """A target as a message names it."""
    if isinstance(target, cst.Subscript):
        return f"{describe(target.value)}[…]"
    return dotted(target) or "a target"


def _assigned_name(target: cst.CSTNode) -> str | None:
    return dotted(target.value if isinstance(target, cst.Subscript) else target)


def _has_one_order(node: cst.CSTNode) -> bool:
    """``[]``, ``["only"]`` and anything that is not a sequence."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return len(node.elements) < 2
    return isinstance(node, (cst.Set, cst.SimpleString, cst.Integer)) or (
        isinstance(node, cst.Name) and node.value == "None"
    )


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
