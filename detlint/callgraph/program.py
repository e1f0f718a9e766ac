"""A program: the file that a person runs, and those of the project that it imports."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Container, Mapping
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from detlint.callgraph import roles
from detlint.callgraph.conditions import Conditions
from detlint.callgraph.trained import Trained, whole
from detlint.finding import Edit, Finding, Step
from detlint.index.entrypoints import main_line
from detlint.index.facts import (
    ABOUT,
    DRAWING,
    EVERY,
    HASH_SEED,
    HIDING,
    IDLE,
    MAY_BE,
    NEVER,
    ONCE,
    REPAIRED,
    SEEDING,
    TESTED,
    THAWS,
    TRAINER,
    UNSEEN_NAMES,
    UNSET,
    VARYING,
    Fact,
    seed_needed,
)
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN
from detlint.kept import known
from detlint.models.loading import AT_ONCE
from detlint.models.varying import (
    BRINGING,
    BY_SIZE,
    FROZEN,
    QUOTED,
    brings,
    is_model,
    kind_of,
    only_tells,
    ranked,
)
from detlint.sources.kinds import NOTEBOOK, kind_of_name
from detlint.sources.paths import relative
from detlint.syntax.mentions import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.callgraph.precedence import Branch, Precedence
    from detlint.callgraph.project import Project
    from detlint.callgraph.reachability import Reachability
    from detlint.dataflow.unit import Unit
    from detlint.finding import Confidence
    from detlint.kept import Answers, Kept
    from detlint.rule import Rule
    from detlint.sources.source import Source


_LONGEST = 50
_STEPS = 2  # imports, one after the other, that lead to what it asks for by what it uses
_SETTLING = SEEDING | {"enables", "sets", "tells"}
_USED = SEEDING | DRAWING | VARYING | {"freezes"}
_CALLED = (_USED - VARYING) | {"trains"}
# Libraries that read configurations, or hand them on to what they make.
_LOADING = (
    *("hydra", "json", "jsonargparse", "lightning", "omegaconf", "pytorch_lightning", "toml"),
    *("tomllib", "yacs", "yaml", "ruamel"),
)
_RARE = frozenset({"trains", "enables"})


# Beside the answers that depend on what configurations set: a digest of these.
_CONFIGURED = "configurations"
T = TypeVar("T")


class Located(NamedTuple):
    """A fact and the file that holds it."""

    path: str
    fact: Fact


class Varying(NamedTuple):
    """What may differ of what a program trains.

    at          the layer, operator or model; None where none is seen
    foreign     the model of a library of which nothing is known
    is_trained  it is of what is trained, and not of whatever the program makes
    """

    at: Located | None
    foreign: str
    is_trained: bool


class _Reached(Mapping[str, Container[str]]):
    """The parts of a program's files that are reached, by the paths of these."""

    def __init__(self, program: Program, reaches: Callable[[str, str], bool]) -> None:
        self._program = program
        self._reaches = reaches

    def __getitem__(self, path: str) -> Container[str]:
        if path not in self._program:
            raise KeyError(path)
        return _Parts(path, self._reaches)

    def __iter__(self) -> Iterator[str]:
        return iter(self._program.paths)

    def __len__(self) -> int:
        return len(self._program.paths)


