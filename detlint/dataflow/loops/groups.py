"""Lists and dicts in a dict, to which a loop adds: ``groups[key].append(x)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.slices import closure, states_after, states_before
from detlint.models import names
from detlint.models.containers import PICKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.orders.use import Flow

# What leads to what a container holds.
_PARTS = frozenset(("attr", "call", "item", "iter", "phi", "unpack"))


class Holder:
    """A container of containers.

    states  all that stands for it, before and after what changes it
    sorted_at  the last place where what it holds is sorted, or -1
    reads  what takes it, with the state that is taken, by place
    silent_from  by what is followed, the place from which on no read shows an order, as far as
                 somebody looked
    """

    def __init__(self, states: frozenset[Op], sorted_at: int, reads: list[tuple[Op, Op]]) -> None:
        self.states = states
        self.sorted_at = sorted_at
        self.reads = reads
        self.silent_from: dict[Flow, float] = {}


class Holders:
    """The containers of containers that were asked for; each is looked at once."""

    def __init__(self) -> None:
        self._known: dict[Op, Holder] = {}

    def of(self, container: Op) -> Holder:
        """What is known of a container, by any of its states."""
        if container not in self._known:
            states = frozenset(
                closure([container], lambda op: (*states_before(op), *states_after(op)))
            )
            reads = [(use, x) for x in states for use in dict.fromkeys(x.uses) if use not in states]
            reads.sort(key=lambda each: each[0].place)
            found = Holder(states, _sorted_at(states), reads)
            self._known.update(dict.fromkeys(states, found))
        return self._known[container]


def holders_of(group: Op, own: Collection[Op], others: set[Op]) -> Iterator[tuple[Op, Op]]:
    """The containers that hold another, looked up by a key of ``own``, with the key; ``others``
    gets what no container holds."""
    known = closure([group], lambda op: () if op in others else states_before(op))
    states = []
    for each in (each for each in known if each not in others):
        states.append(each)
        if each.code == "item" and each.args[1] in own:
            yield each.args[0], each.args[1]
        if each.code == "call" and each.args[0].code == "attr" and len(each.args) > 1:
            method = each.args[0]
            if method.name in PICKING and each.args[1] in own:
                yield method.args[0], each.args[1]
    others.update(states)
    return None


def _sorted_at(states: Collection[Op]) -> int:
    """``groups[key].sort()``, ``groups[key] = sorted(…)``, ``for group in groups.values(): …``."""
    parts = closure(states, lambda op: (use for use in op.uses if _is_part(use, op)))
    sorting = (x.place for each in parts for x in each.uses if _sorts(x, each, states))
    return max(sorting, default=-1)


def _is_part(use: Op, value: Op) -> bool:
    return use.code in _PARTS and use.args[0] is value and not _is_one(use)


def _is_one(use: Op) -> bool:
    """``groups["a"]``, and not the others."""
    return use.code == "item" and use.args[1].code == "const"


def _sorts(use: Op, value: Op, states: Collection[Op]) -> bool:
    if use.code == "change" and use.name == "sort":
        return use.args[0] is value and value not in states
    if use.code == "store_item" and use.args[0] is value and value in states:
        made = use.args[2]
        if word_of(made) in ("OrderedDict", "dict") and made.args[1:]:
            made = made.args[1]
        return use.args[1].code != "const" and names.sorts(word_of(made))
    return False
