"""Lists of tuples, one for each call of a function: ``tasks.append((name, out))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption


def varying_places(consumption: Consumption, tasks: cst.CSTNode) -> frozenset[int]:
    """The places at which the tuples that a loop adds differ; none where that cannot be told."""
    rows = list(_rows(consumption, tasks)) if isinstance(tasks, cst.Name) else []
    names = {each.value for row in rows for each in consumption.reads.variables(row)}
    if getattr(tasks, "value", None) in names or not all(isinstance(x, cst.Tuple) for x in rows):
        return frozenset()  # (name, len(tasks))
    return frozenset(
        place
        for row in rows
        for place, each in enumerate(getattr(row, "elements", ()))
        if _differs(consumption, each)
    )


def _rows(consumption: Consumption, tasks: cst.Name) -> Iterator[cst.BaseExpression]:
    """``x`` of ``tasks.append(x)``."""
    for load in consumption.reads.loads(tasks):
        method = consumption.module.parent(load)
        call = consumption.module.parent(method) if isinstance(method, cst.Attribute) else None
        if isinstance(call, cst.Call) and method.attr.value == "append" and call.args:  # type: ignore[union-attr]
            yield call.args[0].value


def _differs(consumption: Consumption, value: cst.CSTNode) -> bool:
    """Whether an expression mentions what a loop around it gives a value."""
    module, reads = consumption.module, consumption.reads
    loops = {each for each in module.ancestors(value) if isinstance(each, (cst.For, cst.While))}
    return any(
        not loops.isdisjoint((store.statement, *module.ancestors(store.statement)))
        for name in reads.variables(value)
        for store in reads.stores(name)
    )
