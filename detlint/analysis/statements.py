"""What the statements around an unordered value do with its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.order import Use
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.analysis.order import Flow


class Statements:
    """One handler for each class of statement that a value can stand in."""

    def __init__(self, consumption: Consumption) -> None:
        self._all = consumption
        self._module = consumption.module

    def in_assign(self, statement: cst.Assign, flow: Flow) -> Iterator[Use]:
        """``names = x``."""
        for target in statement.targets:
            yield from self._all.follow_target(target.target, statement, flow)

    def in_ann_assign(self, statement: cst.AnnAssign, flow: Flow) -> Iterator[Use]:
        """``names: list[str] = x``."""
        yield from self._all.follow_target(statement.target, statement, flow)

    def in_named_expr(self, node: cst.NamedExpr, flow: Flow) -> Iterator[Use]:
        """``(names := x)``."""
        yield from self._all.follow_target(node.target, node, flow)
        yield from self._all.follow(flow.into(node))

    def in_aug_assign(self, statement: cst.AugAssign, flow: Flow) -> Iterator[Use]:
        """``names += x``."""
        if isinstance(statement.operator, cst.AddAssign) and statement.value is flow.node:
            yield from self._all.follow_container(statement.target, statement, flow)

    def in_with_item(self, item: cst.WithItem, _: Flow) -> Iterator[Use]:
        """``with x as entries:``: the name stands for the value from here on."""
        statement = self._module.parent(item)
        name = item.asname.name if item.asname is not None else None
        if isinstance(name, cst.Name) and statement is not None:
            yield from self._all.follow_name(name, statement)

    def in_return(self, statement: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``return x``; what was found before an error is no result."""
        partial = flow.filled and self._all.conditions.handles_error(statement)
        if flow.keyed:
            if not partial and self._all.callers.go_through(statement):
                yield Use(statement, "returned in a dict that is gone through")
        elif not partial and not self._all.callers.ignore_order(statement):
            yield Use(statement, "returned")

    def in_lambda(self, function: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``lambda: x``; of ``find = lambda d: os.listdir(d)`` the calls tell."""
        statement = self._module.parent(function)
        target = statement.targets[0].target if isinstance(statement, cst.Assign) else None
        reads = self._all.reads.loads(target) if isinstance(target, cst.Name) else []
        calls = [self._module.parent(each) for each in reads]
        called = (
            isinstance(x, cst.Call) and x.func is y for x, y in zip(calls, reads, strict=True)
        )
        if calls and self._module.enclosing_function(function) is not None and all(called):
            for call in calls:
                yield from self._all.follow(flow.into(call))  # type: ignore[arg-type]
        else:
            yield from flow.escapes(function, "returned")

    def in_yield(self, statement: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``yield x``, ``yield from x``."""
        yield from flow.escapes(statement, "yielded")

    in_from = in_yield
