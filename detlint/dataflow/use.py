"""An order on its way, and where it shows: plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op


class Use(NamedTuple):
    """A place where an order shows; ``how`` is a participle: "looped over".

    assumed  what happens there is not seen, and only seems to show the order
    """

    op: Op
    how: str
    assumed: bool = False


class Flow(NamedTuple):
    """What is followed.

    keyed     a dict that was filled in the order
    filled    what took the elements over one by one
    text      a text that holds them
    numbered  it gives the elements' places, too
    grouped   a container that holds lists in the order, by key
    """

    keyed: bool = False
    filled: bool = False
    text: bool = False
    numbered: bool = False
    grouped: bool = False


PLAIN = Flow()


def surest(uses: Iterable[Use]) -> Use | None:
    """The first use that is seen, else the first that is assumed."""
    assumed = None
    for use in uses:
        if not use.assumed:
            return use
        assumed = assumed or use
    return assumed
