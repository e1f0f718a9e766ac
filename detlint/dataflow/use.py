"""An order on its way, and where it shows: plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
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
