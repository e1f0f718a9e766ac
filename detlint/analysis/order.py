"""An order on its way through the code, and where it arrives: plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import libcst as cst


class Use(NamedTuple):
    """A place where an order reaches a result; ``how`` is a participle: "looped over"."""

    node: cst.CSTNode
    how: str


class Flow(NamedTuple):
    """An expression on the way of an order.

    keyed   whether it is a dict that was filled in that order
    filled  whether it is a variable that took the elements over one by one
    """

    node: cst.CSTNode
    keyed: bool = False
    filled: bool = False

    def into(self, node: cst.CSTNode) -> Flow:
        """The same order in an expression around this one."""
        return self._replace(node=node)

    def escapes(self, node: cst.CSTNode, how: str) -> Iterator[Use]:
        """A use out of sight, which looks a dict up by its keys."""
        if not self.keyed:
            yield Use(node, how)


def most_telling(uses: Sequence[Use]) -> Use:
    """The use to name: the first, but rather one of the elements than one of what they are
    handed to as a whole, where it may be another branch that does so. A draw says the most."""
    vague = ("asked for", "passed to")
    draws = ("shuffle()", "sample()", "choice()")
    return min(uses, key=lambda use: use.how.startswith(vague) and not use.how.endswith(draws))
