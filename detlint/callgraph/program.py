"""A program: the file that a person runs, and those of the project that it imports."""

from __future__ import annotations

import itertools
import os
import re
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from detlint.callgraph import roles
from detlint.callgraph.closure import Closure
from detlint.callgraph.conditions import Conditions
from detlint.callgraph.entry_calls import EntryCalls
from detlint.callgraph.fact_base import FactBase, Located
from detlint.callgraph.purpose import ProgramPurpose
from detlint.callgraph.seed_order import SeedOrder
from detlint.callgraph.variation import Variation
from detlint.dataflow.arguments.required_arguments import is_off_by_default
from detlint.finding import Confidence, Edit, Finding, Step
from detlint.index.entrypoints import main_line
from detlint.index.facts import EVERY, HASH_SEED, REPAIRED
from detlint.index.imports import first_import
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN
from detlint.sources.paths import relative

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from detlint.callgraph.project import Project
    from detlint.dataflow.unit import Unit
    from detlint.index.facts import Fact
    from detlint.kept import Answers, Kept
    from detlint.rule import Rule
    from detlint.sources.source import Source

_LONGEST = 50
# Libraries that read configurations, or hand them on to what they make.
_LOADING = (
    *("hydra", "json", "jsonargparse", "lightning", "omegaconf", "pytorch_lightning", "toml"),
    *("tomllib", "yacs", "yaml", "ruamel"),
)
T = TypeVar("T")


