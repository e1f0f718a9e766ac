"""Objects at other addresses: the memory that Python gives next is scattered.

Objects that are made one after the other lie one after the other, so that what hangs on their
addresses is the same in many runs, and another one in the next. Here small pieces of memory of all
sizes are taken, and every second given back, by chance: what is made later lies in between.
"""

from __future__ import annotations

import random
import sys
from functools import partial

_SIZES = range(48, 257, 16)  # bytes: those of most objects
_PIECES = 1500  # of each size
_HEAD = sys.getsizeof(b"")
_held: list[list[bytes]] = []  # for good: what is between them is given out


def scatter(run: int) -> None:
    """Scatter what is made from here on, and again once torch has been imported; run 0 is left."""
    if not run:
        return
    _take(run)
    if "torch" not in sys.modules:
        from guard.recording.arrival import when_imported

        when_imported("torch", partial(_take, run))


def _take(run: int) -> None:
    draws = random.Random(run)  # noqa: S311 - of its own: the program's is left alone
    for size in _SIZES:
        pieces = [bytes(size - _HEAD) for _ in range(_PIECES)]
        draws.shuffle(pieces)
        _held.append(pieces[: _PIECES // 2])
        while pieces:
            pieces.pop()