class _Parts:
    """Those of one file."""

    def __init__(self, path: str, reaches: Callable[[str, str], bool]) -> None:
        self._path = path
        self._reaches = reaches

    def __contains__(self, part: object) -> bool:
        return self._reaches(self._path, str(part))


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
        self.path = path
        self.paths = project.closure(path)
        self.answers: Answers = {}
        self._project = project
        self._launched = list(launched)
        self._images = images
        self._index = project.index
        self.members = frozenset(self.paths)
        self._conditions = Conditions(path, self.paths, self.members, project)
        self._ways: dict[tuple[str, str], list[Callable[[str, str], bool]]] = {}
        self._parts_from = cache(self._reached_from)
        self._named = cache(self._find_named)
        self._known_running: dict[tuple[str, str, bool], Sequence[tuple[str, Fact]]] = {}

    @property
    def places(self) -> list[str]:
        """The files in which it may have findings."""
        return [self.path, *(each.path for each in self._launched)]

    def forget(self) -> None:
        """Let go of what one rule asks again and again, for each library."""
        self._named.cache_clear()
        self._known_running.clear()
        if "_precedence" in vars(self):
            self._precedence.forget()

    def known(self, question: str, answer: Callable[[], T]) -> T:
        """The answer to a question, worked out if no earlier run has kept it."""
        told = known(self.answers, question, answer)
        if self._conditions.configured:
            self.answers[_CONFIGURED] = self._project.state_of_configurations
        return told

    def look_up(self, kept: Kept) -> None:
        """Take the answers that an earlier run has kept, and keep those that are given now."""
        besides = (self._launched, list(self._images()), *self._project.depends_on(self.path))
        self.answers = kept.answers(self.path, self.paths, besides)
        state = self.answers.get(_CONFIGURED)
        if state is not None and state != self._project.state_of_configurations:
            self.answers.clear()

    def __contains__(self, path: str) -> bool:
        """Whether a file, by its real path, is one of the program's."""
        return path in self.members

    def only_tries(self, located: Located) -> bool:
        """Whether a fact runs for the main block of a module that others import, which tries it."""
        source = self._index.source(located.path)
        start = main_line(source.text)
        module = self._index.is_packaged(located.path)
        if located.path == self.path:
            module = self._is_module
        if not module or start is None:
            return False
        stands = located.fact.row >= source.location(start)[0]
        if located.path != self.path:
            return stands
        block = source.text[start:]
        return (stands and not roles.takes_options(block)) or roles.tries(self.name, block)

    def tries_itself(self) -> bool:
        """Whether its main block calls no program: it may try what the file defines."""
        start = main_line(self.source.text)
        return start is not None and roles.tries(self.name, self.source.text[start:])

    def is_in_workers(self, located: Located) -> bool:
        """Whether a fact only holds in the workers of a loader, which seed ``random`` and NumPy by
        torch's generator."""
        part = self._index.part_at(located.path, located.fact.row)
        apart = self._reach.is_in_workers(self.path, located.path, part)
        return apart and self._has_workers

    def _starts_workers(self, path: str, part: str) -> bool:
        """Whether a part of a file only runs when the workers of a loader start."""
        starts = "worker_starts" in self._holders
        return starts and self._reach.starts_workers(self.path, path, part)

    def leaves_uncalled(self, located: Located) -> bool:
        """Whether a fact stands in the forward of a class of which no object is called."""
        return not self._conditions.may_be_asked(located.path, located.fact.place)

    def _asks_for(self, located: Located, often: Container[str]) -> bool:
        """Whether its own file visibly leads to a fact of another one: it names a function of that
        file that gets there, or the class and the method; one that runs ``often`` goes unsaid."""
        place = located.fact.place
        owner, _, word = place.rpartition(".")
        if owner and owner in words(self.source.text):
            often_asked = word in often and not self.leaves_uncalled(located)
            return self._names_method(word) or often_asked
        ways = self._ways_into(located.path, owner) if place else ()
        return any(each(located.path, place) for each in ways)

    def _names_method(self, word: str) -> bool:
        return word in self._methods_named

    @cached_property
    def _methods_named(self) -> frozenset[str]:
        """The words of its own file that may name methods."""
        return frozenset(x for x in words(self.source.text) if not x.startswith("__"))

    def _ways_into(self, path: str, owner: str) -> list[Callable[[str, str], bool]]:
        """What of a file is reached there from each function that its own file names; or, of a
        class, from each method that it looks up in what an imported function made."""
        if (path, owner) not in self._ways:
            starts = self._methods_asked(path, owner) if owner else self._functions_named(path)
            home = frozenset((path,))
            self._ways[path, owner] = [
                self._reach.parts_from(*(Symbol(path, each) for each in parts), files=home)
                for parts in starts
            ]
        return self._ways[path, owner]

    def _functions_named(self, path: str) -> Iterator[tuple[str, ...]]:
        outline = self._index.outline(path)
        functions = outline.uses.keys() - outline.classes.keys() - {"", MAIN, "main"}
        yield from ((each,) for each in sorted(functions & words(self.source.text)))

    def _methods_asked(self, path: str, owner: str) -> Iterator[tuple[str, ...]]:
        """Each with its class, for which the other methods wait."""
        for part in self._index.outline(path).uses if owner in self._made.get(path, ()) else ():
            name, _, method = part.partition(".")
            if name == owner and self._looks_up(method):
                yield owner, part

    def _looks_up(self, method: str) -> bool:
        """Whether its own file looks up a method in what a function made, for all that it shows."""
        return self._names_method(method) and any(
            not each.owners or not all(map(self._is_class, self._meant(each.owners)))
            for each in self._index.receivers(self.path, method)
        )

    def _meant(self, names: Iterable[str]) -> Iterator[Symbol]:
        """What of the project its own file means by qualified names."""
        for name in names:
            yield from self._project.defined(self.path, name)

    def _is_class(self, symbol: Symbol) -> bool:
        return symbol.part in self._index.outline(symbol.path).classes

    @cached_property
    def _made(self) -> dict[str, set[str]]:
        """The classes of other files that functions lead to which its own file imports, if it names
        a method of theirs."""
        names = (
            f"{'.' * each.level}{each.module}.{name}"
            for each in self._index.imports(self.path)
            for name in each.names
        )
        makers = [each for each in self._meant(names) if each.part and not self._is_class(each)]
        reached, found = self._parts_from(*makers) if makers else {}, dict[str, set[str]]()
        asked = map(self._reach.having, self._methods_named) if reached else ()
        for path, owner in dict.fromkeys(itertools.chain.from_iterable(asked)):
            if path != self.path and owner in reached.get(path, ()):
                found.setdefault(path, set()).add(owner)
        return found

    def _find_named(self, kind: str) -> dict[str, set[str]]:
        """The parts of other files that may hold facts of a kind and that it may ask for, by the
        classes and functions that its own file names."""
        named, found = words(self.source.text), dict[str, set[str]]()
        for path in self._holders.get(kind, ()):
            outline = self._index.outline(path)
            classes = named.intersection(outline.classes) | self._made.get(path, set())
            calls = not named.isdisjoint(outline.uses.keys() - outline.classes.keys())
            if path == self.path or not (classes or calls):
                continue
            for part in outline.uses:
                owner = part.partition(".")[0]
                if owner in classes or (calls and owner not in outline.classes):
                    found.setdefault(path, set()).add(part)
        return found

    @cached_property
    def _has_workers(self) -> bool:
        ask = self._index.told
        lacks = partial(ask, question="lacks workers", answer=roles.lacks_workers)
        if self._project.telling(self.members, "lacks workers", lacks):
            return False
        if any(ask(each, "has workers", roles.has_workers) for each in self.paths):
            return True
        holders = self._holders.get("workers", ())
        loaders = self._standing("workers", "", holders, anywhere=True)
        told = self._conditions.doubt
        return any(not told(fact.needs.splitlines(), surely=False) for *_, fact in loaders)

    def may_run(self, path: str, row: int) -> bool:
        """Whether a line of one of its files may run, for all that one can see."""
        part = self._index.part_at(path, row)
        return self.known(
            f"may run {path}:{row}", lambda: self._reach.may_run(self.path, path, part)
        )

    def runs(self, path: str, row: int) -> bool:
        """Whether the text shows that a line of one of its files runs."""
        return self.known(f"runs {path}:{row}", partial(self._runs, path, row))

    def may_give(self, needs: Sequence[str]) -> bool:
        """Whether it may pass, or set, all that something needs."""
        ask = partial(self._conditions.doubt, needs, surely=True)
        return not needs or not self.known(f"doubts {needs}", ask)

    def may_reach(self, path: str, row: int) -> bool:
        """Whether a line runs as far as names, and the classes of objects, tell, or by a name that
        the text hides."""
        hides = not HIDING.isdisjoint(self._holders)
        part = self._index.part_at(path, row)
        called = partial(self._may_be_used, path, part)
        told = self.runs(path, row) and self.known(f"may be used {path}:{row}", called)
        return told or (hides and self.may_run(path, row))

    def _may_be_used(self, path: str, part: str) -> bool:
        """Whether what is called may be of its class, and no constant keeps it from being used."""
        told = self._conditions
        return told.may_be_called(path, part) and not told.is_unused(path, part)

    def _runs(self, path: str, row: int) -> bool:
        return self._reach.runs(self.path, path, self._index.part_at(path, row))

    def option_unset(self, located: Located) -> str:
        """The option that a fact needs and nothing sets; "" if it is not known."""
        return self._conditions.option_unset(located.fact.needs.splitlines())

    def value_unset(self, located: Located) -> str:
        """A value of that option with which it takes place; "" of an option that has none."""
        return self._conditions.value_unset(located.fact.needs.splitlines())

    def is_left_to_files(self, located: Located) -> bool:
        """Whether that option is none that code shows, but only one of what configurations hold."""
        return self._conditions.is_left_to_files(located.fact.needs.splitlines())

    def happens_by_default(self, located: Located) -> bool:
        """Whether no option keeps the function of a fact from being called by default."""
        path = located.path
        part = self._index.part_at(path, located.fact.row)
        return self._conditions.doubt_of_uses(path, part, default=True) == 0

    def seeds_before(self, library: str, path: str, row: int) -> bool:
        """Whether it certainly seeds a library's global generator before it gets to a line."""
        found = self.facts("seeds", library, runs=True)
        sure = (each for each in found if each.fact.doubt not in (UNSET, ONCE))
        seeds = [(each.path, each.fact.row) for each in sure]
        return any(self._precedence.comes_first(each, (path, row)) for each in seeds)

    def drawn_before(
        self, library: str, kinds: Iterable[str], among: Iterable[Located] | None = None
    ) -> tuple[Located, str, Located] | None:
        """What it certainly draws before it seeds a library, ``among`` some draws if these alone
        count: such a draw, its kind, and the first seed."""
        seeds = self._seeds_of(library)
        places = [(each.path, each.fact.row) for each in seeds]
        found = self._precedence.passes_before(places) if places else None
        if found is None:
            return None
        end, passage = found
        seed = next((each for each in seeds if (each.path, each.fact.row) == end), seeds[0])
        for kind in kinds:
            parts = passage.parts
            for path in self.paths:
                parts.setdefault(path, set()).update(self._parts_at_import(path, kind))
            drawn = self.facts(kind, library, within=parts) if among is None else among
            for each in drawn:
                # What is made to draw an order does when something goes through it.
                waits = kind == "orders" and each.fact.text not in AT_ONCE
                if waits or each.fact.doubt:
                    continue
                passed = self._precedence.is_passed(each.path, each.fact.row, passage)
                if passed and not self.is_replaced(each):
                    return each, kind, seed
        return None

    def unseeded_branches(
        self, library: str
    ) -> Iterator[tuple[Located, Callable[[Located], bool]]]:
        """Where all that seeds a library stands in one branch: what seeds, and of each other branch
        whether a fact only holds there."""
        seeds = self._seeds_of(library)
        places = [(each.path, each.fact.row) for each in seeds]
        for branch in self._precedence.branches_without(places):
            yield seeds[0], partial(self._is_of, branch)

    def _is_of(self, branch: Branch, located: Located) -> bool:
        return self._precedence.is_of(located.path, located.fact.row, branch)

    def _seeds_of(self, library: str) -> list[Located]:
        """All that may seed a library."""
        files = self._holders.get("seeds", ())
        found = self._standing("seeds", library, files, anywhere=True)
        return [Located(path, fact) for path, _, fact in found]

    def is_replaced(self, located: Located) -> bool:
        """Whether a checkpoint replaces first weights wherever they are drawn."""
        return bool(self._replaced) and self._makes_replaced(located.path, located.fact.row)

    @cached_property
    def _replaced(self) -> dict[tuple[str, int], bool]:
        """Of lines that make modules, whether a checkpoint always replaces all their weights before
        these are trained."""
        found = (each for each in self.facts("replaces") if not self._trains_first(each))
        return {(each.path, each.fact.row): True for each in found}

    def _trains_first(self, located: Located) -> bool:
        """Whether something trains of what a module is given to before a checkpoint replaces it."""
        starts = [x for each in located.fact.what.split() for x in self._called(located.path, each)]
        reaches = self._reach.parts_from(*starts, files=self.members)
        found = self.facts("trains", apart=True) if starts else ()
        parts = ((each.path, self._index.part_at(each.path, each.fact.row)) for each in found)
        return any(part and reaches(path, part) for path, part in parts)

    def _makes_replaced(self, path: str, row: int) -> bool:
        if (path, row) not in self._replaced:
            self._replaced[path, row] = False  # one that makes itself settles nothing
            part = self._index.part_at(path, row)
            users = self._reach.users(path, part) if part not in ("", MAIN) else []
            lines = [
                (file, line)
                for file, user in users
                if file in self and self._reach.runs(self.path, file, user)
                for line, _ in self._index.uses(file, part.rpartition(".")[2], default=False)
                if self._index.part_at(file, line) == user
            ]
            found = bool(lines) and all(self._makes_replaced(*each) for each in lines)
            self._replaced[path, row] = found
        return self._replaced[path, row]

    def _called(self, path: str, name: str) -> Iterator[Symbol]:
        """What of the project runs where a file calls what it means by a qualified name: of a
        method, also its class, which the other methods wait for."""
        yield from self._project.defined(path, name)
        above, _, method = name.rpartition(".")
        for owner in self._project.defined(path, above) if above else ():
            for each in self._project.lineage(owner):
                yield from (each, Symbol(each.path, f"{each.part}.{method}"))

    def _parts_at_import(self, path: str, kind: str) -> Iterable[str]:
        """The parts of a file in which facts may hold that run with it: its statements, and of
        draws the bodies of its classes, which have no layers."""
        return "", *(self._index.outline(path).classes if kind == "draws" else ())

    def processes(
        self, kind: str = "spawns"
    ) -> Iterator[tuple[Located, Mapping[str, Container[str]]]]:
        """Where it starts processes that inherit nothing, or has a pool run ``tasks``, each with
        the parts of files that run in these."""
        afresh = kind == "spawns" and self.has("start_methods")
        for each in itertools.chain(self.facts(kind), self.facts("processes") if afresh else ()):
            for start in self._project.defined(each.path, each.fact.what):
                yield each, self._parts_from(start)

    def _reached_from(self, *starts: Symbol) -> Mapping[str, Container[str]]:
        reaches = self._reach.parts_from(*starts, files=self.members)
        return _Reached(self, reaches)

    def is_within(self, located: Located, parts: Mapping[str, Container[str]]) -> bool:
        """Whether a fact stands in some parts of files."""
        part = self._index.part_at(located.path, located.fact.row)
        return part in parts.get(located.path, ())

    @cached_property
    def _precedence(self) -> Precedence:
        return self._reach.precedence(self.paths)

    @property
    def _reach(self) -> Reachability:
        return self._project.reach_of(self.path)

    @property
    def _is_module(self) -> bool:
        return self._index.is_packaged(self.path) or self._project.is_imported(self.path)

    @cached_property
    def _measures(self) -> bool:
        """Whether it is there to take times, as its name and its file say."""
        return roles.measures(self.name, self.source.text)

    @property
    def is_below_tests(self) -> bool:
        """Whether it lies in a folder of tests."""
        return roles.is_below_tests(self._shown)

    def only_checks(self) -> bool:
        """Whether it is a test, a benchmark or a server, by its name, its folder or what it
        measures with."""
        return roles.checks(self._shown, self.source.text, self._index.libraries(self.path))

    def keeps(self) -> bool:
        """Whether it writes something, as the program's own file says."""
        return roles.keeps(self.source.text)

    def writes_rows(self) -> bool:
        """Whether it writes rows or files, as the program's own file says."""
        return roles.writes_rows(self.source.text)

    def makes_data(self) -> bool:
        """Whether it writes data for a model, as the program's own file says."""
        return roles.makes_data(self.source.text)

    def does_something(self) -> bool:
        """Whether what its statements call trains, or draws where the program writes something."""
        return self.known("does something", self._does_something)

    def _does_something(self) -> bool:
        kinds = ("trains", *(DRAWING if self.keeps() else ()))
        if not any(kind in self._holders for kind in kinds):
            return False
        called = self._reach.called_by(self.path)
        parts = _Reached(self, called)
        reached = (
            kind
            for kind in kinds
            for path in self._holders.get(kind, ())
            if any(each in parts[path] for each in self._index.parts_with(path, kind))
        )  # most reach none, as far as tokens tell
        found = (each for kind in dict.fromkeys(reached) for each in self.facts(kind, apart=True))
        return any(self.is_within(each, parts) for each in found)

    def imports(self, *libraries: str) -> bool:
        """Whether one of its files imports one of some top-level modules."""
        found = self._imported.intersection(libraries)
        return any(
            self._project.telling(
                self.members, ("brings", each), partial(self._index.brings, library=each)
            )
            for each in found
        )

    @cached_property
    def _imported(self) -> frozenset[str]:
        """As far as texts tell, which may show what others import."""
        return frozenset().union(*map(self._index.libraries, self.paths))

    def facts(  # noqa: PLR0913 - how facts are chosen
        self,
        kind: str,
        what: str = "",
        *,
        runs: bool = False,
        own: bool = False,
        apart: bool = False,
        within: Mapping[str, Container[str]] | None = None,
    ) -> Iterator[Located]:
        """Facts of one kind, about one library or variable; ``own``: in the entrypoint alone;
        ``apart``: training, too, in a program that its name says is for something else;
        ``within``: in these parts of files.

        What settles a matter counts wherever it stands, unless it visibly never runs, since code
        may be reached in ways that its text does not show; what raises one, or with ``runs`` any,
        where the text shows that it runs. ``NAME=value`` is about a variable that is set to just
        that.
        """
        anywhere = kind in _SETTLING and not runs
        paths = [each for each in self._holders.get(kind, ()) if each == self.path or not own]
        if within is not None:
            paths = [each for each in paths if each in within]
        if kind == "trains" and paths and not apart and self._measures:
            return
        shared = kind == "trains" and bool(paths) and not apart and self.only_shares
        for path, part, fact in self._standing(kind, what, paths, within, anywhere=anywhere):
            if shared and path != self.path and not self._is_loop(path, part):
                continue
            doubt = self._doubt(kind, path, part, fact, surely=not anywhere)
            if doubt != NEVER and not (kind == "seeds" and self._starts_workers(path, part)):
                yield Located(path, fact._replace(doubt=doubt or fact.doubt))
        if kind == "sets":
            # What a script sets to something unknown may be the value that is asked about.
            what, _, value = what.partition("=")
            asked = ("", value) if value else None
            yield from (
                each
                for each in self._launched
                if what in ("", each.fact.what) and (asked is None or each.fact.text in asked)
            )

    def _doubt(self, kind: str, path: str, part: str, fact: Fact, *, surely: bool) -> int:
        """What a fact needs that the program may not give."""
        doubt = self._conditions.doubt(fact.needs.splitlines(), surely=surely)
        if kind in _USED and doubt == 0:
            doubt = self._conditions.doubt_of_uses(path, part, default=kind not in DRAWING)
        if kind in _CALLED and not self._conditions.may_be_called(path, part):
            return NEVER
        return doubt

    def asked_for(
        self, kind: str, what: str, often: Container[str], *, every: bool = False
    ) -> Iterator[Located]:
        """Sure facts of other files that its own file visibly leads to: first what it calls, last
        what is used by what it uses, under no test; ``every``: also those on which nothing seems
        to depend, or that need what it may not pass."""
        named, unsaid = self._named(kind), []

        def counts(each: Located) -> bool:
            doubt = each.fact.doubt
            return doubt in (0, TESTED, IDLE) if every else not doubt or self._passes(each.fact)

        def asks(each: Located) -> bool:
            return counts(each) and self._asks_for(each, often)

        for each in self._sure(kind, what, named, named, asks):
            if each.fact.method in often:
                unsaid.append(each)
            else:
                yield each
        yield from unsaid
        holders = self._holders.get(kind, ())
        others = [each for each in self._near if each in holders and each != self.path]
        asked = partial(self._conditions.is_asked_for, often=often)
        yield from self._sure(kind, what, others, None, lambda each: counts(each) and asked(*each))

    @cached_property
    def _near(self) -> list[str]:
        return self._project.near(self.path, _STEPS)

    def _sure(
        self,
        kind: str,
        what: str,
        paths: Iterable[str],
        within: Mapping[str, Container[str]] | None,
        asked: Callable[[Located], bool],
    ) -> Iterator[Located]:
        """Those that are asked for, if no argument or option keeps them from running."""
        for path, part, fact in self._standing(kind, what, paths, within, anywhere=False):
            located = Located(path, fact)
            if asked(located) and not self._doubt(kind, path, part, fact, surely=True):
                yield located

    def _passes(self, fact: Fact) -> bool:
        """Whether calls in its own file pass a function all that a fact of another needs, which
        stands behind a test."""
        needs = fact.needs.splitlines()
        own = [each for each in needs if seed_needed(each)[0] == fact.method]
        return (
            fact.doubt == TESTED
            and bool(needs)
            and own == needs
            and all(map(self._conditions.passes, own))
        )

    def _is_loop(self, path: str, part: str) -> bool:
        """Whether a tool trains by a part of a file: its own file calls that, a function that
        takes steps itself, and no method of a class that the tool has for something else."""
        of_class = part.partition(".")[0] in self._index.outline(path).classes
        if of_class or self._is_module or kind_of_name(self.name) == NOTEBOOK:
            return False
        called = any(user == self.path for user, _ in self._reach.users(path, part))
        steps = part in self._index.parts_with(path, "steps")
        return called and steps and not roles.is_below_tests(self._shown)

    def ungiven(self, kind: str) -> Iterator[Located]:
        """Facts of a kind that run, and of which no call passes the first thing that they need."""
        paths = self._holders.get(kind, ())
        for path, part, fact in self._standing(kind, "", paths, anywhere=False):
            first, *others = fact.needs.splitlines() or [""]
            told = self._conditions
            if not first or not told.doubt([first], surely=True):
                continue
            runs = not told.doubt(others, surely=True)
            if runs and not told.doubt_of_uses(path, part, default=False):
                yield Located(path, fact)

    def _standing(
        self,
        kind: str,
        what: str,
        paths: Iterable[str],
        within: Mapping[str, Container[str]] | None = None,
        *,
        anywhere: bool,
    ) -> Iterator[tuple[str, str, Fact]]:
        """Such facts in some files with the parts that they stand in, whatever they need."""
        what, _, value = what.partition("=")
        if what and what not in ABOUT.get(kind, (what,)):
            return
        for path in paths:
            for part, fact in self._running(kind, path, within, anywhere=anywhere):
                if (
                    self._is_about(fact, what)
                    and (kind != "trains" or self._learns_by(fact))
                    and value in ("", fact.text)
                ):
                    yield path, part, fact

    def _running(
        self,
        kind: str,
        path: str,
        within: Mapping[str, Container[str]] | None,
        *,
        anywhere: bool,
    ) -> Sequence[tuple[str, Fact]]:
        """Those in one file, whatever they are about: asked once for all libraries."""
        asked = kind, path, anywhere
        if within is None and asked in self._known_running:
            return self._known_running[asked]
        runs = partial(self._reach.may_run if anywhere else self._reach.runs, self.path, path)
        if anywhere or kind in _RARE:
            found = self._index.facts(path, kind)
            found = [each for each in found if kind == "tells" or runs(each[0])]
        else:  # what a part does takes longer to tell than whether it runs, where there are many
            given = None if within is None else within[path]
            found = self._index.facts(
                path, kind, lambda part: (given is None or part in given) and runs(part)
            )
        if within is None:
            self._known_running[asked] = found or ()
        return found

    @cached_property
    def _holders(self) -> dict[str, list[str]]:
        """The files that may hold facts, by their kind."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            for kind in self._index.kinds(path):
                found.setdefault(kind, []).append(path)
        return found

    def deterministic_settings(self) -> Iterator[bool]:
        """Of each configuration by which a trainer turns deterministic algorithms on and that it
        may load, whether its files name that."""
        self._conditions.configured = True
        for each in self._project.deterministic if self.imports(*_LOADING) else ():
            name = os.path.basename(each)
            stem, ending = map(re.escape, os.path.splitext(name))
            named = re.compile(rf"[\"'/]{stem}{ending}[\"']|\bconfig_name\s*=\s*[\"']{stem}[\"'.]")
            yield any(named.search(self.source_of(path).text) for path in self.paths)

    def keeps_hashes(self) -> bool:
        """Whether something that may start it fixes the hashes of strings."""
        sets = itertools.chain(self._launched, self._images())
        return any(each.fact.what == HASH_SEED and each.fact.text.isdigit() for each in sets)

    def varying(self) -> Varying:
        """What may differ from run to run on a GPU: rather of what it trains and what computes a
        loss with that; else, where that is not seen, of what it runs."""
        trained = self._trained
        found = _surest(self._varying_of_trained())
        if found is not None and found.fact.what != BY_SIZE:
            return Varying(found, "", is_trained=True)
        foreign = trained.foreign or self._unlocated()
        if trained.is_seen and not foreign:
            foreign = trained.brought
            if foreign or found is not None or not trained.hides():
                return Varying(None if foreign else found, foreign, is_trained=True)
        if not foreign:
            found = _surest(self._varying_of_all())
            foreign = trained.brought if found is None else ""
        return Varying(None if foreign else found, foreign, is_trained=bool(foreign))

    def _unlocated(self) -> str:
        """A model of a library that it trains and of which no fact tells where."""
        kinds = [what for _, what in self._varying_kinds]
        named = (name for _, name in self._trained.libraries if kind_of([name]) in kinds)
        return next((each for each in named if is_model(kind_of([each]))), "")

    def _varying_of_trained(self) -> Iterator[Located]:
        """What may differ of what it trains, the surest first."""
        trained = self._trained
        steps = self.facts("trains", "torch", apart=True)
        near = {(each.path, self._index.part_at(each.path, each.fact.row)) for each in steps}
        named = [one for each in trained.libraries for one in self._naming(*each)]
        for kind, what in self._varying_kinds:
            for path, part, fact in self._each(
                kind, what, among=lambda *each: each in near or trained.has(*each)
            ):
                # A layer that is made where a loss goes back is trained if an optimizer gets it.
                part_of_it = trained.has(path, part) or kind == "operators" or _is_function(fact)
                if part_of_it and not trained.is_idle(path, part, fact.row, among=trained.has):
                    yield Located(path, fact)
            kinds = (what, FROZEN) if is_model(what) else (what,)
            yield from (each for each in named if kind == "layers" and each.fact.what in kinds)

    def _naming(self, path: str, name: str) -> Iterator[Located]:
        """Where a file names what a library has."""
        word = name.rpartition(".")[2]
        found = self._standing("layers", "", (path,), anywhere=False)
        for _, _, fact in self._given("layers", found):
            if fact.text.rpartition(".")[2] == word:
                yield Located(path, fact)

    def _varying_of_all(self) -> Iterator[Located]:
        """What may differ of all that it runs, rather what visibly runs."""
        hides = not HIDING.isdisjoint(self._holders)
        for anywhere in (False, True) if hides else (False,):
            for kind, what in self._varying_kinds:
                for path, part, fact in self._each(kind, what, anywhere=anywhere):
                    among = self._may_take_part
                    idle = partial(self._trained.is_idle, path, part, fact.row, among=among)
                    if among(path, part) and not idle():
                        yield Located(path, fact)

    def _may_take_part(self, path: str, part: str) -> bool:
        """Whether a part may take part in the training for all that one sees: not what workers of
        a loader alone run."""
        return not self._reach.is_in_workers(self.path, path, part)

    @cached_property
    def _trained(self) -> Trained:
        facts = self.facts("trained", apart=True)
        told = [(each.path, each.fact.what) for each in facts]
        if handed := self.hands_model_on:
            given = (each.removesuffix(UNSEEN_NAMES) for each in handed.fact.what.split()[1:])
            told.append((handed.path, " ".join(f"{MAY_BE}{each}" for each in given if each)))
        return Trained(self.path, self.members, self._project, told, self._frozen)

    def _frozen(self) -> Iterator[tuple[str, str]]:
        """What it freezes in any case, and what gets gradients in some."""
        for each in self.facts("freezes", apart=True):
            if not each.fact.doubt or each.fact.what.startswith(THAWS):
                yield each.path, each.fact.what

    @cached_property
    def _varying_kinds(self) -> list[tuple[str, str]]:
        repeat = self.has("enables", "cudnn") and not self.has("times", "cudnn")
        return list(ranked(convolutions=not repeat))

    def _each(
        self,
        kind: str,
        what: str,
        *,
        anywhere: bool = False,
        among: Callable[[str, str], bool] | None = None,
    ) -> Iterator[tuple[str, str, Fact]]:
        """Facts, of which mostly the first will do: parts are read one after the other, first those
        of files that train. Else it is the same order for all programs, which share what they
        read."""
        train = self._holders.get("trains", ())
        for path in sorted(self._holders.get(kind, ()), key=lambda each: (each not in train, each)):
            if anywhere:
                yield from self._given(kind, self._standing(kind, what, (path,), anywhere=True))
                continue
            for part in self._index.parts_with(path, kind):
                if among is None or among(path, part):
                    within = {path: (part,)}
                    found = self._standing(kind, what, (path,), within, anywhere=False)
                    yield from self._given(kind, found)

    def _given(
        self, kind: str, found: Iterable[tuple[str, str, Fact]]
    ) -> Iterator[tuple[str, str, Fact]]:
        """Those of some facts that the program may give what they need, if their kind says that."""
        for path, part, fact in found:
            doubt = self._doubt(kind, path, part, fact, surely=True) if kind in VARYING else 0
            if doubt != NEVER:
                yield path, part, fact._replace(doubt=doubt or fact.doubt)

    def shows_its_models(self) -> bool:
        """Whether it makes layers of torch, and imports nothing that may bring others."""
        made = "makes_unseen" not in self._holders and self.has("builds", "torch")
        return made and not any(map(self._brings_models, self.paths))

    @cached_property
    def hands_model_on(self) -> Located | None:
        """Where a model with layers is given to what trains, in a module that is not there."""
        holders = self._holders.get("trainees", ())
        for path, _, fact in self._standing("trainees", "", holders, anywhere=False):
            trains, *given = fact.what.split()
            if not self._project.defined(path, trains) and any(
                self._is_model(path, each) for each in given
            ):
                return Located(path, fact)
        return None

    def _is_model(self, path: str, marked: str) -> bool:
        """Whether a class that a file names has layers of torch: one of the project, or else one
        with a mark."""
        name = marked.removesuffix(UNSEEN_NAMES)
        found = self._project.defined(path, name)
        if not found:
            return marked != name
        return any(
            self.facts("builds", "torch", within=self._parts_from(*whole(self._project, found)))
        )

    def is_of_project(self, located: Located) -> bool:
        """Whether what a fact calls is of the project, so that what it does is known."""
        word = located.fact.text.partition("(")[0].rpartition(".")[2]
        uses = self._index.outline(located.path).uses
        part = self._index.part_at(located.path, located.fact.row)
        names = uses[part].origins if part in uses else ()
        return any(
            self._project.defined(located.path, each.replace(":", "."))
            for each in names
            if each.endswith((f":{word}", f".{word}")) and not each.startswith(":")
        )

    def _is_foreign(self, path: str, origin: str) -> bool:
        """Whether a part of a file names something of a library that may bring models, of which
        it is not known that they repeat."""
        name = origin.replace(":", ".")
        library = name.partition(".")[0]
        if not library or not brings(name) or self._project.holds(path, library):
            return False
        kind = kind_of([name])
        return not only_tells(name) and (not kind or ("layers", kind) in self._varying_kinds)

    def _brings_models(self, path: str) -> bool:
        named = [
            f"{each.module}.{name}"
            for each in self._index.imports(path)
            if not each.level
            for name in each.names or ("",)
        ]
        partly = [each for each in named if each.startswith(BRINGING)]
        if any(self._is_foreign(path, each) for each in named if each not in partly):
            return True
        if not partly and not self._index.holds(path, BRINGING):
            return False
        used = (each for uses in self._index.outline(path).uses.values() for each in uses.origins)
        parts = (each for each in used if each.replace(":", ".").startswith(BRINGING))
        return self._index.holds(path, QUOTED) or any(map(partial(self._is_foreign, path), parts))

    def first(self, kind: str, what: str = "", *, apart: bool = False) -> Located | None:
        """The first of these facts."""
        return next(self.facts(kind, what, apart=apart), None)

    def has(self, kind: str, what: str = "") -> bool:
        """Whether there is such a fact."""
        return self.first(kind, what) is not None

    @property
    def only_shares(self) -> bool:
        """Whether it shares the code of programs that train, and is for something else: by its
        name, or as a notebook or a module that tries things and starts nothing."""
        return self.known("only shares", self._only_shares)

    def _only_shares(self) -> bool:
        apart = kind_of_name(self.name) == NOTEBOOK or self._is_module
        trains = roles.trains(self.name)
        starts = trains or roles.starts(self.name) or self._calls_training
        tool = roles.is_other_tool(self.name, self._shown)
        trains = trains or (tool and roles.trains_here(self.source.text))
        shares = (apart and not starts) or (tool and not trains)
        tries = self._is_module and self.tries_itself()
        return shares and (tries or not self._calls_steps())

    def _calls_steps(self) -> bool:
        """Whether its own file, which is no test and takes no times, calls a function of another
        that trains there, or such a method of what it makes."""
        if roles.is_below_tests(self._shown) or self._measures:
            return False
        paths = [each for each in self._holders.get("trains", ()) if each != self.path]
        found = list(self._standing("trains", "", paths, anywhere=False)) if paths else []
        called: dict[str, list[Symbol]] = {}
        for each in self._called_in({path for path, *_ in found}):
            called.setdefault(each.path, []).append(each)
        reach = self._reach.parts_from
        reached = {path: reach(*some, files=frozenset((path,))) for path, some in called.items()}
        return any(path in reached and reached[path](path, part) for path, part, _ in found)

    def _called_in(self, homes: Container[str]) -> Iterator[Symbol]:
        """The functions of some other files that its own file names, and the methods that it looks
        up in objects of their classes."""
        parts = self._index.outline(self.path).uses.values()
        names = {origin.replace(":", ".") for uses in parts for origin in uses.origins}
        asked = sorted({word for uses in parts for word in uses.attributes})
        meant = self._meant(sorted(names)) if homes else ()
        for each in (symbol for symbol in meant if symbol.path in homes):
            methods = [Symbol(each.path, f"{each.part}.{word}") for word in asked]
            made = [
                one
                for word, one in zip(asked, methods, strict=True)
                if self._index.defines(*one) and self._is_made(each, word)
            ]
            if made or not self._is_class(each):
                yield from (each, *made)

    def _is_made(self, owner: Symbol, method: str) -> bool:
        """Whether its own file looks up a method in an object that is seen to be of a class."""
        owners = (each.owners for each in self._index.receivers(self.path, method))
        return any(owner in self._meant(each) for each in owners)

    def lacks(self, wanted: re.Pattern[str]) -> bool:
        """Whether one of its files imports something of the project that is not there, and of
        which a name is as wanted."""
        return any(wanted.search(" ".join(each)) for each in self._project.lacking(self.paths))

    @property
    def has_own_guard(self) -> bool:
        """Whether `guard` means another's there."""
        return self._project.has_own_guard(self.path)

    def only_answers(self) -> bool:
        """Whether nothing in its files trains, nor do its name and what it calls say so; of a
        program that its name says is for something else, whether nothing that it runs does."""
        trains, shown = roles.trains(self.name), self._shown
        tries = self._measures or roles.is_test(shown)
        if not trains and not tries and roles.is_other_tool(self.name, shown):
            return not self.has("trains")
        return "trains" not in self._holders and not self.is_to_train

    @property
    def learns(self) -> bool:
        """Whether it is there to train a network: its file says so by its name or by what it
        calls, and a step of training visibly runs."""
        return self.known("learns", self._learns)

    def _learns(self) -> bool:
        step = self.first("trains", "torch")
        return step is not None and (step.path == self.path or self.is_to_train)

    @property
    def may_train(self) -> bool:
        """Whether its name or what it calls says that it trains, or a step of it visibly runs."""
        return self.known(
            "may train",
            lambda: self.is_to_train or self.first("trains", apart=True) is not None,
        )

    @property
    def looks_up_modules(self) -> bool:
        """Whether it may import what its text does not name, or from where it does not say."""
        return self.known(
            "looks up modules",
            lambda: "makes_unseen" in self._holders or any(self.holding("sys.path")),
        )

    @property
    def is_to_train(self) -> bool:
        """Whether its name or what it calls says that it trains."""
        return roles.trains(self.name) or self._calls_training

    @cached_property
    def _calls_training(self) -> bool:
        return self._index.told(self.path, "calls training", roles.calls_training)

    def holding(self, *words: str) -> Iterator[str]:
        """Those of its files whose text holds one of some words."""
        told = self._project.telling(
            self.members, ("holds", *words), partial(self._index.holds, words=words)
        )
        return filter(told.__contains__, self.paths) if told else iter(())

    def shows(self, word: str, pattern: re.Pattern[str]) -> bool:
        """Whether the text of one of its files that hold a word has what a pattern says."""

        def answer(path: str) -> bool:
            text = self._index.source(path).text
            return word in text and pattern.search(text) is not None

        return bool(self._project.telling(self.members, (word, pattern), answer))

    def defines_nothing(self, path: str) -> bool:
        """Whether a file has no functions and no classes, as configurations in Python have none."""
        return self._index.outline(path).uses.keys() <= {"", MAIN}

    def unit(self, path: str) -> Unit:
        """One of its files as the engine sees it, for one question at a time."""
        return self._index.units.of(path)

    def source_of(self, path: str) -> Source:
        """The source of a file, by its real path."""
        return self._index.source(path)

    def is_guarded(self) -> bool:
        """Whether guard, or a helper like it, sets all that determinism needs."""
        return any(each.fact.what == EVERY for each in self.facts("enables"))

    def replaces(self, names: Iterable[str]) -> bool:
        """Whether guard replaces an operator there that has these names."""
        told = (each.fact.text for each in self.facts("enables") if each.fact.what == REPAIRED)
        given = {name for text in told for name in text.split()}
        return EVERY in given or not given.isdisjoint(names)

    def _learns_by(self, fact: Fact) -> bool:
        """Whether a gradient changes something: not in a check of kernels, nor in a profiler."""
        if "backward(" in fact.text:
            return self.known("may take steps", partial(self._takes_steps, hidden=True))
        # What one works out by itself, as a force, no step by another way takes up.
        worked_out = fact.what == "torch" and "grad" in fact.text
        return not worked_out or self.known("takes steps", self._takes_steps)

    def _takes_steps(self, *, hidden: bool = False) -> bool:
        """Whether something that it runs takes a step, or may by a name that the text hides."""
        hides = hidden and not HIDING.isdisjoint(self._holders)
        ways = (False, True) if hides else (False,)
        return any(
            self._conditions.may_be_called(path, part)
            for anywhere in ways
            for path, part, _ in self._each("steps", "", anywhere=anywhere)
        )

    def _is_about(self, fact: Fact, what: str) -> bool:
        if not what or fact.what in (what, EVERY):
            return True
        if fact.what == TRAINER:
            return what == "torch" and not self.imports("tensorflow", "keras", "jax")
        # A helper of another library does what its name says; of one here, the facts are known,
        # unless it hands the seed on with options that it does not name.
        helper = fact.what.removesuffix("()")
        if helper == fact.what:
            return False
        defining = filter(self.members.__contains__, self._reach.defining(helper))
        return all(self._index.hands_on(each, helper) for each in defining)

    # Findings

    @property
    def source(self) -> Source:
        """The entrypoint's source."""
        return self._index.source(self.path)

    def sources(self, located: Located) -> Iterator[Source]:
        """The entrypoint's source, and that of a fact."""
        yield self.source
        yield self._index.source(located.path)

    def text_of(self, located: Located) -> str:
        """The text of the file that holds a fact."""
        return self._index.source(located.path).text

    @property
    def name(self) -> str:
        """The entrypoint's file name."""
        return os.path.basename(self.path)

    @property
    def _shown(self) -> str:
        """Its path in the project."""
        return self._project.shown(self.path)

    @cached_property
    def title(self) -> str:
        """What messages call it: its file name, with its folders where others have the same."""
        if self._project.is_only(self.name):
            return self.name
        shown = self._shown
        return f"./{shown}" if shown == self.name else shown

    def shown(self, located: Located) -> str:
        """``loss.backward()`` in backticks, with its place if that is another file."""
        return f"`{_short(located.fact.text)}`{self.where(located)}"

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
        there, or else where the program starts. Edits change the program's file."""
        path, place = self.path, self._start()
        if at is not None and (at.path == self.path or at in self._launched):
            path, place = at.path, at.fact[2:6]
        return Finding(
            path,
            *place,
            code=rule.code,
            name=rule.name(),
            message=message,
            advice=advice,
            edits=edits if path == self.path else (),
            safe=safe,
            confidence=rule.confidence if confidence is None else confidence,
            way=way,
        )

    def step(self, located: Located, text: str) -> Step:
        """A place on the way of one of its findings."""
        path = "" if located.path == self.path else relative(located.path, self._folder)
        return Step(*located.fact[2:6], text, path)

    @property
    def _folder(self) -> str:
        return os.path.dirname(self.path)

    def _start(self) -> tuple[int, int, int, int]:
        source = self.source
        row, column = source.location(main_line(source.text) or 0)
        if row == 1:
            row = self._project.starts(self.path) or row
        return row, column, row, len(source.line(row)) + 1


def _surest(found: Iterator[Located]) -> Located | None:
    """The first of some that needs no option which the program leaves off, or else the first."""
    first = None
    for each in found:
        if each.fact.doubt != UNSET:
            return each
        first = first or each
    return first


def _is_function(fact: Fact) -> bool:
    """Whether it is called with tensors: ``F.conv2d``."""
    return fact.text.rpartition(".")[2].islower()


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
