"""Where differing values come from: each statement that differs is traced back to its origins.

A statement whose inputs agree in both runs and whose result does not is an origin. One whose
inputs differ has the origins of these. Where a differing input was made by nothing that differs,
it was made at another time by another thread, or it came through what is not followed.

Here what differs is followed forward, in the order of the first run; how a statement is traced
back is in ``backward``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.digests.traits import Traits
from guard.statements.backward import Backward, Seen, Written, keys, shared_keys
from guard.statements.matching import NEVER, differ
from guard.statements.state_origins import StateOrigins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.statements.matching import Node, Origins
    from guard.statements.paths import Path


class Flows:
    """Origins of all that differs between two recordings."""

    def __init__(
        self, nodes: list[Node], traits: dict[tuple[str, int], Traits] | None = None
    ) -> None:
        self.nodes = nodes
        self._traits = traits or {}
        self.origins: list[Node] = []  # in order
        self.tainted: list[Node] = []
        self.written = Written()  # what differs
        self._any = (Written(), Written())  # all, by run
        self.escapes: list[tuple[int, str, Origins]] = []  # results that went to a library
        self._states = StateOrigins(nodes)
        self.moves = self._states.moves  # statements after which a state differs
        seen = Seen(nodes, self._any, self._states, self._traits)
        self._back = Backward(seen, self.written, self.escapes)
        for run in (0, 1):
            self._note_run(run)
        for node in self.nodes:
            self._follow(node)

    def given(self, node: Node) -> Origins:
        """The origins of all that differs of what a statement reads."""
        return self._back.given(node)

    def before(self, node: Node) -> Iterator[Node]:
        """Statements that what differs of a statement's inputs comes from, the surest first."""
        return self._back.before(node)

    def traits(self, node: Node) -> Traits:
        """What a statement's values are made of."""
        return self._traits.get((node.file, node.statement.line), Traits())

    def makers(self, node: Node) -> list[Node]:
        """What made the things that a statement uses, each the last before it."""
        return self._back.makers(node)

    def of_states(self, node: Node) -> Origins:
        """The origins of a generator's state, if it draws from one whose states differ."""
        return self._states.of(node)

    def _follow(self, node: Node) -> None:
        first, second = node.first, node.second
        if first is None or second is None:
            self._follow_extra(node)
            return
        gives = self._changed(node)
        moved = self._states.is_moved(node)  # noted, whatever else it does
        effects = moved or bool(gives) or node.branches
        effects = effects or (node.is_last and node.within.differs)
        effects = effects or first.raised != second.raised
        if not effects:
            return
        node.is_tainted = True
        node.origins = self._back.of(node)
        if node in node.origins:
            self.origins.append(node)
        self.tainted.append(node)
        for path, pair in gives:
            self._write(node, path, pair)
        self._escape(node)

    def _follow_extra(self, node: Node) -> None:
        """What only one run did has the origins of what decided it."""
        node.is_tainted = True
        cause = node.cause
        if cause is not None:
            node.origins = cause.origins or self._decided(cause)
        self.tainted.append(node)
        ran = node.ran
        for at, path in enumerate(node.statement.gives[: len(ran.gave)]):  # none, if not ended
            touched = at - len(node.statement.writes)
            if touched < 0 or ran.gave[at] != ran.touched[touched]:
                self._write(node, path, None)
        self._escape(node)

    def _decided(self, cause: Node) -> Origins:
        """The origins of a statement that has not ended yet: it decides what is done within."""
        if cause.is_tainted:
            return cause.origins
        return self._back.of(cause)

    def _escape(self, node: Node) -> None:
        root = node.within
        if node.origins and node.is_last and root.above is None and root.differs:
            self.escapes.append((node.order, root.role, node.origins))

    def _changed(self, node: Node) -> list[tuple[Path, tuple[int, int]]]:
        """Paths whose values differ after it, and which it has made so in one of the runs."""
        first, second, statement = node.first, node.second, node.statement
        if first is None or second is None:
            return []
        found = []
        bound = len(statement.writes)
        for at, (path, one, other) in enumerate(
            zip(statement.gives, first.gave, second.gave, strict=False)
        ):
            if not differ(one, other):
                continue
            if at >= bound:
                same = first.touched[at - bound] == one and second.touched[at - bound] == other
                if same:
                    continue
            found.append((path, (one, other)))
        return found

    def _write(self, node: Node, path: Path, pair: tuple[int, int] | None) -> None:
        order = node.order
        for key in keys(node, path):
            self.written.add(key, order, node)
        if pair is not None and pair[0] & 1 and pair[1] & 1:
            self.written.add(pair, order, node)

    def _note_run(self, run: int) -> None:
        """What a run wrote that several threads may share, and what moved its generators."""
        ran_then = [(each.ran_in(run), each) for each in self.nodes]
        known = [(ran, node) for ran, node in ran_then if ran is not None]
        for ran, node in sorted(known, key=lambda each: each[0].ended or NEVER):
            bound = len(node.statement.writes)
            for at, path in enumerate(node.statement.gives[: len(ran.gave)]):
                if at < bound or ran.gave[at] != ran.touched[at - bound]:
                    for key in shared_keys(node, path):
                        self._any[run].add(key, ran.ended or NEVER, node)
            self._states.note(node, run)
