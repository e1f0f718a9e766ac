"""Lists with one element for each element of another collection, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.conditions import Conditions
    from detlint.analysis.reads import Reads
    from detlint.module import Module

_COPYING = ("numpy.array", "numpy.asarray", "builtins.list", "builtins.tuple", "torch.tensor")


class Parallels:
    """``parts = [part(x) for x in names]``, then ``for i, x in enumerate(names): parts[i]``."""

    def __init__(self, module: Module, reads: Reads, conditions: Conditions) -> None:
        self._module = module
        self._reads = reads
        self._conditions = conditions

    def only_index(self, counter: cst.CSTNode, loop: cst.For) -> bool:
        """Whether a loop over ``enumerate(x)`` reads its counter in no place but ``parts[i]``."""
        if not isinstance(counter, cst.Name):
            return False
        reads = [
            each for each in self._reads.loads(counter) if loop in self._module.ancestors(each)
        ]
        return bool(reads) and all(self.follows(self._indexed_by(each)) for each in reads)

    def follows(self, subscript: cst.CSTNode | None) -> bool:
        """Whether ``parts[i]`` is what belongs to the element that a loop is at."""
        if not isinstance(subscript, cst.Subscript) or not isinstance(subscript.value, cst.Name):
            return False
        index = subscript.slice[0].slice
        if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Name):
            return False
        source = self._enumerated(index.value)
        return source is not None and self.is_made_of(subscript.value, source)

    def counted_loop(self, subscript: cst.Subscript) -> cst.For | None:
        """``for i in range(len(names))`` around ``names[i]``, with no other use of ``i``, logs
        aside."""
        index = subscript.slice[0].slice
        counter = index.value if isinstance(index, cst.Index) else None
        if not isinstance(counter, cst.Name):
            return None
        around = (each for each in self._module.ancestors(subscript) if isinstance(each, cst.For))
        loop = next((each for each in around if each.target.deep_equals(counter)), None)
        counts = self._counts(loop.iter, subscript.value) if loop is not None else False
        if loop is None or not counts:
            return None
        reads = (
            each for each in self._reads.loads(counter) if loop in self._module.ancestors(each)
        )
        quiet = self._conditions.is_diagnostic
        used = [self._indexed_by(each) for each in reads if not quiet(each)]
        same = (isinstance(x, cst.Subscript) and x.value.deep_equals(subscript.value) for x in used)
        return loop if all(same) else None

    def _counts(self, node: cst.CSTNode, of: cst.CSTNode) -> bool:
        """``range(len(names))``, ``range(0, len(names))``, ``trange(len(names))``."""
        if isinstance(node, cst.Call) and node.args and not self._is_range(node):
            node = node.args[0].value  # tqdm(range(len(names)))
        if not isinstance(node, cst.Call) or not self._is_range(node):
            return False
        given = [each.value for each in node.args if each.keyword is None]
        end = self._module.names.value_of(given[-1]) if given else None  # n = len(names)
        length = end.args[0].value if isinstance(end, cst.Call) and end.args else None
        starts = len(given) == 1 or (bool(given) and self._module.literal(given[0]) == 0)
        named = self._module.called(end) == "builtins.len" and len(given) < 3
        return named and starts and length is not None and length.deep_equals(of)

    def _is_range(self, call: cst.Call) -> bool:
        return self._module.called(call) == "builtins.range" or call_word(call) == "trange"

    def _indexed_by(self, name: cst.CSTNode) -> cst.CSTNode | None:
        index = self._module.parent(name)
        element = self._module.parent(index) if isinstance(index, cst.Index) else None
        return self._module.parent(element) if element is not None else None

    def _enumerated(self, counter: cst.Name) -> cst.Name | None:
        """The local that the nearest loop numbers with a counter."""
        for loop in self._module.ancestors(counter):
            if not isinstance(loop, cst.For) or not isinstance(loop.target, cst.Tuple):
                continue
            if not loop.target.elements[0].value.deep_equals(counter):
                continue
            call = loop.iter
            if isinstance(call, cst.Call) and self._module.called(call) == "builtins.enumerate":
                given = call.args[0].value if len(call.args) == 1 else None
                return given if isinstance(given, cst.Name) else None
        return None

    def is_made_of(self, parts: cst.Name, source: cst.Name) -> bool:
        """Whether a list has one element for each of another, in its order."""
        value = self._module.names.value_of(parts)
        if isinstance(value, cst.Call) and self._module.called(value) in _COPYING and value.args:
            value = value.args[0].value
        if isinstance(value, cst.ListComp):
            clause = value.for_in
            plain = not clause.ifs and clause.inner_for_in is None
            return plain and self._is_same(clause.iter, source)
        if not isinstance(value, cst.List) or value.elements:
            return False
        fills, others = list(self._fills(parts)), list(self._fills(source))
        loops = [
            x for each in fills for x in self._module.ancestors(each) if isinstance(x, cst.For)
        ]
        if len(fills) != 1 or not loops:
            return False
        return self._is_same(loops[0].iter, source) or self._stand_together(fills, others)

    def _fills(self, parts: cst.Name) -> Iterator[cst.Name]:
        """``parts.append(x)``."""
        for load in self._reads.loads(parts):
            above = self._module.parent(load)
            if isinstance(above, cst.Attribute) and above.attr.value in ("append", "extend"):
                yield load

    def _stand_together(self, fills: list[cst.Name], others: list[cst.Name]) -> bool:
        """``names.append(x)`` and ``parts.append(y)`` in one block."""
        if len(others) != 1:
            return False
        blocks = [
            next(x for x in self._module.ancestors(each) if isinstance(x, cst.BaseSuite))
            for each in (*fills, *others)
        ]
        return blocks[0] is blocks[1]

    def _is_same(self, node: cst.CSTNode, source: cst.Name) -> bool:
        same = isinstance(node, cst.Name) and node.value == source.value
        return same and self._reads.reaching(node) == self._reads.reaching(source)  # type: ignore[arg-type]
