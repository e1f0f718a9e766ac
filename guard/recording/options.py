"""How much is recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Options:
    """The options of a recording.

    values       summaries of tensors too
    state_every  so many steps lie between full recordings of parameters, buffers and states
    until        the number of the last step to record, or None
    operators    the number of a step whose operators are recorded, or None
    module       the module to whose forward, and its backward, the operators are limited; or ""
    first_step   the number of the first step, where a run was resumed
    lines        the number of the step up to which the program's statements are recorded, or None
    """

    values: bool = False
    state_every: int = 50
    until: int | None = None
    operators: int | None = None
    module: str = ""
    first_step: int = 0
    lines: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """As the trace's header has them, with the name of the hash."""
        from guard.digests.hashing import HASH

        return {**asdict(self), "hash": HASH}
