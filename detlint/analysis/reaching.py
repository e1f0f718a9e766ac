"""Reaching definitions of one variable: which of its assignments a read can see.

Judged by order and nesting: an assignment hides an earlier one from the reads
that follow it in its own block. Going round a loop to an earlier line is left out.

What hides earlier assignments from a read is a place, its horizon: that of the last assignment
that always runs before it. All is found by halving sorted lists, so that asking about each of
many reads is not more than reading the file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.module import Module
    from detlint.tree import Tree

_NEVER = -1  # before every place


class Store(NamedTuple):
    """An assignment of a name: the statement, and its place among the nodes of the file."""

    statement: cst.CSTNode
    end: int


class Variable:
    """The reads and assignments of one variable, in the order of the source."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._tree: Tree = module.tree
        self.loads: list[cst.Name] = []
        self.stores: list[Store] = []
        self._horizons: dict[int, int] = {}  # by the places of reads

    def reached(self, store: Store) -> Sequence[cst.Name]:
        """The reads that see the value which a statement gave."""
        known = self._reached.get(id(store.statement))
        if known is not None:
            return known
        place, block = self._tree.place, block_of(self._module, store.statement)
        first = bisect_right(self._places, store.end)
        return [load for load in self.loads[first:] if self._sees(load, place(load), store, block)]

    def reaching(self, load: cst.Name) -> list[cst.CSTNode]:
        """The statements that gave the value which a read sees, as far as they come before it."""
        return [self.stores[index].statement for index in self._visible(load)]

    def is_dominated(self, load: cst.Name) -> bool:
        """Whether an assignment always runs before a read."""
        return self._dominating(self._tree.place(load)) > _NEVER

    # The def-use chains

    @cached_property
    def _places(self) -> list[int]:
        return [self._tree.place(each) for each in self.loads]

    @cached_property
    def _reached(self) -> dict[int, list[cst.Name]]:
        """The reads that see each assignment, by its identity."""
        found: dict[int, list[cst.Name]] = {id(each.statement): [] for each in self.stores}
        for load in self.loads:
            for statement in {id(self.stores[index].statement) for index in self._visible(load)}:
                found[statement].append(load)
        return found

    def _visible(self, load: cst.Name) -> list[int]:
        """The places in ``stores`` of the assignments that a read sees."""
        place = self._tree.place(load)
        horizon = self._horizon(place)
        return [
            index
            for index in sorted(set(self._candidates(place, horizon)))
            if self._sees(load, place, self.stores[index], self._blocks[index])
        ]

    def _candidates(self, place: int, horizon: int) -> Iterator[int]:
        """The assignments between a horizon and a place, without those that another hides which
        follows them in their block and comes before the place."""
        first, last = bisect_left(self._last_ends, horizon), bisect_left(self._last_ends, place)
        yield from self._lasts[first:last]
        for block in self._around(place):
            last = self._before(block, place)
            if horizon <= last < place:
                yield from self._between(block, last, last + 1)
        for block in self._tried(place):
            yield from self._between(block, horizon, place)

    def _between(self, block: cst.CSTNode, first: int, last: int) -> list[int]:
        """The assignments of a block that end in a range."""
        inside = self._in_block.get(id(block), [])
        found = inside[bisect_left(inside, (first, 0)) : bisect_left(inside, (last, 0))]
        return [index for _, index in found]

    def _before(self, block: cst.CSTNode, place: int) -> int:
        """Where the last assignment of a block ends before a place."""
        inside = self._in_block.get(id(block), [])
        index = bisect_left(inside, (place, 0)) - 1
        return inside[index][0] if index >= 0 else _NEVER

    def _sees(self, load: cst.Name, place: int, store: Store, block: cst.CSTNode | None) -> bool:
        if place <= store.end or store.end < self._horizon(place):
            return False
        return not (
            self._is_followed(store, block, place) or self._exclusive(store.statement, load)
        )

    def _is_followed(self, store: Store, block: cst.CSTNode | None, place: int) -> bool:
        """Whether another assignment of the same block comes before a place, so that the value
        leaves the block only by an exception between the two, to a read in a handler."""
        inside = self._in_block.get(id(block), [])
        index = bisect_left(inside, (store.end + 1, 0))
        hidden = block is not None and index < len(inside) and inside[index][0] < place
        return hidden and not any(each is block for each in self._tried(place))

    # What an assignment hides

    def _horizon(self, place: int) -> int:
        """What ends before this place is hidden from a read at a place."""
        known = self._horizons.get(place)
        if known is None:
            decided = self._deciding(place)
            known = self._horizons[place] = max(self._dominating(place), decided)
        return known

    def _dominating(self, place: int) -> int:
        """Where the last assignment ends whose block holds what is at a later place."""
        if not self.stores:
            return _NEVER
        blocks = (self._dominated.get(id(each), []) for each in self._around(place))
        return max((_last_before(ends, place) for ends in blocks), default=_NEVER)

    def _deciding(self, place: int) -> int:
        """Where the first of those assignments ends that give the name a value in every branch of
        the last such ``if`` before the place, as far as a branch goes on."""
        if not self._choices:
            return _NEVER
        found = _NEVER
        for each in self._around(place):
            places, choices, decided = self._choices.get(id(each), ([], [], []))
            before = bisect_left(places, place)
            if before:
                last = self._decided(choices[before - 1], place)
                found = max(found, last, decided[before - 2] if before > 1 else _NEVER)
        return found

    def _decided(self, choice: cst.If, place: int) -> int:
        """Where the first of the assignments ends that decide in an ``if``, by a place."""
        ends = self._triggers[id(choice)]
        if ends[-1] < place:
            place = len(self._tree.nodes)
        known = self._known_choices.get((id(choice), place))
        if known is None:
            known = self._decide(choice, place, _last_before(ends, place))
            self._known_choices[id(choice), place] = known
        return known

    def _decide(self, choice: cst.If, place: int, first: int) -> int:
        branch: cst.If | cst.Else | None = choice
        while branch is not None:
            if not _leaves(branch.body):
                first = min(first, self._before(branch.body, place))
            if isinstance(branch, cst.Else):
                return first
            branch = branch.orelse
        return _NEVER

    # Assignments by where they stand

    @cached_property
    def _known_choices(self) -> dict[tuple[int, int], int]:
        return {}

    @cached_property
    def _blocks(self) -> list[cst.CSTNode | None]:
        return [block_of(self._module, each.statement) for each in self.stores]

    @cached_property
    def _in_block(self) -> dict[int, list[tuple[int, int]]]:
        """The assignments that are plain statements of a block: their ends and indices."""
        found: dict[int, list[tuple[int, int]]] = {}
        for index, (store, block) in enumerate(zip(self.stores, self._blocks, strict=True)):
            if block is not None:
                found.setdefault(id(block), []).append((store.end, index))
        for each in found.values():
            each.sort()
        return found

    @cached_property
    def _lasts(self) -> list[int]:
        """The assignments that no other follows in their block, by where they end."""
        followed = {
            index
            for inside in self._in_block.values()
            for end, index in inside
            if end < inside[-1][0]
        }
        kept = [index for index in range(len(self.stores)) if index not in followed]
        return sorted(kept, key=lambda index: self.stores[index].end)

    @cached_property
    def _last_ends(self) -> list[int]:
        return [self.stores[index].end for index in self._lasts]

    @cached_property
    def _dominated(self) -> dict[int, list[int]]:
        """Where the assignments end that always run before what follows them in a block."""
        found: dict[int, list[int]] = {}
        for each in self.stores:
            block = dominated(self._module, each.statement) or self._tree.module
            found.setdefault(id(block), []).append(each.end)
        return {block: sorted(ends) for block, ends in found.items()}

    @cached_property
    def _triggers(self) -> dict[int, list[int]]:
        """Where the assignments end that stand directly in each ``if``, by its identity."""
        found: dict[int, list[int]] = {}
        for choice, end in self._chosen:
            found.setdefault(id(choice), []).append(end)
        return {choice: sorted(ends) for choice, ends in found.items()}

    @cached_property
    def _choices(self) -> dict[int, tuple[list[int], list[cst.If], list[int]]]:
        """The ``if``s with assignments, by the block that holds what follows them: their places,
        and where the best of those up to each decides."""
        grouped: dict[int, dict[int, cst.If]] = {}
        for choice, _ in self._chosen:
            block = dominated(self._module, choice) or self._tree.module
            grouped.setdefault(id(block), {})[self._tree.place(choice)] = choice
        return {block: self._decisions(held) for block, held in grouped.items()}

    def _decisions(self, held: dict[int, cst.If]) -> tuple[list[int], list[cst.If], list[int]]:
        places = sorted(held)
        choices = [held[place] for place in places]
        decided = (self._decided(each, len(self._tree.nodes)) for each in choices)
        return places, choices, list(accumulate(decided, max))

    @cached_property
    def _chosen(self) -> list[tuple[cst.If, int]]:
        """The ``if`` that each assignment stands directly in, where it does, and its end."""
        inner = [
            block or store.statement for store, block in zip(self.stores, self._blocks, strict=True)
        ]
        choices = zip(map(self._choice, inner), self.stores, strict=True)
        return [(choice, store.end) for choice, store in choices if choice is not None]

    def _choice(self, inner: cst.CSTNode) -> cst.If | None:
        """The first ``if`` of the chain that something stands directly in."""
        top = self._module.parent(inner)
        while isinstance(above := self._module.parent(top) if top else None, (cst.If, cst.Else)):
            top = above
        return top if isinstance(top, cst.If) else None

    def _around(self, place: int) -> Iterator[cst.CSTNode]:
        return self._tree.ancestors(self._tree.nodes[place])

    def _tried(self, place: int) -> list[cst.CSTNode]:
        """The blocks whose exceptions come to the handlers around a place."""
        handlers = (cst.ExceptHandler, cst.ExceptStarHandler)
        above = (
            self._module.parent(each) for each in self._around(place) if type(each) in handlers
        )
        return [each.body for each in above if isinstance(each, (cst.Try, cst.TryStar))]

    def _exclusive(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        """Whether two nodes stand in different branches of one ``if``."""
        above = {id(second): second}
        child = second
        for each in self._module.ancestors(second):
            above[id(each)] = child
            child = each
        below = first
        for parent in self._module.ancestors(first):
            if id(parent) in above:
                if not isinstance(parent, cst.If) or parent is second:
                    return False
                return {id(below), id(above[id(parent)])} == {id(parent.body), id(parent.orelse)}
            below = parent
        return False


def block_of(module: Module, statement: cst.CSTNode) -> cst.CSTNode | None:
    """The block that a plain statement stands in."""
    line = module.parent(statement)
    return module.parent(line) if isinstance(line, cst.SimpleStatementLine) else None


def dominated(module: Module, statement: cst.CSTNode) -> cst.CSTNode | None:
    """The block whose rest runs only after a statement; of a loop's target, the loop's body."""
    if isinstance(statement, cst.For):
        return statement.body
    blocks = (cst.IndentedBlock, cst.Module, cst.SimpleStatementSuite)
    return next((each for each in module.ancestors(statement) if type(each) in blocks), None)


def _last_before(ends: list[int], place: int) -> int:
    index = bisect_left(ends, place) - 1
    return ends[index] if index >= 0 else _NEVER


def _leaves(block: cst.BaseSuite) -> bool:
    """Whether what follows a block does not run after it."""
    last = block.body[-1] if block.body else None
    last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(last, (cst.Continue, cst.Break, cst.Return, cst.Raise))
