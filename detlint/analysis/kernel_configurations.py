"""The configurations that a tuner of Triton kernels is given: how many, and what they vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definition, Definitions
from detlint.analysis.filled_lists import Filled
from detlint.analysis.triton_names import CONFIG, called
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.module import Module

WARPS = "num_warps"
_VALUES = (bool, int, float, str, type(None))
_COPIES = frozenset({"builtins.list", "builtins.tuple"})


class Configurations:
    """The configurations that a tuner is given; of several lists, the shortest or longest."""

    def __init__(self, module: Module, choose: Callable[[list[int]], int] = min) -> None:
        self._module = module
        self._choose = choose
        self._asked: list[str] = []
        self._definitions = Definitions(module)

    def count(self, node: cst.CSTNode | None) -> int | None:
        """How many there are; None if that is not certain. Filters are taken to keep some."""
        if node is None:
            return None
        named, node = node, self._module.names.value_of(node)
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            listed = self._count_elements(node)
            if named is not node and listed is not None:
                return self._with(listed, Filled(self._module, node).counts(self))
            return listed
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self._count_rounds(node.for_in)
        return self._count_made(node)

    def _count_made(self, node: cst.CSTNode) -> int | None:
        if isinstance(node, cst.Name):
            return self._count_either(node)
        if isinstance(node, cst.IfExp):
            return self._chosen(self.count(each) for each in (node.body, node.orelse))
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            left, right = self.count(node.left), self.count(node.right)
            return None if left is None or right is None else left + right
        return self._count_call(node) if isinstance(node, cst.Call) else None

    def _count_either(self, name: cst.Name) -> int | None:
        """What a name stands for that branches bind to different lists."""
        bindings = self._module.names.visible(name)
        unknown = len(bindings) < 2 or any(each.kind != "value" for each in bindings)
        if unknown or name.value in self._asked:  # ``configs = [c for c in configs if keep(c)]``
            return None
        self._asked.append(name.value)
        try:
            return self._chosen(self._count_bound(each.node) for each in bindings)
        finally:
            self._asked.pop()

    def _count_bound(self, node: cst.CSTNode | None) -> int | None:
        if isinstance(node, cst.List) and not node.elements:
            filled = Filled(self._module, node, branches=False)
            return self._with(0, filled.counts(self))
        return self.count(node) if not isinstance(node, cst.Name) else None

    @staticmethod
    def _with(listed: int, added: Iterator[int | None]) -> int | None:
        found = list(added)
        return None if None in found else listed + sum(each or 0 for each in found)

    def rounds(self, loops: Iterable[cst.For]) -> int | None:
        """How often what stands in some loops runs."""
        rounds = 1
        for loop in loops:
            each = self.count(loop.iter)
            if each is None:
                return None
            rounds *= each
        return rounds

    def least_of_branch(self, number: int | None) -> int | None:
        """What a branch adds that may not be taken."""
        return number if number is None else self._choose([0, number])

    def _count_elements(self, node: cst.List | cst.Tuple | cst.Set) -> int | None:
        total = 0
        for element in node.elements:
            starred = isinstance(element, cst.StarredElement)
            each = self.count(element.value) if starred else 1
            if each is None:
                return None
            total += each
        return total

    def _count_rounds(self, clause: cst.CompFor | None) -> int | None:
        rounds = 1
        while clause is not None:
            each = self.count(clause.iter)
            if each is None:
                return None
            rounds *= each
            clause = clause.inner_for_in
        return rounds

    def _count_call(self, call: cst.Call) -> int | None:
        name = self._module.called(call)
        values = [self._module.literal(argument.value) for argument in call.args]
        if name == "builtins.range":
            numbers = [each for each in values if isinstance(each, int)]
            return len(range(*numbers)) if len(numbers) == len(values) and numbers else None
        if name == "itertools.product":
            product = 1
            for argument in call.args:
                each = self.count(argument.value)
                if each is None or argument.keyword is not None:
                    return None
                product *= each
            return product
        if name in _COPIES and len(call.args) == 1:
            return self.count(call.args[0].value)
        if name == "builtins.filter" and len(call.args) == 2:
            return self.count(call.args[1].value)
        definition = self._definitions.of(call.func)
        return self._count_returned(definition) if definition is not None else None

    def _count_returned(self, definition: Definition) -> int | None:
        """What a function returns: one of its branches may leave nothing to tune."""
        inner = Configurations(definition.module, self._choose)
        return self._chosen(inner.count(value) for value in _returned(definition))

    def _chosen(self, counts: Iterator[int | None]) -> int | None:
        found = list(counts)
        known = [each for each in found if each is not None]
        return self._choose(known) if known and len(known) == len(found) else None

    def are_triton(self, node: cst.CSTNode) -> bool:
        """Whether configurations of Triton visibly stand in an expression or what it calls."""
        node = self._module.names.value_of(node)
        module, scope = self._module, node
        if isinstance(node, cst.Call):
            definition = self._definitions.of(node.func)
            if definition is not None:
                module, scope = definition.module, definition.node
        return any(called(module, each) in CONFIG for each in module.tree.descendants(scope))

    def varied(self, node: cst.CSTNode) -> frozenset[str] | None:
        """The parameters of a kernel, and ``num_warps``, in which they may differ.

        None where that cannot be seen. The number of stages changes no result.
        """
        node = self._module.names.value_of(node)
        if isinstance(node, cst.Call):
            definition = self._definitions.of(node.func)
            if definition is not None:
                return Configurations(definition.module)._varied_in(definition)  # noqa: SLF001
        return self._varied(node) if self._is_all(node) else None

    def _varied_in(self, definition: Definition) -> frozenset[str] | None:
        """The same of what a function returns, if all of that is made in it."""
        for value in _returned(definition):
            found = self._module.names.value_of(value)
            if not self._is_all(found) and not Filled(self._module, found).are_seen():
                return None
        return self._varied(definition.node)

    def _varied(self, node: cst.CSTNode) -> frozenset[str] | None:
        made = [
            each
            for each in self._module.tree.descendants(node)
            if isinstance(each, cst.Call) and called(self._module, each) in CONFIG
        ]
        values: dict[str, set[object]] = {}
        for config in made:
            given = self._given(config)
            if given is None:
                return None
            for name, each in given.items():
                value = self._only_value(each) if each is not None else None
                known = isinstance(value, _VALUES)
                values.setdefault(name, set()).add(repr(value) if known else each)
        if not made:
            return None
        return frozenset(
            name
            for name, found in values.items()
            if len(found) > 1 or not isinstance(next(iter(found)), str)
        )

    def _given(self, config: cst.Call) -> dict[str, cst.BaseExpression | None] | None:
        """What a configuration gives to each parameter; None where that cannot be seen."""
        given = self._module.argument(config, "kwargs", 0)
        if not isinstance(given, cst.Dict):
            return None
        found: dict[str, cst.BaseExpression | None] = {
            WARPS: self._module.argument(config, WARPS, 1)
        }
        for element in given.elements:
            if not isinstance(element, cst.DictElement):
                return None
            name = self._module.literal(element.key)
            if not isinstance(name, str):
                return None
            found[name] = element.value
        return found

    def _is_all(self, node: cst.CSTNode) -> bool:
        """Whether the configurations that stand in an expression are all that it yields."""
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return called(self._module, node.elt) in CONFIG
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            return all(called(self._module, each.value) in CONFIG for each in node.elements)
        return False

    def _only_value(self, node: cst.BaseExpression) -> object:
        """A literal, also the only one that a name of a comprehension takes."""
        value = self._module.literal(node)
        if isinstance(value, _VALUES) or not isinstance(node, cst.Name):
            return value
        for above in self._module.ancestors(node):
            if isinstance(above, cst.For) and isinstance(above.target, cst.Name):
                if above.target.value == node.value:
                    return _alone(self._module.literal(above.iter), value)
            elif isinstance(above, (cst.ListComp, cst.GeneratorExp)):
                clause: cst.CompFor | None = above.for_in
                while clause is not None:
                    if isinstance(clause.target, cst.Name) and clause.target.value == node.value:
                        return _alone(self._module.literal(clause.iter), value)
                    clause = clause.inner_for_in
        return value


def _alone(values: object, otherwise: object) -> object:
    return values[0] if isinstance(values, (list, tuple)) and len(values) == 1 else otherwise


def _returned(definition: Definition) -> Iterator[cst.BaseExpression]:
    module = definition.module
    for each in module.tree.descendants(definition.node):
        own = isinstance(each, cst.Return) and module.enclosing_function(each) is definition.node
        if isinstance(each, cst.Return) and own and each.value is not None:
            yield each.value
