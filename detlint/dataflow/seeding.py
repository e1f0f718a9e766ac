"""What draws from the global generators of libraries, and what seeds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.models import randomness

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op


def drawn_from(op: Op) -> str:
    """The library whose global generator a call draws from; "" for none."""
    if op.code != "call" or op.given("generator") is not None:
        return ""
    found = (randomness.DRAWS.get(name) for name in op.function.unit.values.called(op))
    return next(filter(None, found), "")
