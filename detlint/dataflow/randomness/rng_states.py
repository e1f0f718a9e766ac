"""States of global generators that code keeps and puts back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of, word_of
from detlint.dataflow.control import contexts, is_chosen
from detlint.dataflow.randomness.idle_draws import may_not_run
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.slices import behind, closure
from detlint.models import randomness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_READING = frozenset().union(*randomness.STATES.values())
_MOST = 200  # values behind a state that are asked
_CHOOSING = frozenset(("boolean", "choice"))


class States:
    """Answers for one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._restored: dict[Function, list[tuple[int, Op]]] = {}

    def is_undone(self, call: Op) -> bool:
        """Whether the generator's state, which was read before a call that seeds, is put back."""
        row = self._unit.values.function_row(call)
        libraries = row.seeds if row is not None else ()
        libraries = libraries or (("torch",) if "torch.seed" in call.called else ())
        return any(any(self._around(call, each)) for each in libraries)

    def holds_apart(self, call: Op, library: str) -> bool:
        """Whether a call that seeds does so for a few lines, after which the state is put back: it
        is read and put back around them, with no pause between. A training is more than these."""
        if library == "torch" and any(not _trains_in(each) for each in self._forks(call)):
            return True
        return any(not _pauses(state, place) for state, place in self._around(call, library))

    def is_seeded_apart(self, draw: Op, library: str) -> bool:
        """Whether a draw stands among such lines, after the seed; or in a branch below a constant
        seed: ``if fixed: random.seed(42); rows = random.sample(files, 3)``.
        """
        if self._is_below_seed(draw, library):
            return True
        spans = [(state.place, place) for state, place in self._around(draw, library)]
        if library == "torch":
            spans += [(each.place, draw.place) for each in self._forks(draw)]
        return any(
            self._seeds(op) for start, _ in spans for op in draw.function.ops[start : draw.place]
        )

    def _is_below_seed(self, draw: Op, library: str) -> bool:
        constant = self._unit.values.constant
        return any(
            op.region is not draw.function.region
            and draw.within(op.region)
            and library in self._seeded(op)
            and len(op.args) > 1
            and constant(op.args[1]) not in (None, ...)
            and not is_chosen(op)
            and not self.holds_apart(op, library)
            for op in draw.function.ops[: draw.place]
            if op.code == "call"
        )

    @staticmethod
    def _seeded(call: Op) -> set[str]:
        """The libraries that a call seeds by its name."""
        rows = (randomness.BY_NAME.get(each, ()) for each in call.called)
        return {library for row in rows for library in row}

    def is_put_back(self, call: Op) -> bool:
        """Whether a call gives a generator a state that the program took from it before, in this
        run or in one that this may go on with: behind a test, and held by a name."""
        libraries = [randomness.RESTORING.get(name) for name in call.called]
        library = next(filter(None, libraries), "")
        if not library or len(call.args) < 2:
            return False
        taken = randomness.STATES[library]
        behind = list(self._behind(call.args[1]))
        if any(self._forks(call)) or any(not taken.isdisjoint(x.called) for x in behind):
            return True
        return may_not_run(call) and any(map(self._is_held_by_name, behind))

    def _is_held_by_name(self, op: Op) -> bool:
        """``checkpoint["random state"]``, ``checkpoint.get("random state")``"""
        asked = op.code == "item" or word_of(op) == "get"
        return asked and any(
            isinstance(self._unit.values.constant(each), str) for each in op.args[1:2]
        )

    def is_of_itself(self, call: Op, library: str) -> bool:
        """Whether a generator is seeded with what it has drawn, or with a part of its state."""
        made_of = list(behind(*call.args[1:2], most=_MOST))
        if any(each.code in _CHOOSING for each in made_of):
            return False
        states = randomness.STATES.get(library, ())
        return any(
            drawn_from(each) == library
            or f"{library}.initial_seed" in each.called
            or not set(states).isdisjoint(each.called)
            for each in made_of
        )

    def _seeds(self, op: Op) -> bool:
        row = self._unit.values.function_row(op) if op.code == "call" else None
        return row is not None and row.name in randomness.SEEDING

    def _around(self, op: Op, library: str) -> Iterator[tuple[Op, int]]:
        """What reads the state before an operation, and where that is put back after it."""
        saved = randomness.STATES.get(library, frozenset())
        for place, state in self._states(op.function):
            if place > op.place > state.place and not saved.isdisjoint(state.called):
                yield state, place

    def _states(self, function: Function) -> list[tuple[int, Op]]:
        """The calls that are given a state that was read, by their places, and what read it."""
        if function not in self._restored:
            self._restored[function] = [
                (op.place, value)
                for op in function.coded("call")
                for _, value in op.arguments()
                if value.code == "call" and not _READING.isdisjoint(value.called)
            ]
        return self._restored[function]

    def _forks(self, op: Op) -> Iterator[Op]:
        """``with torch.random.fork_rng():`` around an operation, after which all is as before."""
        for each in contexts(op):
            names = each.args[0].called
            if any(name.rpartition(".")[2] == "fork_rng" for name in names):
                yield each

    # Where a state comes from

    def _behind(self, value: Op) -> Iterator[Op]:
        """What a value is made of, through the attributes and functions of the file."""
        return closure([value], self._sources, _MOST)

    def _sources(self, op: Op) -> Iterator[Op]:
        yield from op.args
        if op.code == "param":
            for call in self._unit.callers.entering(op.function):
                given = (each for _, each in call.arguments())
                yield from (each for each in given if parameter_of(op.function, call, each) is op)
        elif op.code == "attr":
            yield from (each.args[1] for each in self._unit.stores(str(op.name)))
        elif op.code == "call":
            callee = self._unit.callers.callee(op)
            yield from callee.returned if callee is not None else ()
        elif op.code == "global" and op.name in self._unit.bound_names:
            yield from self._unit.module.bindings.get(str(op.name), ())


def _pauses(state: Op, place: int) -> bool:
    """Whether other code may run before a state is put back: a generator yields between."""
    return any(op.code in ("yield", "yield_from") for op in state.function.ops[state.place : place])


def _trains_in(enter: Op) -> bool:
    """``with torch.random.fork_rng():`` around all of a training."""
    calls = (each for each in enter.function.coded("call") if word_of(each) == "backward")
    return any(enter in contexts(each) for each in calls)
