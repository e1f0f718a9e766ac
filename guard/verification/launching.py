"""A run of several ranks, which torchrun starts on this machine and looks after."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from guard.verification.circumstances import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SUBJECT = "guard.verification.subject"


def launch(told: Mapping[str, Any], arguments: Sequence[str]) -> int:
    """Become torchrun, whose ranks are each told what this process was; the status to end with.

    Each rank is in a session of its own, so that what ends this process would not reach it: it
    ends with this one, as this one does with guard verify.
    """
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    rest = {name: value for name, value in told.items() if name != "ranks"}
    os.environ[VARIABLE] = json.dumps({**rest, "parent": os.getpid()})
    start = ("--standalone", f"--nproc-per-node={told['ranks']}", "-m", _SUBJECT)
    try:
        run.main([*start, *arguments])
    except ChildFailedError as error:
        return max(1, error.get_first_failure()[1].exitcode)
    return 0
