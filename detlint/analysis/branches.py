"""Under which conditions a statement runs, for rules that see trees."""

from __future__ import annotations

from detlint.rule import cst


def jumps(statement: cst.If) -> bool:
    """Whether what follows an ``if`` runs only where its condition does not hold."""
    last = statement.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return statement.orelse is None and isinstance(
        last, (cst.Return, cst.Raise, cst.Continue, cst.Break)
    )
