"""Where differing values come from: each statement that differs is traced back to its origins.

A statement whose inputs agree in both runs and whose result does not is an origin. One whose
inputs differ has the origins of these. Where a differing input was made by nothing that differs,
it was made at another time by another thread, or it came through what is not followed.

What differs is followed forward, in the order of the first run. Each statement is traced back to
those that wrote what it was given, to what was called below it, to generators that it draws from,
and to what other threads wrote meanwhile; the surest first. What a statement
wrote is found by a name and what it holds in the same frame; from other frames, by an attribute's
name alone, and by a name and its file.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from detlint.models import differing
from detlint.models.completions import SHARING
from detlint.models.files import LOGS
from guard.diff import Source, sources
from guard.diff.state_origins import StateOrigins
from guard.diff.statements import NEVER, NOTHING, differ, frame_of
from guard.diff.written import (
    Writers,
    Written,
    keys,
    local_keys,
    part_keys,
    shared_keys,
    whole_keys,
)
from guard.digests import traits
from guard.digests.values import OPAQUE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from guard.diff.statements import Calling, Node, Origins
    from guard.observe.places import Place
    from guard.observe.statements import Path
    from guard.trace.statements import Ran

_DEEP = 4  # iterators, one made from the other
_TAKING = ("For", "AsyncFor")
_THROWN = {"CancelledError", "GeneratorExit"}  # into what waits, by who does not wait any longer
_WRITERS = 1000  # statements that may have written a file that is read, the last
_MOST = 6  # origins of one statement that are kept, the first


def _opaque(node: Node) -> dict[Path, int]:
    """Of what a statement reads in the first run, what is told by its identity alone, or not at all
    as it is computed: a property."""
    reads = node.first.reads if node.first is not None else ()
    pairs = zip(node.statement.reads, reads, strict=False)
    return {path: d for path, d in pairs if d & OPAQUE or (not d and len(path) > 1)}


def _held_before(node: Node, ran: Ran) -> tuple[int | None, ...]:
    """Of what a statement gives, what it held before in a run; None of what it binds."""
    return (*(None,) * len(node.statement.writes), *ran.touched)


def round_that_called(node: Node) -> Node:
    """The round of a loop in which what it goes through was made; another statement itself."""
    rounds = (
        each
        for each in reversed(node.within.nodes)
        if each.statement is node.statement and each.below and each.order <= node.order
    )
    return next(rounds, node) if node.statement.kind in _TAKING else node


def _first(origins: Iterable[Node]) -> Origins:
    """The first of each line, and the first few of these."""
    lines: dict[tuple[str, int], Node] = {}
    for each in sorted(origins, key=lambda each: each.order):
        lines.setdefault(each.key, each)
    return frozenset(list(lines.values())[:_MOST])


def _drawn(origins: Collection[Node]) -> set[Node]:
    """Those that draw the name of a file, which decides nothing of what is there."""
    return {each for each in origins if sources.gives(each.statement, Source.DRAWN_NAME)}


def _asks_files(node: Node) -> bool:
    """Whether it asks if a file is there, or reads one under a lock."""
    if sources.calls(node.statement, sources.PRESENT):
        return True
    before = (each for each in node.within.nodes if each.order < node.order)
    return sources.calls(node.statement, sources.READING) and any(
        sources.calls(each.statement, sources.LOCKS) for each in before
    )


def _called_of(node: Node) -> set[Path]:
    """Objects of which a statement calls a method, or that it calls themselves."""
    parts = [tuple(each.split(".")) for each in node.statement.calls]
    return {*parts, *(each[:-1] for each in parts)}


def _is_of_another_task(other: Node, node: Node) -> bool:
    """Whether a thread ran a statement in another task that both runs gave it."""
    (*_, task), (*_, own) = other.around(), node.around()
    is_one = other.within.role != node.within.role or task.within is own.within
    return not is_one and not task.within.is_extra


class Flows:
    """Origins of all that differs between two recordings."""

    def __init__(
        self, nodes: list[Node], held: dict[tuple[str, int], traits.Traits] | None = None
    ) -> None:
        self.nodes = nodes
        self._traits = held or {}
        self.ends: Mapping[int, int] = {}  # when each step of the first run ended
        self.is_of_ranks = False  # whether they are those of one rank of several
        self.left: Collection[Place] = ()  # lines that read what an earlier run has left to one
        self.origins: list[Node] = []  # in order
        self.tainted: list[Node] = []
        self.written = Written()  # what differs
        self._inserted = Written()  # in another order alone, as far as is seen
        self._writers_of = Writers(nodes)
        # what reads what others write meanwhile: SHARED, or IN_MEMORY if it writes it, too
        self._late: dict[Node, int] = {}
        self._any = (Written(), Written())  # all, by run
        # results that went to a library, and what a thread wrote into what it was given
        self.escapes: list[tuple[int, str, Origins]] = []
        self._states = StateOrigins(nodes, self._drawing)
        self.moves = self._states.moves  # statements after which a state differs
        self.of_states = self._states.of
        writing = [each for each in nodes if sources.writes_file(each.statement)]
        self._writing = {each.process for each in writing}
        setting = [each for each in nodes if sources.variable_names(each.statement)]
        self._writers = sorted({*writing, *setting}, key=lambda each: each.order)
        ending = (e for e in nodes if any(part in e.statement.text for part in differing.ENDING))
        self._ending = [each.order for each in ending]
        blocks = [e for e in reversed(nodes) if e.statement.kind == "AsyncWith"]
        self._blocks = {frame_of(e): [e] for e in blocks if sources.waits(e.statement)}
        self._ended = {each.within.role: each.order for each in nodes}  # when its last one did
        self._drawers = [e for e in nodes if sources.calls(e.statement, sources.DRAWN_NAMES)]
        self._handlers = [each for each in nodes if each.is_on_a_signal and each.statement.writes]
        # by name, those of classes that are made anew for each object, and dicts for each key
        fields = [each for each in nodes if sources.has_factory(each.statement)]
        self._fields = {each.statement.writes[0][-1]: each for each in fields}
        self._branched: dict[object, Origins] = {}  # by frame
        self._given: dict[Node, Origins] = {}
        self._elsewhere: dict[str, tuple[int, dict[object, Node]]] = {}
        self._frames: dict[object, int] = {}  # of the second run, that each was paired with first
        self._lent = traits.LENT * any(sources.calls(e.statement, SHARING) for e in nodes)
        for run in (0, 1):
            self._note_run(run)
        for node in self.nodes:
            self._follow(node)

    def _held(self, node: Node) -> traits.Traits:
        return self._traits.get(node.key, traits.Traits())

    def traits(self, node: Node) -> traits.Traits:
        """What a statement's values are made of; a file that it asks for is what others write."""
        found = self._held(node)
        by_others = self.is_of_ranks or bool(self._writing - {node.process})
        also = self._late.get(node, 0) | traits.SHARED * (by_others and _asks_files(node))
        also |= traits.TURNS * self._states.is_of_others(node)
        also |= traits.MOVES * self._states.draws(node)
        also |= traits.ALONE * self._writers_of.is_alone(node)
        if len(self._writing - {node.process}) > 1 and sources.tells_file_time(node.statement):
            is_key = any("key=" in each.statement.text for each in node.around())
            also |= traits.LATEST * (is_key or node.branches)
        if self.left:  # also of what was opened there, and is gone through here
            nodes = (node, *self.makers(node))
            also |= traits.LEFT * any(e.stands_at(place) for e in nodes for place in self.left)
        return found._replace(read=found.read | also)

    def _drawing(self, node: Node) -> set[Path]:
        """The generators of which it calls a method."""
        pairs = zip(node.statement.reads, self._held(node).paths, strict=False)
        return {path for path, bits in pairs if bits & traits.DRAWS} & {*node.statement.touches}

    def _is_in_turn(self, node: Node) -> bool:
        """Whether all that differs of what it reads is the generator of the process that was given
        the task."""
        drawing = self._drawing(node) if node.process != "main" else set()
        differing = {path for path, _ in self._differing(node)} if drawing else set()
        return bool(differing) and differing <= drawing and self._states.is_of_others(node)

    def step_of(self, node: Node) -> int:
        """The step in which a statement ran, or the last."""
        after = (step for step, ended in self.ends.items() if ended >= node.ran.began)
        return min(after, default=max(self.ends, default=0))

    def _follow(self, node: Node) -> None:
        first, second = node.first, node.second
        if node.within.first and node.within.second:
            self._frames.setdefault(frame_of(node), node.within.second.frame)
        if first is None or second is None:
            self._follow_extra(node)
            return
        if not _THROWN.isdisjoint(node.raised):  # by another statement, which decides
            node.origins = frozenset(self._blocks.get(frame_of(node), ()))
            return
        gives = self._changed(node)
        effects = self._states.is_moved(node) or bool(gives or node.raised)
        if node.statement.kind != "AsyncWith":  # when it goes on is the order of others alone
            effects = effects or node.branches or (node.is_last and node.within.differs)
        if not effects:
            self._escape(node)
            return
        node.is_tainted = True
        node.origins = self._of(node)
        if node in node.origins:
            self.origins.append(node)
        if node.branches:
            self._branched[frame_of(node)] = node.origins
        self.tainted.append(node)
        for path, pair in gives:
            self._write(self._giving(node, path), path, pair)
        if not self._inserts(node):
            self._hand_on(node, [path for path, _ in gives])
        self._give_back(node)
        self._escape(node)

    def _giving(self, node: Node, path: Path) -> Node:
        """What gives a path its value: of a statement that binds several, as it has the origins of
        this one. Of ``rows, took = read()``, with ``return list(found), clock() - began``, what
        differs of the rows is no clock's; nor is what ``read()`` changed of its object, of
        ``print(held.read(), clock())``."""
        targets, below = sources.targets_of(node.statement), [e for e in node.below if e.differs]
        whole, values = node, sources.values_of(node.statement)
        if path in targets and not values and len(below) == 1:
            called = node.statement.calls[0].rpartition(".")[2]
            ends = (each for each in below[0].nodes if each.is_last)
            whole = next(ends if below[0].call.name.endswith(called) else iter(()), node)
            values = sources.values_of(whole.statement)
        known = zip(targets, values, strict=False) if len(values) == len(targets) else ()
        value = dict(known).get(path)
        if node in node.origins and node.below:
            value = value or sources.call_on(node.statement, path)
        if value is None:
            return node
        part = whole.made_by(value)
        part.origins = self._of(part)
        return replace(node, origins=part.origins) if part.origins else node

    def _hand_on(self, node: Node, paths: Iterable[Path]) -> None:
        """What a thread writes, or puts, into what it was given comes to others."""
        if node.is_in_thread and any(path[0] in node.within.call.names for path in paths):
            self.escapes.append((node.order, node.within.role, node.origins))

    def _follow_extra(self, node: Node) -> None:
        """What only one run did has the origins of what decided it."""
        node.is_tainted = True
        cause = node.cause
        if cause is not None and (cause.origins or _THROWN.isdisjoint(cause.raised)):
            # one that has not ended yet decides what is done within
            node.origins = cause.origins or (NOTHING if cause.is_tainted else self._of(cause))
            if self._is_fresh(node):  # whoever does it has another one
                node.origins |= {node}
        self.tainted.append(node)
        given = zip(node.statement.gives, node.ran.gave, _held_before(node, node.ran), strict=False)
        for path, gave, was in given:  # none, if not ended
            if gave != was:
                self._write(node, path, None)
        self._hand_on(node, node.statement.gives)
        self._escape(node)

    def _escape(self, node: Node) -> None:
        root = node.within
        if not node.is_last or root.above is not None:
            return
        origins = node.origins if root.differs else NOTHING
        if not origins and root.role != "main" and self._held(node).read & traits.DRAWN:
            origins = self._of_drawn_names(node, _DEEP - 1)  # another process knows none of them
        if origins:
            self.escapes.append((node.order, root.role, origins))

    def _changed(self, node: Node) -> list[tuple[Path, tuple[int, int]]]:
        """Paths whose values differ after it, and which it has made so in one of the runs."""
        first, second = node.first, node.second
        if first is None or second is None:
            return []
        before = zip(_held_before(node, first), _held_before(node, second), strict=True)
        gave = zip(first.gave, second.gave, strict=False)
        given = zip(node.statement.gives, gave, before, strict=False)
        return [(path, pair) for path, pair, was in given if differ(*pair) and pair != was]

    def _give_back(self, node: Node) -> None:
        """What a call gave is found again by its contents, where no statement binds it: code that
        a library makes does, such as the ``__init__`` of a dataclass."""
        one, other = node.within.first, node.within.second
        if not node.is_last or one is None or other is None or not node.within.differs:
            return
        if one.result & other.result & 1:
            self.written.add((one.result, other.result), node.order, node)

    def _write(self, node: Node, path: Path, pair: tuple[int, int] | None) -> None:
        written = self._inserted if self._inserts(node) else self.written
        for key in keys(node, path):
            written.add(key, node.order, node)
        if pair is not None and pair[0] & 1 and pair[1] & 1:
            self.written.add(pair, node.order, node)

    def _inserts(self, node: Node) -> bool:
        """Whether a thread fills an item with what agrees, of what holds others by then: who reads
        items and not their order is given the same."""
        if not node.is_in_thread or not sources.fills_item(node.statement):
            return False
        whole = node.statement.writes[0]
        is_given = any(path != whole[: len(path)] for path, _ in self._differing(node))
        is_given = is_given or any(each.differs for each in node.below)
        return not (is_given or self._states.is_moved(node) or self._is_fresh(node))

    def _note_run(self, run: int) -> None:
        """What a run wrote that several threads may share, and what moved its generators."""
        known = [(ran, node) for node in self.nodes if (ran := node.ran_in(run)) is not None]
        for ran, node in sorted(known, key=lambda each: each[0].ended or NEVER):
            given = zip(node.statement.gives, ran.gave, _held_before(node, ran), strict=False)
            for path in (path for path, gave, was in given if gave != was):
                for key in shared_keys(node, path):
                    self._any[run].add(key, ran.ended or NEVER, node)
            is_changing = self._states.note(node, run) or sources.is_fresh(node.statement)
            bits = -1 if node.statement.restores else OPAQUE * bool(is_changing or node.raised)
            for at in node.statement.known if bits else ():
                if ran.reads[at] & bits:
                    self._any[run].add(("object", ran.reads[at]), ran.ended or NEVER, node)

    # Back from one statement

    def _of(self, node: Node) -> Origins:
        """Those of a statement whose result differs."""
        clocked = sources.is_clock(node.statement) and not sources.is_begun(node.statement)
        is_fresh = clocked or sources.gives(node.statement, Source.LOAD, Source.DRAWN_NAME)
        if is_fresh or self._is_in_turn(node):
            return frozenset((node,))
        # what it calls may have been given by it what differs: that tells nothing
        found = self._of_results(node.below) - {node}
        if found:
            return self._states.of_first(node) or found
        inputs = list(self._differing(node))
        found = self._of_content(node, self._of_inputs(node, inputs))
        states = self._states.of(node)
        own = {each.call.name.rpartition(".")[2] for each in node.below}
        if sources.calls(node.statement, sources.FILLING - own):
            empty = [e for e in found if sources.gives(e.statement, Source.UNWRITTEN_MEMORY)]
            found = found.difference(empty)
            if not found and not states:
                return frozenset((node,))
        if states:
            found = (found | states) if inputs else states
        # A view of it was given to a thread, which wrote it.
        if inputs and all(sources.gives(each.statement, Source.UNWRITTEN_MEMORY) for each in found):
            since = max((each.order for each in found), default=0)
            later = frozenset(e for e in self._from_elsewhere(node) if e.order > since)
            found = later or found
        found = found or (self._of_those_below(node) - {node} if inputs else NOTHING)
        is_told = not all(self._is_handed(node, path) for path, _ in inputs)
        if found or (is_told and not sources.is_fresh(node.statement)):
            return _first(found)
        # what it goes through was given by a call, in its first round
        found = self._handed_on(node) or self._on_a_signal(node)
        found = found or self._of_results(round_that_called(node).below) - {node}
        found = found or self._of_those_below(node) - {node} or self._gone_through(node, _DEEP)
        if not (sources.is_fresh(node.statement) or sources.asks(node.statement)):
            found = found or self._from_elsewhere(node)
        found = found or self._of_drawn_names(node, _DEEP) or self._of_chosen_part(node)
        found = found or self._of_file(node) or self._gone_through(node, _DEEP, is_given=True)
        if sources.counts(node.statement):  # by itself it goes on alike: what takes from it decides
            return found or self._of_pace(node)
        found = found or self._of_collected(node) or self._of_factory(node)
        return found or self._of_shared(node) or self._of_task(node) or frozenset((node,))

    def _of_task(self, node: Node) -> Origins:
        """Of what a task or another function gives, what handed on the one that it calls, where
        that gives another value in each run."""
        if sources.is_fresh(node.statement) or sources.asks(node.statement):
            return NOTHING
        handing = (
            e for e in self.makers(node) if e is not node and any(sources.handed(e.statement))
        )
        return frozenset(islice(handing, 1))

    def _of_shared(self, node: Node) -> Origins:
        """Of what a statement reads that processes share, what has changed it there first, where
        all of that is over in both runs: what came of it is the order in which they did."""
        if not self._held(node).read & traits.SHARED:
            return NOTHING
        others = [e for e in self.nodes if e.process != "main" and sources.adds(e.statement)]
        others = [e for e in others if self._held(e).read & traits.SHARED]
        pairs = ((e.ran_in(run), node.ran_in(run)) for e in others for run in (0, 1))
        is_over = all(0 < ran.ended < own.began for ran, own in pairs if ran and own)
        return frozenset(others[:1] if is_over else ())

    def _resumed(self, node: Node) -> Origins:
        """Where a coroutine goes on in whose place another one does in the other run."""
        other, paired = node.within.second, self._frames.get(frame_of(node))
        is_other = other is not None and paired not in (None, other.frame)
        first = node.within.nodes[0]
        return frozenset((first,)) if is_other and sources.awaits(first.statement) else NOTHING

    def _of_factory(self, node: Node) -> Origins:
        """Of what takes an item of a dict, what gave that the factory that may have made the item:
        a library calls it."""
        names = (path[-1] for path in node.statement.reads if not sources.is_fresh(node.statement))
        return frozenset([self._fields[each] for each in names if each in self._fields][:1])

    def _of_file(self, node: Node) -> Origins:
        """What a file, a table or a variable of the environment was given that a statement reads:
        nothing else leads from one to the other. Of several threads, each may have been first; what
        one writes, others may change while it does."""
        found = list(self.wrote(node)) or self._started(node)
        several = [each for each in found if each.is_beside_others]
        several = several if len({each.within.role for each in several}) > 1 else []
        for each in found:
            each.origins = each.origins or self.behind(each)
            if self._is_fresh(each) or sources.calls(each.statement, sources.PROGRAMS):
                is_block = each.statement.kind == "With"  # which waits for it at its end
                if sources.calls(each.statement, differing.BEGINNING) and not is_block:
                    is_over = any(each.order <= ended < node.order for ended in self._ending)
                    self._late[each] = traits.UNFINISHED * (not is_over)
                each.origins = each.origins or frozenset((each,))
            if sources.moves_file(each.statement):
                each.origins = each.origins or self._of_file(each)
            if each.origins:
                return each.origins | {*several[:1]}
        late = [] if several else [e for e in found if e.process != "main"]
        late = [each for each in late if self._ended[each.within.role] > node.order]
        self._late |= dict.fromkeys(late, traits.UNFINISHED)
        return frozenset((several or [each for each in found if each.is_in_thread] or late)[:1])

    def _of_content(self, node: Node, found: Origins) -> Origins:
        """Where the names of files alone differ that a statement is given, of what wrote these."""
        return (found and found == _drawn(found) and self._of_file(node)) or found

    def wrote(self, node: Node) -> Iterator[Node]:
        """Statements that wrote into a file which a statement reads, as its name shows, or set a
        variable of the environment; the last first."""
        names = self._files_read(node) or set()
        variables = set(sources.variable_names(node.statement))
        if not names and not variables:
            return
        before = (each for each in reversed(self._writers) if each.order < node.order)
        for each in islice(before, _WRITERS):
            is_set = not variables.isdisjoint(sources.variable_names(each.statement))
            if is_set or not names.isdisjoint(self._file_names(each)):
                yield each
                if sources.calls(each.statement, LOGS):
                    yield from (e for e in self._writers if sources.stamps(e.statement))

    def _started(self, node: Node) -> list[Node]:
        """The program that was started last, where a statement reads a file that none wrote: a
        command need not name it. None makes what the system tells."""
        of_system = self._held(node).read & traits.OF_SYSTEM or self._is_fresh(node)
        if of_system or sources.calls(node.statement, sources.PROGRAMS):
            return []
        names = self._files_read(node)
        if names is None or any(map(traits.told_by, names)):
            return []
        before = (each for each in reversed(self._writers) if each.order < node.order)
        started = (each for each in before if sources.calls(each.statement, sources.PROGRAMS))
        return list(islice(started, 1))

    def _files_read(self, node: Node) -> set[object] | None:
        """What may name the files that a statement reads; None of one that reads none."""
        is_read = sources.moves_file(node.statement) or any(self._handles(node))
        is_read = is_read or sources.calls(node.statement, sources.READING)
        return set(self._file_names(node)) if is_read else None

    def _handles(self, node: Node) -> Iterator[Node]:
        """What opened the files that a statement reads from, or writes to."""
        made = (self._maker(node, path) for path in node.statement.reads)
        for each in made:
            if each is None or each is node:
                continue
            if sources.calls(each.statement, sources.READING | sources.OPENING):
                yield each

    def _file_names(self, node: Node) -> Iterator[object]:
        """What may name a file: constants, and the digests of texts and paths, also of those that a
        property gives."""
        for each in (node, *self._handles(node)):
            yield from sources.file_names(each.statement)
            yield from (below.call.result for below in each.below if below.call.result & 1)
            pairs = zip(each.ran.reads, self._held(each).paths, strict=False)
            yield from (digest for digest, bits in pairs if digest & 1 and bits & traits.STRINGS)

    def _handed_on(self, node: Node) -> Origins:
        """Of what a statement takes from a queue and its like, where another thread has made it."""
        for _, pair in self._changed(node):
            made = self.written.last(pair, node.order) if pair[0] & pair[1] & 1 else None
            if made is not None and made.origins and made.within.role != node.within.role:
                return made.origins
        return NOTHING

    def _on_a_signal(self, node: Node) -> Origins:
        """What handled a signal while a statement ran, in one run or both: it may have written what
        that one is then seen to have made."""
        for each in self._handlers:
            for run in (0, 1):
                ran, inner = node.ran_in(run), each.ran_in(run)
                if ran and inner and ran.began <= inner.began <= (ran.ended or NEVER):
                    return frozenset((each,))
        return NOTHING

    def _of_pace(self, node: Node) -> Origins:
        """What decided how often a generator went on, or objects were made: what branched last, in
        what takes from it."""
        around = (self._branched.get(frame_of(each)) for each in node.around())
        return next(filter(None, around), NOTHING)

    def _of_collected(self, node: Node) -> Origins:
        """Of what has the garbage collected there and then, what decided how much had been made."""
        return self._of_pace(node) if sources.calls(node.statement, sources.COLLECTING) else NOTHING

    def before(self, node: Node) -> Iterator[Node]:
        """Statements that what differs of a statement's inputs comes from, the surest first."""
        for path, pair in self._differing(node):
            above = node.within.above
            keys = (*local_keys(node, path), *part_keys(node, path))
            yield from self._last_of(keys, node.ran.began)
            if path[0] in node.within.call.names and above is not None:
                yield above
            shared = (*shared_keys(node, path), *whole_keys(node, path))
            yield from self._last_of((pair, *shared), node.ran.began)
            if field := self._field_of(path):
                yield field

    def _last_of(self, keys: Iterable[object], until: int) -> Iterator[Node]:
        found = (w.last(key, until) for key in keys for w in (self.written, self._inserted))
        yield from (each for each in found if each is not None)

    def _of_chosen_part(self, node: Node) -> Origins:
        """What chose the part that a statement changes, where but the whole differs after it: of
        ``part = parts[at]; part += x``, ``part`` agrees and it is another one of ``parts``."""
        wholes = {path for path, _ in self._changed(node)}
        if not wholes or not wholes.issubset(node.statement.touches):
            return NOTHING
        for path in node.statement.gives:
            made = self._maker(node, path)
            if path in wholes or made is None or made.within is not node.within:
                continue
            read = {
                each[:size] for each in made.statement.reads for size in range(1, len(each) + 1)
            }
            if path[:1] in made.statement.writes and not wholes.isdisjoint(read):
                return made.origins or self.given(made) or frozenset((made,))
        return NOTHING

    def _of_drawn_names(self, node: Node, deep: int) -> Origins:
        """What drew a name that a statement takes apart: the same stands for it in both runs, so
        that nothing before seems to differ."""
        if not deep or sources.calls(node.statement, sources.DRAWN_NAMES | sources.PROGRAMS):
            return NOTHING
        if sources.calls(node.statement, sources.LISTING):
            found = self._drawn_before(node, files=True) or self._drawn_before(node)
            return found if "sorted" in node.statement.calls else NOTHING
        if not self._held(node).read & traits.DRAWN:
            return NOTHING
        for each in self.makers(node):
            if sources.calls(each.statement, sources.DRAWN_NAMES):
                return frozenset((each,))
            is_drawn = self._held(each).gave & traits.DRAWN and each is not node
            if is_drawn and (found := self._of_drawn_names(each, deep - 1)):
                return found
        return self._drawn_before(node) if deep == _DEEP else NOTHING

    def _drawn_before(self, node: Node, *, files: bool = False) -> Origins:
        """What drew a name last, where nothing of the program's binds it: a library does, or code
        that it makes, such as the ``__init__`` of a dataclass."""
        drew = sources.DRAWN_FILES if files else sources.DRAWN_NAMES
        before = (each for each in self._drawers if each.order <= node.ran.began)
        return frozenset([each for each in before if sources.calls(each.statement, drew)][-1:])

    def _of_results(self, below: list[Calling]) -> Origins:
        found: set[Node] = set()
        for each in (call for call in below if call.differs):
            last = next((n for n in reversed(each.nodes) if n.is_tainted and n.origins), None)
            if last is not None:
                found |= last.origins
        return _first(found)

    def _of_those_below(self, node: Node) -> Origins:
        found: set[Node] = set()
        queue = list(node.below)
        while queue:
            each = queue.pop()
            for inner in each.nodes:
                if inner.is_tainted:
                    found |= inner.origins
                queue.extend(inner.below)
        return _first(found)

    def _from_elsewhere(self, node: Node) -> Origins:
        """What other processes and threads gave to a library, where a statement asks one."""
        if sources.is_clock(node.statement):
            return NOTHING
        role = node.within.role
        seen, found = self._elsewhere.get(role, (0, {}))
        while seen < len(self.escapes) and self.escapes[seen][0] <= node.order:
            _, other, origins = self.escapes[seen]
            seen += 1
            for each in origins if other != role else ():
                if each.order < found.setdefault(each.key, each).order:
                    found[each.key] = each
        self._elsewhere[role] = seen, found
        return _first(found.values())

    def _differing(self, node: Node) -> Iterator[tuple[Path, tuple[int, int]]]:
        """Inputs that differ; an object that it only calls a method of counts by what it holds."""
        first, second = node.first, node.second
        if first is None or second is None:
            return
        for path, one, other in zip(node.statement.reads, first.reads, second.reads, strict=False):
            if differ(one, other):
                yield path, (one, other)

    def _of_inputs(self, node: Node, inputs: list[tuple[Path, tuple[int, int]]]) -> Origins:
        found: set[Node] = set()
        for path, pair in inputs:
            found |= self._source(node, path, pair)
        named, is_started = _drawn(found), sources.calls(node.statement, sources.PROGRAMS)
        if sources.tells_file_time(node.statement) or (named and is_started):
            found = found - named or {node}
        elif sources.calls(node.statement, sources.READING) or sources.writes_file(node.statement):
            found = found - named or found
        return frozenset(found)

    def given(self, node: Node) -> Origins:
        """The origins of all that differs of what a statement reads."""
        if node not in self._given:
            self._given[node] = NOTHING  # for recursion
            self._given[node] = self._of_inputs(node, list(self._differing(node)))
        return self._given[node]

    def binds(self, node: Node) -> bool:
        """Whether a statement has made something hold other contents."""
        return bool(self._changed(node))

    def comes_to_the_same(self, node: Node) -> bool:
        """Whether what a statement wrote holds the same in the end: threads that count differ on
        the way, and not in what they have counted."""
        keys = [key for path, _ in self._changed(node) for key in shared_keys(node, path)]
        return bool(keys) and all(self._ends_alike(key) for key in keys)

    def _ends_alike(self, key: object) -> bool:
        found = []
        for run, written in enumerate(self._any):
            node = written.last(key, NEVER)
            ran = None if node is None else node.ran_in(run)
            if node is None or ran is None:
                return False
            pairs = zip(node.statement.gives, ran.gave, strict=False)
            found.append([gave for path, gave in pairs if key in shared_keys(node, path)])
        return found[0] == found[1] and any(found[0])

    def behind(self, node: Node) -> Origins:
        """The origins of all that a statement was given that binds nothing that can be told apart:
        what it reads, what its calls gave, and what it draws from."""
        return self.given(node) or self._of_results(node.below) or self.of_states(node)

    def _source(self, node: Node, path: Path, pair: tuple[int, int]) -> Origins:
        """Where a differing value was written last, as far as it is known."""
        if path[0] in node.within.call.names and path[0] != "self" and self._resumed(node):
            return self._resumed(node)
        late, before = self._raced(node, path), node.ran.began
        if len(path) > 1 and any(each.is_in_thread and not self._inserts(each) for each in late):
            return late
        found = self._written_to(local_keys(node, path), before)
        found = found or self._written_to(part_keys(node, path), before)
        above = node.within.above if path[0] in node.within.call.names else None
        if not found and above is not None:
            same = [each for each, other in self._differing(above) if other == pair]
            found = self._source(above, same[0], pair) if same else NOTHING
        if not found and pair[0] & pair[1] & 1:
            found = self._written_to((pair,), before)
        if not found and above is not None and len(path) == 1:
            found = self.given(above)
        found = found or self._written_to(shared_keys(node, path), before)
        found = found or self._written_to(whole_keys(node, path), before) or late
        if not found and self._is_in_memory(node, path, self._lent):
            return self._meanwhile(node, path)
        field = self._field_of(path)
        found = found or (frozenset((field,)) if field else self._of_its_maker(node, path))
        if found or above is None or self._is_handed(node, path):
            return found
        own = self._of_its_object(above) if path[0] == "self" else NOTHING
        return own or self._passed_on(node, above)

    def _of_its_object(self, above: Node) -> Origins:
        """Of a method, the object that it was called of: another one holds other things, and no
        statement has written them."""
        held = _called_of(above)
        found = self._of_inputs(above, [e for e in self._differing(above) if e[0] in held])
        pairs = zip(above.statement.reads, above.ran.reads, strict=False)
        properties = (path for path, digest in pairs if not digest and len(path) > 1)
        keys = [key for path in properties for key in local_keys(above, path[:-1])]
        return found or self._written_to(keys, above.ran.began)

    def _maker(self, node: Node, path: Path) -> Node | None:
        """What has bound the variable that a path begins with last before."""
        return self._any[0].last(("name", node.file, path[0]), node.ran.began)

    def _of_its_maker(self, node: Node, path: Path) -> Origins:
        """Of what no statement has written to an object of a library's, what made the object."""
        made = self._maker(node, path)
        if len(path) < 2 or made is None or made.within is not node.within:
            return NOTHING
        return made.origins or self.given(made) or frozenset((made,))

    def _field_of(self, path: Path) -> Node | None:
        """Of an attribute that no statement has written, the field whose factory gives another one
        each time: code that a library makes has called it."""
        return self._fields.get(path[-1]) if len(path) > 1 else None

    def _passed_on(self, node: Node, above: Node) -> Origins:
        """What was given to a call and no statement wrote: of the one around it what it was given,
        or what its calls before gave; else itself, which has made it and handed it on at once, as
        in ``fit(Settings())``."""
        first, second = node.within.first, node.within.second
        if first is None or second is None or first.given == second.given:
            return NOTHING
        if any(True for _ in self._differing(above)):
            return self.given(above)
        began = node.within.call.began
        before = [each for each in above.below if 0 < each.call.ended <= began]
        found = self._of_results(before) or self._of_collected(above)
        return found or frozenset((above,))

    def _gone_through(self, node: Node, deep: int, *, is_given: bool = False) -> Origins:
        """What differs of what a thing was made of, where a statement takes something from it: a
        loader is the same object in both runs, and what it was given is not. ``is_given``: or where
        it gives the thing to a call."""
        for each in self._things(node, deep, is_given=is_given) if deep else ():
            if each is not node and (found := self._put_into(each, deep)):
                return found
        return NOTHING

    def _things(self, node: Node, deep: int, *, is_given: bool) -> Iterator[Node]:
        """What made the things that a statement takes from, or hands on: an iterator, an archive
        that is told by its identity, an object of a library's that it calls a method of."""
        statement = node.statement
        is_taking = statement.kind in _TAKING or "next" in statement.calls or deep < _DEEP
        holders = _called_of(node)
        rans = [(run, ran) for run in (0, 1) if (ran := node.ran_in(run)) is not None]
        paths = _opaque(node)
        for path, digest in paths.items():
            is_part = len(path) > 1 and path[0] != "self"
            hands_on = is_given and bool(statement.calls)
            if is_taking or is_part or hands_on or path in holders:
                keys = [("object", digest), *shared_keys(node, path), *shared_keys(node, path[:1])]
                # one run alone may have bound it last
                found = (self._any[run].last(key, ran.began) for key in keys for run, ran in rans)
                yield from filter(None, found)
        if is_taking:
            # ``train, val = loaders()``: all of it is told by what it holds, and no part of it
            gave = node.first.gave[: len(node.statement.writes)] if node.first is not None else ()
            binds = any(each & OPAQUE for each in gave)
            for each in round_that_called(node).below:
                if each.first and each.first.result & (OPAQUE | binds):
                    # a generator goes on after the value that it gave in this round
                    yield from [n for n in each.nodes if n.order <= node.order][-1:]
        above = node.within.above
        if above is not None and any(each[0] in node.within.call.names for each in paths):
            yield above

    def _put_into(self, node: Node, deep: int) -> Origins:
        """What differs of what a statement puts into a thing that is the same in both runs."""
        found = node.origins or self.behind(node) or self._gone_through(node, deep - 1)
        found = found or self._of_drawn_names(node, _DEEP)
        return found or (frozenset((node,)) if self._is_fresh(node) else NOTHING)

    def _is_fresh(self, node: Node) -> bool:
        """Whether what a statement gives is another in each run, whatever it is given."""
        return sources.is_fresh(node.statement) or bool(self._held(node).gave & traits.ASKED)

    def makers(self, node: Node) -> list[Node]:
        """What made the things that a statement uses, each the last before it."""
        run, ran = int(node.first is None), node.ran
        paths = {each: None for path in node.statement.reads for each in (path, path[:1])}
        keys = [key for path in paths for key in shared_keys(node, path)]
        restored = [("object", digest) for digest in ran.reads]
        found = (self._any[run].last(key, ran.began) for key in (*restored, *keys))
        return [each for each in found if each is not None]

    def _written_to(self, keys: Iterable[object], until: int) -> Origins:
        """The origins of what was written last under the first of these keys."""
        found = self._last_of(keys, until)
        return next((each.origins for each in found if each.origins), NOTHING)

    def _raced(self, node: Node, path: Path) -> Origins:
        """A value that agrees whenever it is written, and differs when it is read: another thread
        wrote it earlier or later, which a wait for a limited time before has let be."""
        first, second = node.first, node.second
        if first is None or second is None or self._is_of_each_thread(node, path):
            return NOTHING
        for key in shared_keys(node, path):
            found = [
                run.last(key, at.began) for run, at in zip(self._any, (first, second), strict=True)
            ]
            if found[0] is not found[1]:
                others = [each for each in found if each and each.within.role != node.within.role]
                others.sort(key=lambda each: not each.is_in_thread)
                waiting = [each for each in node.within.waiting if each.order < node.order]
                is_shared = bool(others) and self._is_in_memory(node, path, traits.LENT)
                if not waiting and (node.is_in_thread or is_shared):
                    early = all(self._writers_of.is_before(each, node) for each in others)
                    if early and any(each and _is_of_another_task(each, node) for each in found):
                        return frozenset((node,))
                    if not others:  # its own thread wrote it, in the course of what differs
                        continue
                    if not others[0].is_in_thread:  # the main one writes it meanwhile
                        return self._meanwhile(node, path)
                if others and others[0].cause is not None and not waiting:
                    return others[0].origins  # one run alone did it: what decided that
                return frozenset(waiting[-1:] or others[:1] or (node,))
        return NOTHING

    def _meanwhile(self, node: Node, path: Path) -> Origins:
        """A statement, which reads what others write at any time, or changes it as they do."""
        is_written = any(path[: len(each)] == each for each in node.statement.writes)
        is_of_both = is_written and self._is_in_memory(node, path, traits.LENT)
        self._late[node] = traits.IN_MEMORY if is_of_both else traits.SHARED
        return frozenset((node,))

    def _is_in_memory(self, node: Node, path: Path, bits: int = 0) -> bool:
        """Whether what a statement reads there lies in memory that several processes share; bits:
        or may, by further traits."""
        read = zip(node.statement.reads, self._held(node).paths, strict=False)
        return any(each == path and of & (traits.IN_MEMORY | bits) for each, of in read)

    def _is_handed(self, node: Node, path: Path) -> bool:
        """Whether it calls a method of a queue there: who puts tells more than which it is."""
        return path in _called_of(node) and self._is_in_memory(node, path, traits.HANDED)

    def _is_of_each_thread(self, node: Node, path: Path) -> bool:
        """Whether it lies in a ``threading.local``, where no other thread writes."""
        made = self._maker(node, path)
        return made is not None and "local" in {e.rpartition(".")[2] for e in made.statement.calls}
