"""Random draws in the functions of a file that a body calls, and in those that these call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definitions, is_plain
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.conditions import Conditions
    from detlint.analysis.definitions import Definition
    from detlint.analysis.reads import Reads
    from detlint.module import Module

_DEPTH = 4
_RANDOM = re.compile(r"\brandom\b|\bsecrets\b|\btorch\.(?:rand|bernoulli|normal)")


class NestedDraws:
    """Answers for one file."""

    def __init__(self, reads: type[Reads], conditions: type[Conditions]) -> None:
        self._reads = reads
        self._conditions = conditions
        self._seen: set[int] = set()

    def are_below(self, module: Module, body: cst.CSTNode, depth: int = _DEPTH) -> bool:
        """Whether a function that a body calls draws, or one that it calls in turn."""
        if not depth or _RANDOM.search(module.source.text) is None:
            return False
        found = [each for each in self._called(module, body) if each.offset not in self._seen]
        self._seen.update(each.offset for each in found)
        return any(self._draws(each) for each in found) or any(
            self.are_below(each.module, each.node.body, depth - 1)
            for each in found
            if not self._seeds(each)
        )

    def _called(self, module: Module, body: cst.CSTNode) -> Iterator[Definition]:
        definitions = Definitions(module)
        for each in module.tree.descendants(body):
            found = definitions.of(each.func) if isinstance(each, cst.Call) else None
            if found is not None and is_plain(found.node):
                yield found

    def _conditions_of(self, definition: Definition) -> Conditions:
        return self._conditions(definition.module, self._reads(definition.module))

    def _draws(self, definition: Definition) -> bool:
        return self._conditions_of(definition).draws(definition.node.body)

    def _seeds(self, definition: Definition) -> bool:
        return self._conditions_of(definition).seeds(definition.node.body)