class Program:
    """An entrypoint and its import closure, in the order in which they are met.

    ``path`` is its real path, ``paths`` are those of its files; ``launched`` says which variables
    the scripts set that start it, ``images`` those of images in which it may run.
    """

    def __init__(
        self,
        path: str,
        project: Project,
        launched: Iterable[Located] = (),
        images: Callable[[], Iterable[Located]] = tuple,
    ) -> None:
        self._closure = Closure(path, project)
        self.path = path
        self.paths = self._closure.paths
        self._index = self._closure.index
        self._project = project
        self._launched = list(launched)
        self._images = images
        self.let_go()

    def let_go(self) -> None:
        """Hold no more than its answers."""
        for each in ("entry_calls", "purpose", "seed_order", "variation"):
            vars(self).pop(each, None)
        self._closure.let_go()
        self._conditions = Conditions(self._closure)
        self._base = FactBase(self._closure, self._conditions, self._launched)

    @cached_property
    def entry_calls(self) -> EntryCalls:
        """What its own file visibly asks of others."""
        return EntryCalls(self._closure, self._base, self._conditions)

    @cached_property
    def purpose(self) -> ProgramPurpose:
        """What it is there for."""
        return ProgramPurpose(self._closure, self._base, self.entry_calls)

    @cached_property
    def seed_order(self) -> SeedOrder:
        """What it draws before it seeds."""
        return SeedOrder(self._closure, self._base)

    @cached_property
    def variation(self) -> Variation:
        """What of its training may differ."""
        return Variation(self._closure, self._base)

    @property
    def places(self) -> list[str]:
        """The files in which it may have findings."""
        return [self.path, *(each.path for each in self._launched)]

    @property
    def answers(self) -> Answers:
        """What is known of it."""
        return self._closure.answers

    def known(self, question: str, answer: Callable[[], T]) -> T:
        """The answer to a question, worked out if no earlier run has kept it."""
        return self._closure.known(question, answer)

    def look_up(self, kept: Kept) -> bool:
        """Take the answers that an earlier run has kept, and keep those that are given now; whether
        there are any."""
        return self._closure.look_up(kept, (self._launched, list(self._images())))

    def __contains__(self, path: str) -> bool:
        """Whether a file, by its real path, is one of the program's."""
        return path in self._closure

    # What its files hold

    def facts(  # noqa: PLR0913 - how facts are chosen
        self,
        kind: str,
        what: str = "",
        *,
        runs: bool = False,
        own: bool = False,
        apart: bool = False,
        within: Mapping[str, Container[str]] | None = None,
        counts: Callable[[Fact], bool] | None = None,
    ) -> Iterator[Located]:
        """``FactBase.facts``; ``apart``: training, too, in a program that its name says is for
        something else; ``counts``: those that count, which is asked before what they need."""
        if kind == "trains" and not apart:
            return self.purpose.training(what, own=own, within=within)
        told = None if counts is None else lambda _path, _part, fact: counts(fact)
        return self._base.facts(kind, what, runs=runs, own=own, within=within, counts=told)

    def first(self, kind: str, what: str = "", *, apart: bool = False) -> Located | None:
        """The first of these facts."""
        return next(self.facts(kind, what, apart=apart), None)

    def has(self, kind: str, what: str = "") -> bool:
        """Whether there is such a fact."""
        return self.first(kind, what) is not None

    def said(self, kind: str) -> set[str]:
        """What facts of a kind say that run, whatever they need."""
        return {fact.what for *_, fact in self._base.standing(kind)}

    def ungiven(self, kind: str) -> Iterator[tuple[Located, bool]]:
        """Facts of a kind that run, and of which no call passes the first thing that they need;
        each with whether that is sure, not where one may."""
        for path, part, fact in self._base.standing(kind):
            first, *others = fact.needs.splitlines() or [""]
            told = self._conditions
            sure = bool(first and told.doubt([first], surely=True))
            if not (sure or (first and told.is_unseen(first))):
                continue
            runs = not told.doubt(others, surely=True)
            if runs and not told.doubt_of_uses(path, part, default=False):
                yield Located(path, fact), sure

    def imports(self, *libraries: str) -> bool:
        """Whether one of its files imports one of some top-level modules."""
        return self._closure.imports(*libraries)

    def holding(self, *words: str) -> Iterator[str]:
        """Those of its files whose text holds one of some words."""
        return self._closure.holding(*words)

    def shows(self, word: str, pattern: re.Pattern[str]) -> bool:
        """Whether the text of one of its files that hold a word has what a pattern says."""
        question = f"shows {pattern.pattern}"
        ask = partial(
            self._index.told, question=question, answer=lambda text: bool(pattern.search(text))
        )
        return any(map(ask, self.holding(word)))

    def lacks(self, wanted: re.Pattern[str]) -> bool:
        """Whether one of its files imports something of the project that is not there, and of
        which a name is as wanted."""
        return any(wanted.search(" ".join(each)) for each in self._project.lacking(self.paths))

    @property
    def looks_up_modules(self) -> bool:
        """Whether it may import what its text does not name, or from where it does not say."""
        return self.known(
            "looks up modules",
            lambda: "makes_unseen" in self._base.holders or any(self.holding("sys.path")),
        )

    def defines_nothing(self, path: str) -> bool:
        """Whether a file has no functions and no classes, as configurations in Python have none."""
        return self._index.outline(path).uses.keys() <= {"", MAIN}

    @property
    def has_own_guard(self) -> bool:
        """Whether `guard` means another's there."""
        return self._project.has_own_guard(self.path)

    def deterministic_settings(self) -> Iterator[bool]:
        """Of each configuration by which a trainer turns deterministic algorithms on and that it
        may load, whether its files name that."""
        self._closure.configured = True
        for each in self._project.deterministic if self.imports(*_LOADING) else ():
            name = os.path.basename(each)
            stem, ending = map(re.escape, os.path.splitext(name))
            named = re.compile(rf"[\"'/]{stem}{ending}[\"']|\bconfig_name\s*=\s*[\"']{stem}[\"'.]")
            yield any(named.search(self.source_of(path).text) for path in self.paths)

    def asks_for_older(self, library: str, since: str) -> bool:
        """Whether it requires releases of a library that all come before one."""
        return self._project.asks_for_older(self.path, library, since)

    def keeps_hashes(self) -> bool:
        """Whether something that may start it fixes the hashes of strings."""
        sets = itertools.chain(self._launched, self._images())
        return any(each.fact.what == HASH_SEED and each.fact.text.isdigit() for each in sets)

    def is_guarded(self) -> bool:
        """Whether guard, or a helper like it, sets all that determinism needs."""
        return any(each.fact.what == EVERY for each in self.facts("enables"))

    def replaces(self, names: Iterable[str]) -> bool:
        """Whether guard replaces an operator there that has these names."""
        told = (each.fact.text for each in self.facts("enables") if each.fact.what == REPAIRED)
        given = {name for text in told for name in text.split()}
        return EVERY in given or not given.isdisjoint(names)

    # What of it runs

    def may_run(self, path: str, row: int) -> bool:
        """Whether a line of one of its files may run, for all that one can see."""
        part = self._index.part_at(path, row)
        return self.known(
            f"may run {path}:{row}", lambda: self._closure.reach.may_run(self.path, path, part)
        )

    def runs(self, path: str, row: int) -> bool:
        """Whether the text shows that a line of one of its files runs."""
        part, told = partial(self._index.part_at, path, row), self._closure
        return self.known(f"runs {path}:{row}", lambda: told.reach.runs(self.path, path, part()))

    def may_give(self, needs: Sequence[str]) -> bool:
        """Whether it may pass, or set, all that something needs."""
        ask = partial(self._conditions.doubt, needs, surely=True)
        return not needs or not self.known(f"doubts {needs}", ask)

    def may_reach(self, path: str, row: int) -> bool:
        """Whether a line runs as far as names, and the classes of objects, tell, or by a name that
        the text hides."""
        part = self._index.part_at(path, row)
        called = partial(self._may_be_used, path, part)
        told = self.runs(path, row) and self.known(f"may be used {path}:{row}", called)
        if told or not (self._base.hides_names and self.may_run(path, row)):
            return told
        return self._conditions.gets_about(Symbol(path, part))

    def shows_training(self) -> bool:
        """Whether something trains, and some of what that is about is seen."""
        return self.known("shows training", self.variation.shows_training)

    def trains_part(self, path: str, row: int) -> bool:
        """Whether a line is shown to take part in what it trains, with a gradient."""
        ask = partial(self.variation.takes_part, path, row)
        return self.known(f"trains {path}:{row}", ask)

    def _may_be_used(self, path: str, part: str) -> bool:
        """Whether what is called may be of its class, and no constant keeps it from being used."""
        told = self._conditions
        return told.may_be_called(path, part) and not told.is_unused(path, part)

    def leaves_uncalled(self, located: Located) -> bool:
        """Whether a fact stands in the forward of a class of which no object is called."""
        return not self._conditions.may_be_asked(located.path, located.fact.place)

    def surely_draws(self, located: Located, often: Container[str]) -> bool:
        """Whether its own file leads to what a fact draws, or what runs ``often`` draws
        it, and no default of a parameter keeps it from that."""
        path, fact = located
        if is_off_by_default(self.unit(path), fact.row, fact.column):
            return False
        led = path == self.path or fact.method in often
        return led or self.entry_calls.leads_to(located, often)

    def option_unset(self, located: Located) -> tuple[str, str]:
        """With which option, that a fact needs and nothing sets, that takes place, and what has it
        do so; "" if it is not known."""
        return self._conditions.option_unset(located.fact.needs.splitlines())

    def is_left_to_files(self, located: Located) -> bool:
        """Whether that option is none that code shows, but only one of what configurations hold."""
        return self._conditions.is_left_to_files(located.fact.needs.splitlines())

    def happens_by_default(self, located: Located) -> bool:
        """Whether no option keeps the function of a fact from being called by default."""
        part = self._base.part_of(located)
        return self._conditions.doubt_of_uses(located.path, part, default=True) == 0

    def is_in_workers(self, located: Located) -> bool:
        """Whether a fact only holds in the workers of a loader, which seed ``random`` and NumPy by
        torch's generator."""
        part = self._base.part_of(located)
        apart = self._closure.reach.is_in_workers(self.path, located.path, part)
        return apart and self._has_workers

    @cached_property
    def _has_workers(self) -> bool:
        lacks = partial(self._index.told, question="lacks workers", answer=roles.lacks_workers)
        if self._project.telling(self._closure.members, "lacks workers", lacks):
            return False
        loaders = self._base.standing("workers", anywhere=True)
        told = self._conditions.doubt
        return any(not told(fact.needs.splitlines(), surely=False) for *_, fact in loaders)

    def processes(
        self, kind: str = "spawns", *, handed: bool = False
    ) -> Iterator[tuple[Located, Mapping[str, Container[str]]]]:
        """Where it starts processes that inherit nothing, or has a pool run ``tasks``, each with
        the parts of files that run in these; ``handed``: also the methods of objects that they
        may be given."""
        afresh = kind == "spawns" and self.has("start_methods")
        for each in itertools.chain(self.facts(kind), self.facts("processes") if afresh else ()):
            for start in self._project.defined(each.path, each.fact.what):
                yield each, self._closure.parts_from(start, handed=handed)

    def is_within(self, located: Located, parts: Mapping[str, Container[str]]) -> bool:
        """Whether a fact stands in some parts of files."""
        part = self._base.part_of(located)
        return part in parts.get(located.path, ())

    def is_of_project(self, located: Located) -> bool:
        """Whether what a fact calls is of the project, so that what it does is known."""
        word = located.fact.text.partition("(")[0].rpartition(".")[2]
        uses = self._index.outline(located.path).uses
        part = self._base.part_of(located)
        names = uses[part].origins if part in uses else ()
        return any(
            self._project.defined(located.path, each.replace(":", "."))
            for each in names
            if each.endswith((f":{word}", f".{word}")) and not each.startswith(":")
        )

    # Findings

    def unit(self, path: str) -> Unit:
        """One of its files as the engine sees it, for one question at a time."""
        return self._index.units.of(path)

    @property
    def source(self) -> Source:
        """The entrypoint's source."""
        return self._closure.source

    def source_of(self, path: str) -> Source:
        """The source of a file, by its real path."""
        return self._index.source(path)

    @property
    def title(self) -> str:
        """What messages call it: its path below the project's folder."""
        return self._closure.shown

    def shown(self, located: Located) -> str:
        """``loss.backward()`` in backticks, with its place if that is another file."""
        text = located.fact.text
        short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        return f"`{short}`{self.where(located)}"

    def where(self, located: Located) -> str:
        """`` (lib/data.py:4)`` of a fact in another file than the program's."""
        if located.path == self.path:
            return ""
        return f" ({self.place_of(located)})"

    def place_of(self, located: Located) -> str:
        """``lib/data.py:4`` of a fact; ``train.ipynb:cell 3:4``."""
        row = self.source_of(located.path).shown_row(located.fact.row)
        return f"{self._project.shown(located.path)}:{row}"

    def finding(  # noqa: PLR0913 - what a finding consists of
        self,
        rule: type[Rule],
        at: Located | None,
        message: str,
        advice: str,
        edits: tuple[Edit, ...] = (),
        *,
        safe: bool = False,
        confidence: Confidence | None = None,
        way: tuple[Step, ...] = (),
    ) -> Finding:
        """A finding in the program's own file, or in a script that starts it: at a fact that stands
        there, or else where the program starts. Edits change the program's file. No more than
        possible where the program can't get past its imports, as it stands, or leaves nothing."""
        path, place = self.path, self._start()
        if at is not None and (at.path == self.path or at in self._launched):
            path, place = at.path, at.fact[2:6]
        sure = rule.confidence if confidence is None else confidence
        if sure > Confidence.POSSIBLE and (self.purpose.only_shows or self._fails_to_load()):
            sure = Confidence.POSSIBLE
        return Finding(
            path,
            *place,
            code=rule.code,
            name=rule.name(),
            message=message,
            advice=advice,
            edits=edits if path == self.path else (),
            safe=safe,
            confidence=sure,
            way=way,
        )

    def _fails_to_load(self) -> bool:
        return self.known("fails to load", partial(self._project.fails_to_load, self.path))

    def step(self, located: Located, text: str) -> Step:
        """A place on the way of one of its findings."""
        folder = os.path.dirname(self.path)
        path = "" if located.path == self.path else relative(located.path, folder)
        return Step(*located.fact[2:6], text, path)

    def _start(self) -> tuple[int, int, int, int]:
        source = self.source
        main = main_line(source.text)
        # Without a main block: not at a comment, or at what installs packages in a notebook.
        row, column = source.location(first_import(source.text) if main is None else main)
        if main is None:
            row = self._project.starts(self.path) or row
        return row, column, row, len(source.line(row)) + 1
