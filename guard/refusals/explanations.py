"""From an error to one that says where, why and what to do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from guard.errors import NondeterministicOperationError
from guard.refusals import translation

if TYPE_CHECKING:
    from detlint.operations import Operation
    from guard.observe import places


def explained(
    error: BaseException,
    trail: places.Trail | None,
    started: places.Trail | None = None,
    row: Operation | None = None,
) -> NondeterministicOperationError | None:
    """Our error for one of torch's, cuDNN's or an attention library's; None for any other.

    ``trail`` is where the operator was called, ``started`` where its backward was; ``row`` is
    the operator, where that is known better than from the message.
    """
    if isinstance(error, NondeterministicOperationError):
        return None
    explanation = translation.explain(str(error))
    if explanation is None:
        return None
    if row is not None:
        explanation = translation.explain_operation(row, backward=started is not None)
    return refused(explanation, trail, started, str(error))


def refused(
    explanation: translation.Explanation,
    trail: places.Trail | None,
    started: places.Trail | None = None,
    said: str = "",
) -> NondeterministicOperationError:
    text = translation.render(
        explanation,
        trail.resolve() if trail is not None else None,
        started.place if started is not None else None,
        said,
        os.environ.get("RANK", "") if os.environ.get("WORLD_SIZE", "1") != "1" else "",
    )
    return NondeterministicOperationError(text, explanation.operation)
