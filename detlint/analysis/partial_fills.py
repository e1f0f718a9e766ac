"""Arrays that a loop fills row by row, which a ``continue`` or ``break`` can leave unwritten."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.flow import shared_names
from detlint.analysis.uses import Event, Uses, is_target, loads
from detlint.mentions import mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.analysis.uses import Vocabulary
    from detlint.module import Module

_BOUND = re.compile(r"[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\.)*$")
_LEAVES = re.compile(r"\b(?:continue|break)\b")
_REACH = 4000


class Partial(NamedTuple):
    """An array that may be returned partly unwritten."""

    allocation: cst.Call
    name: str
    skip: cst.Continue | cst.Break


def looks_partial(text: str, offset: int) -> bool:
    """Whether an array allocated at an offset may be one, as far as the text tells."""
    start = text.rfind("\n", 0, offset) + 1
    bound = _BOUND.match(text[start:offset])
    if bound is None:
        return False
    below = text[offset : offset + _REACH]
    returned = next((at for at in mentions(below, "return") if _names(below, at, bound[1])), None)
    return returned is not None and _LEAVES.search(below, 0, returned) is not None


def _names(text: str, statement: int, name: str) -> bool:
    end = text.find("\n", statement)
    return bool(mentions(text, name, statement, end if end >= 0 else None))


class PartialFills:
    """Looks for them in the functions of one module."""

    def __init__(
        self,
        module: Module,
        vocabulary: Vocabulary,
        is_allocation: Callable[[Module, cst.Call], bool],
    ) -> None:
        self._module = module
        self._uses = Uses(module, vocabulary)
        self._is_allocation = is_allocation

    def found(self, call: cst.Call) -> Partial | None:
        """What an allocation is, if a loop certainly can leave it partly unwritten."""
        statement = self._module.parent(call)
        function = self._module.enclosing_function(call)
        if not isinstance(statement, cst.Assign) or not isinstance(function, cst.FunctionDef):
            return None
        target = statement.targets[0].target
        if len(statement.targets) > 1 or not isinstance(target, cst.Name):
            return None
        shared = set(shared_names(self._module, function))
        if target.value in shared or not self._is_allocation(self._module, call):
            return None
        write = self._only_write(function, target)
        loop = self._loop(write, statement) if write is not None else None
        if write is None or loop is None:
            return None
        skip = next(self._skips(loop, write), None)
        if skip is None or not self._is_returned(function, target.value, loop):
            return None
        return Partial(call, target.value, skip)

    def _only_write(self, function: cst.FunctionDef, target: cst.Name) -> cst.Subscript | None:
        """The one place that writes to the array; None if there are others, or unknown uses."""
        writes = []
        for use in loads(self._module, function):
            if use.value != target.value or use is target:
                continue
            parent = self._module.parent(use)
            above = self._module.parent(parent) if parent is not None else None
            if isinstance(parent, cst.Subscript) and isinstance(above, cst.AssignTarget):
                writes.append(parent)
            elif is_target(self._module, use) or not self._is_known(use):
                return None
        return writes[0] if len(writes) == 1 else None

    def _is_known(self, use: cst.Name) -> bool:
        asked = self._uses.of(use).event is Event.PROPERTY
        return asked or self._return_around(use) is not None

    def _return_around(self, use: cst.CSTNode) -> cst.Return | None:
        """The ``return`` that a name stands in as a whole."""
        for above in self._module.ancestors(use):
            if isinstance(above, cst.Return):
                return above
            if isinstance(above, (cst.Subscript, cst.BaseStatement, cst.IfExp, cst.BaseComp)):
                return None
        return None

    def _loop(self, write: cst.Subscript, allocation: cst.CSTNode) -> cst.For | None:
        """The innermost loop around a write, if each of its rounds writes a place of its own."""
        line = self._module.parent(allocation)
        block = self._module.parent(line) if line is not None else None
        above = list(self._module.ancestors(write))
        if block not in above:
            return None
        inside = above[: above.index(block)]
        if any(isinstance(each, (cst.While, cst.With)) for each in inside):
            return None
        loops = [each for each in inside if isinstance(each, cst.For)]
        if not loops or loops[0].orelse is not None:
            return None
        names = {each.value for each in loads(self._module, loops[0].target)}
        return loops[0] if names & set(self._indices(write)) else None

    def _indices(self, write: cst.Subscript) -> Iterator[str]:
        """The names that are an index: ``i`` and ``j`` of ``x[i, :, j]``, not of ``x[i - 1]``."""
        for element in write.slice:
            index = element.slice
            value = index.value if isinstance(index, cst.Index) else None
            if isinstance(value, cst.Name):
                yield value.value

    def _skips(self, loop: cst.For, write: cst.Subscript) -> Iterator[cst.Continue | cst.Break]:
        """Where a round is left before it writes, or the loop before its last round."""
        above = set(self._module.ancestors(write))
        counters = set(self._indices(write))
        seen = False
        for node in self._module.tree.descendants(loop.body):
            seen = seen or node is write
            if not isinstance(node, (cst.Continue, cst.Break)) or self._owner(node) is not loop:
                continue
            if isinstance(node, cst.Break):
                if not counters & set(self._asked(node, loop)):
                    yield node
            elif not seen or self._handles_failure(node, above):
                yield node

    def _owner(self, node: cst.CSTNode) -> cst.CSTNode | None:
        loops = (cst.For, cst.While)
        return next(
            (each for each in self._module.ancestors(node) if isinstance(each, loops)), None
        )

    def _handles_failure(self, node: cst.CSTNode, above: set[cst.CSTNode]) -> bool:
        """Whether a round is left because what writes has failed."""
        for each in self._module.ancestors(node):
            if isinstance(each, cst.ExceptHandler):
                attempt = self._module.parent(each)
                return isinstance(attempt, cst.Try) and attempt.body in above
        return False

    def _asked(self, node: cst.CSTNode, loop: cst.For) -> Iterator[str]:
        """The names that conditions around a node ask about."""
        for above in self._module.ancestors(node):
            if above is loop:
                return
            if isinstance(above, cst.If):
                yield from (each.value for each in loads(self._module, above.test))

    def _is_returned(self, function: cst.FunctionDef, name: str, loop: cst.For) -> bool:
        """Whether the array is returned after the loop, and nothing tells what was written."""
        changed = set(self._changed(loop))
        for use in loads(self._module, function):
            around = self._return_around(use) if use.value == name else None
            if around is None or loop in set(self._module.ancestors(around)):
                continue
            others = {each.value for each in loads(self._module, around)} - {name}
            if not others & changed:
                return True
        return False

    def _changed(self, loop: cst.For) -> Iterator[str]:
        """The names that the loop binds, counts up or stores to, or whose methods it calls."""
        yield from (each.value for each in loads(self._module, loop.target))
        for node in self._module.tree.descendants(loop.body):
            if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign)):
                yield from (each.value for each in loads(self._module, node.target))
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                yield from (each.value for each in loads(self._module, node.func.value))
