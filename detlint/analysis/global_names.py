"""Variables of a module, which its functions read, and other files may."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.index.entrypoints import main_line
from detlint.mentions import mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.analysis.order import Use

# What a module that is imported for its names does not do at its top.
_RUNS = re.compile(r"^(?:for|while|with|print)\b|^[^#\n]*\bparse_args\(", re.MULTILINE)


class GlobalNames:
    """The variables of one module."""

    def __init__(self, consumption: Consumption) -> None:
        self._consumption = consumption
        self._module = consumption.module
        self._known: dict[str, Consumption | None] = {}

    def uses(self, name: cst.Name, statement: cst.CSTNode, *, keyed: bool) -> Iterator[Use]:
        """Where functions use the order of what a statement gave to a variable."""
        if self._consumption.is_deep() or self._is_hidden(name, statement):
            return
        inner = self._inner(name)
        if inner is None:
            return
        inner.origin = self._consumption.listing()
        sorted_in: set[cst.CSTNode | None] = set()
        for read in self._reads_in_functions(name, inner):
            function = inner.module.enclosing_function(read)
            if inner.sorts(read):
                sorted_in.add(function)
            elif function not in sorted_in:
                yield from inner.uses(read, keyed=keyed)

    def are_for_others(self, name: cst.Name) -> bool:
        """Whether other files have a reason to import a variable that no code reads at the top.

        They have where no function does, and the file is not one that is run, by the look of it.
        """
        if self._consumption.is_deep():
            return True
        inner = self._inner(name)
        if inner is not None and next(self._reads_in_functions(name, inner), None) is not None:
            return False
        text = self._module.source.text
        runs = main_line(text) is not None or _RUNS.search(text) is not None
        return name.value.isupper() or not runs

    def _inner(self, name: cst.Name) -> Consumption | None:
        """The uses in all of the file that mentions a variable; None if no function does."""
        if name.value not in self._known:
            text = self._module.source.text
            places = mentions(text, name.value)
            known = self._module.tree.occurrences.get(name.value, ())
            outside = [x for x in known if self._module.enclosing_function(x) is None]
            around = self._module.around(places) if len(outside) < len(places) else None
            made = self._consumption.of_other(around) if around is not None else None
            self._known[name.value] = made
        return self._known[name.value]

    @staticmethod
    def _reads_in_functions(name: cst.Name, inner: Consumption) -> Iterator[cst.Name]:
        """The reads that stand in functions."""
        for each in inner.module.tree.occurrences.get(name.value, ()):
            scope = None if inner.reads.is_label(each) else inner.reads.home(each)
            if scope is None or not isinstance(scope.node, cst.Module):
                continue
            loads = inner.reads.loads(each)
            return (x for x in loads if inner.module.enclosing_function(x) is not None)
        return iter(())

    def _is_hidden(self, name: cst.Name, statement: cst.CSTNode) -> bool:
        """Whether the variable has another value by the time that functions run."""
        reads, function = self._consumption.reads, self._module.enclosing_function(statement)
        end, around = reads.end(statement), list(self._module.ancestors(statement))
        later = (each.statement for each in reads.stores(name) if each.end > end)
        blocks = (cst.IndentedBlock, cst.Module)
        return any(
            next(x for x in self._module.ancestors(each) if isinstance(x, blocks)) in around
            for each in later
            if self._module.enclosing_function(each) in (None, function)
        )
