"""What a program is there for: whether it trains, or tries, tests or measures what others do."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.callgraph import roles
from detlint.callgraph.fact_base import ByFacts
from detlint.dataflow.learning import outputs
from detlint.dataflow.unit import asked
from detlint.grouping import grouped
from detlint.index.entrypoints import main_line
from detlint.index.facts import DRAWING
from detlint.index.scan import MAIN
from detlint.models.purposes import trains as says_training
from detlint.models.roles import ANSWERS, EXPORTS, TRACKS
from detlint.sources.kinds import NOTEBOOK, kind_of_name
from detlint.syntax.layout import says_in_code

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from detlint.callgraph.closure import Closure
    from detlint.callgraph.entry_calls import EntryCalls
    from detlint.callgraph.fact_base import FactBase, Located
    from detlint.dataflow.unit import Unit
    from detlint.index.facts import Fact


class ProgramPurpose(ByFacts):
    """Answers for one program, by its name, its folders, its text and what it runs."""

    def __init__(self, closure: Closure, base: FactBase, calls: EntryCalls) -> None:
        super().__init__(closure, base)
        self._calls = calls
        self._name, self._shown = closure.name, closure.shown

    @property
    def _text(self) -> str:
        return self._closure.source.text

    # What it trains

    def training(
        self,
        what: str = "",
        *,
        own: bool = False,
        within: Mapping[str, Container[str]] | None = None,
    ) -> Iterator[Located]:
        """Where it trains as what it is there for: nowhere if it takes times, and of the code of
        programs that it shares only in loops that it calls. ``FactBase.facts`` tells the rest."""
        if not self.measures:
            yield from self._base.facts("trains", what, own=own, within=within, counts=self._counts)

    def _counts(self, path: str, part: str, _: Fact) -> bool:
        return path == self._path or not self.only_shares or self._is_loop(path, part)

    def _is_loop(self, path: str, part: str) -> bool:
        """Whether a tool trains by a part of a file: its own file calls that, a function that
        takes steps itself, and no method of a class that the tool has for something else."""
        of_class = part.partition(".")[0] in self._index.outline(path).classes
        if of_class or self._is_module or kind_of_name(self._name) == NOTEBOOK:
            return False
        called = any(user == self._path for user, _ in self._closure.reach.users(path, part))
        steps = part in self._index.parts_with(path, "steps")
        return called and steps and not roles.is_below_tests(self._shown)

    @property
    def learns(self) -> bool:
        """Whether it is there to train a network: its file says so by its name or by what it
        calls, and a step of training visibly runs."""
        return self._closure.known("learns", self._learns)

    def _learns(self) -> bool:
        step = next(self.training("torch"), None)
        return step is not None and (step.path == self._path or self.is_to_train)

    @property
    def may_train(self) -> bool:
        """Whether its name or what it calls says that it trains, or a step of it visibly runs."""
        return self._closure.known(
            "may train",
            lambda: self.is_to_train or next(self._base.facts("trains"), None) is not None,
        )

    @property
    def is_to_train(self) -> bool:
        """Whether its name or what it calls says that it trains."""
        return says_training(self._name) or self._calls_training

    @cached_property
    def _calls_training(self) -> bool:
        return self._index.told(self._path, "calls training", outputs.calls_training)

    def only_asks(self) -> bool:
        """Whether it asks a model for answers, and neither trains nor measures one."""
        asks = says_in_code(self._text, ANSWERS) and not outputs.calls_measuring(self._text)
        return asks and not self.may_train

    @property
    def only_shares(self) -> bool:
        """Whether it shares the code of programs that train, and is for something else: by its
        name, since it exports a model, or as a notebook or a module that tries things and starts
        nothing."""
        return self._closure.known("only shares", self._only_shares)

    def _only_shares(self) -> bool:
        apart = kind_of_name(self._name) == NOTEBOOK or self._is_module
        trains = says_training(self._name)
        starts = trains or roles.starts(self._name) or self._calls_training
        tool = roles.is_other_tool(self._name, self._shown) or says_in_code(self._text, EXPORTS)
        trains = trains or (tool and roles.trains_here(self._text))
        shares = (apart and not starts) or (tool and not trains)
        tries = self._is_module and self.tries_itself()
        return shares and (tries or not self._calls_steps())

    def _calls_steps(self) -> bool:
        """Whether its own file, which is no test and takes no times, calls a function of another
        that trains there, or such a method of what it makes."""
        if roles.is_below_tests(self._shown) or self.measures:
            return False
        paths = [each for each in self._base.holders.get("trains", ()) if each != self._path]
        found = list(self._base.standing("trains", "", paths)) if paths else []
        called = grouped(
            (each.path, each) for each in self._calls.called_in({path for path, *_ in found})
        )
        reach = self._closure.reach.parts_from
        reached = {path: reach(*some, files=frozenset((path,))) for path, some in called.items()}
        return any(path in reached and reached[path](path, part) for path, part, _ in found)

    # What it does besides

    def only_tries(self, located: Located) -> bool:
        """Whether a fact runs for the main block of a module that others import, which tries it."""
        block = self._main_block
        if located.path != self._path or not (self._is_module and block):
            return False
        stands = located.fact.row >= self._main_row
        return (stands and not roles.takes_options(block)) or roles.tries(self._name, block)

    def tries_itself(self) -> bool:
        """Whether its main block calls no program: it may try what the file defines."""
        return bool(self._main_block) and roles.tries(self._name, self._main_block)

    @cached_property
    def _main_block(self) -> str:
        """What its file does when it is run, from the line that says so on; "" without one."""
        start = main_line(self._text)
        return "" if start is None else self._text[start:]

    @property
    def _main_row(self) -> int:
        return self._closure.source.location(len(self._text) - len(self._main_block))[0]

    @cached_property
    def is_self_test(self) -> bool:
        """Whether it is a module that another program imports, whose main block tries what that
        defines: it takes no step of training itself, and leaves nothing that it does not remove."""
        says = says_training(self._name) or roles.starts(self._name) or not self.tries_itself()
        if says or not self._project.is_imported(self._path):
            return False
        left = None if roles.takes_options(self._main_block) else self._left_of_trial()
        at = (self._base.part_of(each) for each in self.training() if each.path == self._path)
        if left is None or MAIN in at:
            return False
        reached = self._closure.parts(self._closure.reach.called_by(self._path))
        codes = (
            self._index.code_of(path, part)
            for path, parts in reached.items()
            for part in self._index.outline(path).uses
            if part in parts and part != MAIN and part.rpartition(".")[2] not in left[1]
        )
        return not any(outputs.keeps(x) or says_in_code(x, TRACKS) for x in (left[0], *codes))

    def _left_of_trial(self) -> tuple[str, set[str]] | None:
        def left(unit: Unit) -> tuple[str, set[str]] | None:
            calls = unit.module.all_coded("call")
            return outputs.left_of_trial(x for x in calls if x.row >= self._main_row)

        return asked(self._index.units.of(self._path), left, None)

    @property
    def _is_module(self) -> bool:
        return self._index.is_packaged(self._path) or self._project.is_imported(self._path)

    @cached_property
    def measures(self) -> bool:
        """Whether it is there to take times, as its name and its file say."""
        return roles.measures(self._name, self._text)

    def only_checks(self) -> bool:
        """Whether it is a test, a benchmark or a server, by its name, its folder or what it
        measures with."""
        named = self._index.libraries(self._path)
        return self.only_shows or roles.checks(self._shown, self._text, named)

    @cached_property
    def only_shows(self) -> bool:
        """Whether it leaves nothing behind."""
        named = frozenset(self._index.libraries(self._path))
        return outputs.only_shows(self._closure.source, lambda some: not named.isdisjoint(some))

    def keeps(self) -> bool:
        """Whether it writes something, as the program's own file says, or a function that this
        calls."""
        return outputs.keeps(self._text) or self._closure.known("has kept", self._has_kept)

    def _has_kept(self) -> bool:
        others = [each for each in self._closure.paths if each != self._path]
        called = self._calls.called_in(frozenset(others))
        return any(outputs.keeps(self._index.code_of(*each)) for each in called)

    def does_something(self) -> bool:
        """Whether what its statements call trains or writes something, or draws where the program
        writes something."""
        return self._closure.known("does something", self._does_something)

    def _does_something(self) -> bool:
        if self._closure.known("has kept", self._has_kept):
            return True
        kinds = ("trains", *(DRAWING if self.keeps() else ()))
        if self._base.holders.keys().isdisjoint(kinds):
            return False
        parts = self._closure.parts(self._closure.reach.called_by(self._path))
        found = (each for kind in kinds for each in self._base.facts(kind))
        return any(self._base.part_of(each) in parts.get(each.path, ()) for each in found)
