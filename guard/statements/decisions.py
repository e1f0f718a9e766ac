"""What a condition that is decided otherwise makes different: a hyperparameter, a value, or more.

A branch that only one run takes and that only sets a learning rate is no other control flow than
an assignment of another rate is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from guard.statements.flows import Flows
    from guard.statements.pairs import Node
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
    found, others = None, set()
    for node in extra:
        if not _is_setting(node):
            return None
        for path in node.statement.writes:
            if _is_item(path, names):
                found = found or node
            elif len(path) > 1:
                return None
            elif node.statement.kind != "For":
                others.add((node.file, path[0]))
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


def _read_later(flows: Flows, extra: Collection[Node]) -> Iterator[tuple[str, str]]:
    """Names that what differs in both runs reads."""
    causes = {each.cause for each in extra}
    for node in flows.tainted:
        if node.cause is None and node not in causes:
            yield from ((node.file, path[0]) for path in node.statement.reads)
