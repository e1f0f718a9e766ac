"""How much work something is, in a number that a busy machine does not change."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, in all threads; going on with a generator counts."""
    found = 0

    def count(_frame: object, event: str, _argument: Any) -> None:  # noqa: ANN401 - as called
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return found
