"""Lists of Triton's configurations that a function fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.triton_names import CONFIG, called
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.kernel_configurations import Configurations
    from detlint.module import Module


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
            and all(called(self._module, call.args[0].value) in CONFIG for call in calls)
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
