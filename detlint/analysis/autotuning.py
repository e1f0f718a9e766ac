"""Triton kernels tuned by timing: among how many configurations, and whether they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.definitions import Definition, Definitions
from detlint.analysis.kernel_sums import Sums, is_whole
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.module import Module

AUTOTUNE = frozenset(
    {
        "triton.autotune",
        "triton.runtime.autotune",
        "triton.runtime.autotuner.autotune",
        "triton.runtime.autotuner.Autotuner",
    }
)
_CONFIG = frozenset({"triton.Config", "triton.runtime.Config", "triton.runtime.autotuner.Config"})
_LANGUAGE = "triton.language."
# What rounds differently with another number of warps; a dot only with another size of blocks.
_ACROSS_WARPS = frozenset(
    {"sum", "reduce", "cumsum", "cumprod", "associative_scan", "softmax"} | {"atomic_add"}
)
_BY_BLOCKS = frozenset({"dot", "dot_scaled"})
_WARPS = "num_warps"
_VALUES = (bool, int, float, str, type(None))
_COPIES = frozenset({"builtins.list", "builtins.tuple"})


def called(module: Module, node: cst.CSTNode | None) -> str | None:
    """The function that a call calls, also where a package hands triton on:
    ``from vllm.triton_utils import tl, triton``."""
    name = module.called(node)
    if name is None or name.startswith("triton."):
        return name
    _, handed_on, rest = name.rpartition(".triton.")
    if handed_on:
        return f"triton.{rest}"
    _, handed_on, rest = name.rpartition(".tl.")
    return f"{_LANGUAGE}{rest}" if handed_on else name


class Operation(NamedTuple):
    """A call of triton's language in a kernel, ``depth`` calls below the one that is tuned."""

    name: str
    call: cst.Call
    kernel: cst.FunctionDef
    module: Module
    depth: int


class Configurations:
    """The configurations that a tuner is given; of several lists, the shortest or longest."""

    def __init__(self, module: Module, choose: Callable[[list[int]], int] = min) -> None:
        self._module = module
        self._choose = choose
        self._definitions = Definitions(module)

    def count(self, node: cst.CSTNode | None) -> int | None:
        """How many there are; None if that is not certain. Filters are taken to keep some."""
        if node is None:
            return None
        named, node = node, self._module.names.value_of(node)
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            listed = self._count_elements(node)
            if named is node or listed is None:
                return listed
            return self._with(listed, Filled(self._module, node).counts(self))
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self._count_rounds(node.for_in)
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
        if len(bindings) < 2 or any(each.kind != "value" for each in bindings):
            return None
        return self._chosen(self._count_bound(each.node) for each in bindings)

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
        return any(called(module, each) in _CONFIG for each in module.tree.descendants(scope))

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
            if isinstance(each, cst.Call) and called(self._module, each) in _CONFIG
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
            _WARPS: self._module.argument(config, _WARPS, 1)
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
            return called(self._module, node.elt) in _CONFIG
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            return all(called(self._module, each.value) in _CONFIG for each in node.elements)
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


class Filled:
    """A list that a function starts with and appends configurations to."""

    def __init__(self, module: Module, node: cst.CSTNode, *, branches: bool = True) -> None:
        self._module = module
        self._node = node
        self._branches = branches  # whether a statement in one may not run

    def counts(self, configurations: Configurations) -> Iterator[int | None]:
        """How many each of the statements adds."""
        for call in self._calls():
            loops: list[cst.For] = []
            optional = False
            for above in self._module.ancestors(call):
                if isinstance(above, (cst.FunctionDef, cst.Lambda)):
                    break
                if isinstance(above, cst.For):
                    loops.append(above)
                optional |= isinstance(above, (cst.If, cst.While, cst.Try))
            one = self._method(call) == "append"
            each = 1 if one else configurations.count(call.args[0].value)
            rounds = configurations.rounds(loops)
            added = None if each is None or rounds is None else each * rounds
            perhaps = optional and self._branches
            yield configurations.least_of_branch(added) if perhaps else added

    def are_seen(self) -> bool:
        """Whether it is an empty list to which configurations alone are appended."""
        calls = list(self._calls())
        return (
            isinstance(self._node, cst.List)
            and not self._node.elements
            and bool(calls)
            and all(called(self._module, call.args[0].value) in _CONFIG for call in calls)
        )

    @staticmethod
    def _method(call: cst.Call) -> str:
        return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""

    def _calls(self) -> Iterator[cst.Call]:
        assignment = self._module.parent(self._node)
        target = assignment.targets[0].target if isinstance(assignment, cst.Assign) else None
        if not isinstance(target, cst.Name):
            return
        function = self._module.enclosing_function(target)
        for each in self._module.tree.occurrences[target.value]:
            attribute = self._module.parent(each)
            call = self._module.parent(attribute) if attribute is not None else None
            if (
                isinstance(attribute, cst.Attribute)
                and attribute.value is each
                and isinstance(call, cst.Call)
                and attribute.attr.value in ("append", "extend")
                and call.args
                and self._module.enclosing_function(call) is function
            ):
                yield call


class Kernels:
    """What the kernels of a file do."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._definitions = Definitions(module)

    def add_up(self, kernel: cst.CSTNode | None, varied: frozenset[str] | None) -> bool:
        """Whether what a kernel gives depends on how its work is split.

        ``kernel`` is a function or a call that wraps one; ``varied`` are the parameters in which
        its configurations differ, None where they cannot be seen.
        """
        return any(self._adds_up(each, varied) for each in self._operations(kernel, 0))

    def _adds_up(self, found: Operation, varied: frozenset[str] | None) -> bool:
        if found.name in _ACROSS_WARPS:
            return varied != frozenset() and not is_whole(found.call)
        if found.name not in _BY_BLOCKS:
            return False
        if varied is None:
            return True
        blocks = varied - {_WARPS}
        if found.depth or not blocks:
            return bool(blocks)
        return Sums(found.module, found.kernel, blocks).split_differently(found.call)

    def _operations(self, kernel: cst.CSTNode | None, depth: int) -> Iterator[Operation]:
        """The functions of triton's language that a kernel, and what it calls here, uses."""
        while isinstance(kernel, cst.Call) and kernel.args:  # triton.heuristics(…)(kernel)
            kernel = kernel.args[0].value
            kernel = self._module.names.value_of(kernel)
        module: Module = self._module
        if isinstance(kernel, cst.Name):
            found = self._definitions.of(kernel)
            if found is None:
                return
            kernel, module = found.node, found.module
        if not isinstance(kernel, cst.FunctionDef) or depth > _DEEPEST:
            return
        kernels = self if module is self._module else Kernels(module)
        for each in module.tree.descendants(kernel.body):
            if isinstance(each, cst.Call):
                name = called(module, each)
                if name is not None:
                    yield Operation(name.removeprefix(_LANGUAGE), each, kernel, module, depth)
                elif isinstance(each.func, cst.Name):
                    yield from kernels._operations(each.func, depth + 1)  # noqa: SLF001


_DEEPEST = 2


def _returned(definition: Definition) -> Iterator[cst.BaseExpression]:
    module = definition.module
    for each in module.tree.descendants(definition.node):
        own = isinstance(each, cst.Return) and module.enclosing_function(each) is definition.node
        if isinstance(each, cst.Return) and own and each.value is not None:
            yield each.value
