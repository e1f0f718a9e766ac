"""What a condition that is decided otherwise makes different: a hyperparameter, a value, or more.

A branch that only one run takes and that only sets a learning rate is no other control flow than
an assignment of another rate is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.statements.sources import is_clock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from guard.statements.flows import Flows
    from guard.statements.matching import Node
    from guard.statements.syntax import Path

_SETTING = ("Assign", "AugAssign", "AnnAssign")
_AROUND = ("For", "If", "Expr")


def done_in_one(flows: Flows, origin: Node) -> list[Node]:
    """What only one run did, as an origin has it."""
    return [each for each in flows.tainted if each.cause is not None and origin in each.origins]


def sets_only(extra: Collection[Node], flows: Flows, names: Collection[str]) -> Node | None:
    """What sets a hyperparameter, where nothing else that is read later is done in one run alone.

    names  of hyperparameters: "lr"
    """
    found: Node | None = None
    others: set[Path] = set()
    for node in extra:
        if not _is_setting(node):
            return None
        for path in node.statement.writes:
            if _is_item(path, names):
                found = found or node
            elif node.statement.kind != "For":
                others.add(path[-1:])
    return None if others & set(_read_later(flows, extra)) else found


def sets_values(extra: Collection[Node]) -> bool:
    """Whether nothing but values are set in one run alone, and nothing is called for it."""
    return all(each.statement.kind in _SETTING and not each.statement.calls for each in extra)


def _is_setting(node: Node) -> bool:
    """Whether it sets something, or is what is around that: a loop over groups, a call."""
    kind = node.statement.kind
    return kind in _SETTING or (kind in _AROUND and (kind != "Expr" or bool(node.below)))


def _is_item(path: Path, names: Collection[str]) -> bool:
    return len(path) > 1 and path[-1].strip("[]") in names


def _read_later(flows: Flows, extra: Collection[Node]) -> Iterator[Path]:
    """Last names of what is read by statements that differ in both runs, but for a clock's."""
    causes = {each.cause for each in extra}
    for node in flows.tainted:
        if node.cause is None and node not in causes and not is_clock(node.statement):
            yield from (path[-1:] for path in node.statement.reads)
