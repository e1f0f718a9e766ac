"""Whether what a loop does depends on the order of its elements.

A body is free of order if all that it does is done to each element by itself
(delete, move, copy, write its own file), commutes (add to a set, count, take a
maximum), or says the same whichever element comes first (``return True``). Lists and
dicts that it fills, and locals that outlive it, are left to the caller to follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint import reductions
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.consumption import Consumption

# Receivers whose `add` or `update` is not a set's.
_ORDERED_ADD = ("tarfile.", "hashlib.", "zlib.", "xxhash.", "blake3.")
_QUIET_MODULES = ("os.", "builtins.", "re.", "json.", "pathlib.", "shutil.", "time.", "datetime.")


class LoopBody:
    """One ``for`` loop over elements in no fixed order.

    containers  lists and dicts that the body fills: (name, loop, whether by key)
    kept        locals that the body binds to an element: (name, statement)
    """

    def __init__(
        self, consumption: Consumption, loop: cst.For, *, positions: frozenset[str]
    ) -> None:
        self._consumption = consumption
        self._module = consumption.module
        self._loop = loop
        self._positions = set(positions)
        self._tainted = set(self._names(loop.target)) | self._positions
        self._constants: dict[str, set[str]] = {}
        self._effects = 0
        self._strange_calls = 0
        self._stops = _breaks(loop)
        self.containers: list[tuple[cst.Name, cst.CSTNode, bool]] = []
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
        self._positions.update(self._counters(below))
        self._tainted |= self._positions
        if self._any(self._loop.body):
            return True
        if any(len(values) > 1 for values in self._constants.values()):
            return True
        return bool(self._strange_calls) and not self._effects

    # Names

    def _names(self, node: cst.CSTNode) -> Iterator[str]:
        is_label = self._consumption.reads.is_label
        for each in self._module.tree.descendants(node):
            if isinstance(each, cst.Name) and not is_label(each):
                yield each.value

    def _varies(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression depends on the element."""
        return node is not None and not self._tainted.isdisjoint(self._names(node))

    def _counts(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression depends on how many elements came before."""
        return node is not None and not self._positions.isdisjoint(self._names(node))

    def _counters(self, below: Sequence[cst.CSTNode]) -> Iterator[str]:
        """Locals that the body counts up and reads, logs aside."""
        for each in below:
            if isinstance(each, cst.AugAssign) and isinstance(each.target, cst.Name):
                name = each.target
                reads = [
                    load
                    for load in self._consumption.reads.loads(name)
                    if load is not name
                    and self._loop in self._module.ancestors(load)
                    and each not in self._module.ancestors(load)
                    and not self._consumption.is_diagnostic(load)
                ]
                if reads and self._is_integer(each.value):
                    yield name.value

    def _is_integer(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, (cst.Integer, cst.Comparison)):
            return True
        if isinstance(node, cst.Attribute):
            return node.attr.value in ("st_size", "size")
        if isinstance(node, cst.Call):
            if self._module.called(node) == "builtins.sum" and node.args:
                element = getattr(node.args[0].value, "elt", None)
                return element is not None and self._is_integer(element)
            return self._module.called(node) in reductions.INTEGERS
        return False

    # Statements: each answers whether the order of the elements shows in it

    def _any(self, block: cst.BaseSuite) -> bool:
        return any([self._statement(each) for each in block.body])

    def _statement(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.SimpleStatementLine):
            return any([self._statement(each) for each in node.body])
        handler = getattr(self, f"_on_{type(node).__name__}", None)
        if handler is not None:
            return bool(handler(node))
        quiet = (
            cst.Pass, cst.Continue, cst.Break, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal
        )
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return self._varies(node)
        return not isinstance(node, quiet)

    def _on_If(self, node: cst.If) -> bool:
        if self._is_unique_match(node.test):
            self._effects += 1
            return False
        if self._counts(node.test):
            before = self._effects, len(self.kept)
            return self._any(node.body) or self._stops or before != (self._effects, len(self.kept))
        if self._keeps_best(node):
            self._effects += 1
            return False
        below = self._any(node.body)
        other = node.orelse
        if isinstance(other, cst.If):
            return self._on_If(other) or below
        return (other is not None and self._any(other.body)) or below

    def _on_While(self, node: cst.While) -> bool:
        return self._any(node.body)

    def _on_For(self, node: cst.For) -> bool:
        if self._varies(node.iter):
            self._tainted.update(self._names(node.target))
        return self._any(node.body)

    def _on_With(self, node: cst.With) -> bool:
        for item in node.items:
            if item.asname is not None and self._varies(item.item):
                self._tainted.update(self._names(item.asname.name))
        return self._any(node.body)

    def _on_Try(self, node: cst.Try) -> bool:
        parts = [node.body, *(each.body for each in node.handlers)]
        parts += [each.body for each in (node.orelse, node.finalbody) if each is not None]
        return any([self._any(part) for part in parts])

    def _on_Raise(self, _: cst.CSTNode) -> bool:
        self._effects += 1
        return False

    _on_Assert = _on_Raise

    def _on_Del(self, _: cst.CSTNode) -> bool:
        self._effects += 1
        return False

    def _on_Return(self, node: cst.Return) -> bool:
        self._effects += 1
        if self._varies(node.value):
            return True
        self._record("return", node.value)
        return False

    def _on_AnnAssign(self, node: cst.AnnAssign) -> bool:
        return node.value is not None and self._assign(node.target, node.value, node)

    def _on_Assign(self, node: cst.Assign) -> bool:
        return any([self._assign(each.target, node.value, node) for each in node.targets])

    def _on_AugAssign(self, node: cst.AugAssign) -> bool:
        self._effects += 1
        commutes = isinstance(node.operator, (cst.BitOrAssign, cst.BitAndAssign))
        if commutes or self._is_integer(node.value):
            return self._counts(node.value) or self._counts_in_key(node.target)
        if isinstance(node.target, cst.Name):
            if isinstance(node.operator, cst.AddAssign):
                self._fill(node.target, keyed=False)
                return self._stops
            return self._varies(node.value)
        return self._changes(node.target, node.value)

    def _on_Expr(self, node: cst.Expr) -> bool:
        value = node.value.expression if isinstance(node.value, cst.Await) else node.value
        return isinstance(value, cst.Call) and self._call(value)

    # Assignments

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        if isinstance(target, (cst.Tuple, cst.List)):
            return any([self._assign(each.value, value, node) for each in target.elements])
        if isinstance(target, cst.Name):
            self._bind(target, value, node)
            return False
        if isinstance(target, cst.Subscript) and self._varies(target.value):
            return False  # the element's own
        self._effects += 1
        if isinstance(target, cst.Subscript):
            if self._counts(target) or self._counts(value):
                return True
            if not self._varies(target.slice[0]):
                return self._varies(value)
            if isinstance(target.value, cst.Name):
                self._fill(target.value, keyed=True)
            return self._stops
        return self._changes(target, value)

    def _bind(self, target: cst.Name, value: cst.BaseExpression, node: cst.CSTNode) -> None:
        called = self._module.called(value)
        if called in ("builtins.max", "builtins.min") and target.value in self._names(value):
            self._effects += 1
        elif self._varies(value) or target.value in self._names(value):
            if self._counts(value):
                self._positions.add(target.value)
            self._tainted.add(target.value)
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
        return not (isinstance(node.func, cst.Attribute) and self._varies(node.func.value))

    def _record(self, name: str, value: cst.BaseExpression | None) -> None:
        code = self._module.tree.module.code_for_node(value) if value is not None else "None"
        self._constants.setdefault(name, set()).add(code)

    def _changes(self, target: cst.CSTNode, value: cst.CSTNode) -> bool:
        return not self._varies(getattr(target, "value", None)) and self._varies(value)

    def _counts_in_key(self, target: cst.CSTNode) -> bool:
        return isinstance(target, cst.Subscript) and self._counts(target.slice[0])

    def _fill(self, container: cst.Name, *, keyed: bool) -> None:
        self.containers.append((container, self._loop, keyed))

    # Calls

    def _call(self, call: cst.Call) -> bool:
        from detlint.consumption import call_word

        if self._consumption.is_log(call):
            return False
        name, word = self._module.called(call), call_word(call)
        if name in reductions.FILE_OPERATIONS or reductions.FILE_WORDS.search(word):
            self._effects += 1
            return self._stops or self._counts(call)
        if name in reductions.FILE_WRITERS and any(self._varies(arg.value) for arg in call.args):
            self._effects += 1
            return self._stops or self._counts(call)
        if isinstance(call.func, cst.Attribute):
            return self._method(call, call.func.value, word)
        return True

    def _method(self, call: cst.Call, receiver: cst.BaseExpression, word: str) -> bool:
        if word.startswith("assert"):
            self._effects += 1
            return self._counts(call)
        if not any(self._varies(arg.value) for arg in call.args) and word in (
            "append add update extend write".split()
        ):
            return False  # the same for every element
        if word in ("add", "discard", "remove", "update"):
            self._effects += 1
            return self._stops or not self._is_set(receiver, word)
        if word in ("append", "extend", "appendleft", "extendleft"):
            self._effects += 1
            return self._extends(receiver, call)
        if word in reductions.ELEMENT_METHODS and self._varies(receiver):
            self._effects += 1
            return self._stops or self._counts(call)
        return True

    def _is_set(self, receiver: cst.BaseExpression, word: str) -> bool:
        """Whether ``add`` and ``update`` go to a set; an unknown receiver's ``add`` does."""
        if not isinstance(receiver, cst.Name):
            return word != "update"
        value = self._module.names.value_of(receiver)
        if isinstance(value, (cst.Set, cst.SetComp)):
            return True
        made = self._module.instance_of(receiver)
        if made in ("builtins.set", "collections.Counter", "builtins.frozenset"):
            return True
        return word != "update" and not (made or "").startswith(_ORDERED_ADD)

    def _extends(self, receiver: cst.BaseExpression, call: cst.Call) -> bool:
        if self._counts(call) or self._stops:
            return True
        if self._varies(receiver):  # a list of its own, or groups[key].append
            return isinstance(receiver, cst.Subscript) and not self._varies(receiver.value)
        if isinstance(receiver, cst.Name):
            self._fill(receiver, keyed=False)
            return False
        return not self._consumption.sorted_later(receiver)

    # Tests

    def _is_unique_match(self, test: cst.BaseExpression) -> bool:
        """``f == "config.json"``, ``f.name == …``: names in one folder are unique."""
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return False
        first = test.comparisons[0]
        sides = [test.left, first.comparator]
        if not isinstance(first.operator, cst.Equal) or not isinstance(self._loop.target, cst.Name):
            return False
        element = self._loop.target.value
        return {dotted(side) for side in sides} & {element, f"{element}.name"} != set() and not all(
            self._varies(side) for side in sides
        )

    def _keeps_best(self, node: cst.If) -> bool:
        """``if step > best: best = step`` keeps a maximum, with what belongs to it."""
        test = node.test
        tests = [test.left, test.right] if isinstance(test, cst.BooleanOperation) else [test]
        for each in tests:
            if isinstance(each, cst.Comparison) and isinstance(
                each.comparisons[0].operator,
                (cst.GreaterThan, cst.LessThan, cst.GreaterThanEqual, cst.LessThanEqual),
            ):
                pair = {_code(each.left), _code(each.comparisons[0].comparator)}
                if any({_code(t), _code(v)} == pair for t, v in self._assignments(node.body)):
                    return node.orelse is None
        return False

    def _assignments(self, block: cst.BaseSuite) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        for each in self._module.tree.descendants(block):
            if isinstance(each, cst.Assign):
                target = each.targets[0].target
                if isinstance(target, cst.Tuple) and isinstance(each.value, cst.Tuple):
                    for left, right in zip(target.elements, each.value.elements, strict=False):
                        yield left.value, right.value
                else:
                    yield target, each.value


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def _breaks(loop: cst.For) -> bool:
    """Whether a loop has a ``break`` of its own."""
    stack: list[cst.CSTNode] = [loop.body]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Break):
            return True
        if not isinstance(node, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)):
            stack.extend(node.children)
    return False
