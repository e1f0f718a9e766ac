"""Another cause than a difference seems to have, as the line that it comes from shows.

A condition that sets but a learning rate is a hyperparameter, whatever shows first that it was
decided otherwise; and what a clock decides is no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.comparison import Cause
from guard.statements.decisions import done_in_one, sets_only, sets_values
from guard.verification.origins import is_value

if TYPE_CHECKING:
    from guard.statements.flows import Flows
    from guard.statements.pairs import Node

_SET = "In one run alone a hyperparameter is set before: `{}`."
_GIVEN = "What it was computed from differs before: `{}`."
COMPUTED = (Cause.KERNEL, Cause.OUTSIDE, Cause.CONTROL_FLOW)  # causes of which a line tells more


class Decided(NamedTuple):
    """A cause, and why.

    setting  the statement that sets a hyperparameter
    """

    cause: Cause
    why: str
    setting: Node | None = None


def cause_of(flows: Flows, origin: Node, cause: Cause, names: set[str]) -> Decided | None:
    """The cause that an origin shows, or None where it is the one that was found before.

    cause  KERNEL only where no operator is known
    names  of hyperparameters
    """
    if cause not in COMPUTED:
        return None
    extra = done_in_one(flows, origin)
    setting = sets_only(extra, flows, names)
    if setting is not None:
        why = _SET.format(setting.statement.text)
        return Decided(Cause.HYPERPARAMETER, why, setting)
    is_decided = origin.branches or is_value(origin)
    if cause is not Cause.KERNEL or origin.is_in_thread or not is_decided:
        return None
    found = Cause.OUTSIDE if sets_values(extra) else Cause.CONTROL_FLOW
    return Decided(found, _GIVEN.format(origin.statement.text))
