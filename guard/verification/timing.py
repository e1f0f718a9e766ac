"""The timing of threads and processes: disturbed, so that whoever comes first is another.

The number of threads stays, and so does the processor's affinity, by which torch counts them:
with another number of threads sums are rounded otherwise, which is no fault of the program.
"""

from __future__ import annotations

import _thread
import hashlib
import os
import random
import sys
import time

_BLOCK = bytes(1 << 18)  # hashed in about 0.2 ms, without holding the interpreter's lock
_INTERVALS = (0.005, 0.0005, 0.02, 0.001)  # seconds; the first is Python's own


def disturb(run: int) -> None:
    """Disturb this process, and those that it forks, in the way of a run: 1 to 2 % of a core."""
    sys.setswitchinterval(_INTERVALS[run % len(_INTERVALS)])
    _start(run)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _start(run))


def _start(run: int) -> None:
    # Not of `threading`: programs count its threads, and wait for them.
    _thread.start_new_thread(_disturbing, (run, os.getpid()))


def _disturbing(run: int, process: int) -> None:
    draws = random.Random(f"{run} {process}")  # noqa: S311 - no secret; not the program's own
    while not sys.is_finalizing():
        time.sleep(draws.uniform(0.001, 0.03))
        if draws.random() < 0.5:
            hashlib.sha256(_BLOCK)
        else:
            until = time.perf_counter() + draws.uniform(0, 0.0004)
            while time.perf_counter() < until:  # holds the lock
                pass
