"""What is known of the files of a project, worked out once and kept in the cache."""

from __future__ import annotations

import os
import sys
from binascii import b2a_base64
from bisect import bisect_right
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache, partial
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from detlint.index.entrypoints import is_program
from detlint.index.facts import Fact, Receiver, hints
from detlint.index.folders import Folders
from detlint.index.imports import Import, code_imports, imports, may_give, sure_imports
from detlint.index.launched import Start, exports, starts
from detlint.index.named import attributes, entry_points, flags, named_classes, targets
from detlint.index.requirements import requirements
from detlint.index.scan import Outline, outline
from detlint.sources.cache import content_digest
from detlint.sources.decoding import decode
from detlint.sources.kinds import NOTEBOOK, PYTHON, kind_of_name
from detlint.sources.source import DecodeError, Source
from detlint.syntax.alive import renamed
from detlint.syntax.parsing import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from detlint.aside import Share
    from detlint.dataflow.unit import Unit, Units
    from detlint.sources.cache import Cache

_ANY = frozenset(("*", "**"))  # of a module
# Folders of programs, also where an empty file makes a package of one.
_OF_PROGRAMS = frozenset({"scripts", "tools", "bin", "examples"})
# Starting a process for it costs about as much as outlining this many bytes.
_WORTH_A_PROCESS = 400_000
# The same of handing them to a process that is there.
_SHARE = 100_000
# Characters of texts that are kept for the next question; what is dropped is read again, and held
# twice where it is laid out.
_ROOM = 32_000_000
# Answers by question, as JSON keeps them: "imports", "outline", "kinds" (of facts that the file
# may hold), or one of these kinds, and "broken" if it does not parse; of scripts, "starts" and
# "exports".
_Answers = dict[str, Any]
# The questions to which a file has nothing to tell, each in 8 letters.
_NOTHING = "nothing"

F = TypeVar("F")
T = TypeVar("T")


class Learned(NamedTuple):
    """What an index has found out: answers by file, of what is to be kept the state of the file,
    and listings of folders."""

    answers: dict[str, _Answers]
    stored: dict[str, tuple[os.stat_result, str]]
    listings: dict[str, dict[str, str]]


class Index:
    """Answers about files by real path. A source that is handed in stands for its file."""

    def __init__(self, cache: Cache, jobs: int = 1) -> None:
        self.folders = Folders()
        self._cache = cache
        self._jobs = jobs
        self._share: Share | None = None
        self._handed_in: dict[str, Source] = {}
        self._sources: dict[str, Source] = {}  # as many as there is room for, the newest last
        self._room = _ROOM
        self._answers: dict[str, _Answers] = {}
        self._digests: dict[str, str] = {}
        self._stored: dict[str, tuple[os.stat_result, str]] = {}
        self._changed: set[str] = set()
        # What was made of the answers.
        self._imports: dict[tuple[str, bool], list[Import]] = {}
        self._libraries: dict[str, frozenset[str]] = {}
        self._hints: dict[str, dict[str, list[int]]] = {}
        self._places: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._outlines: dict[str, Outline] = {}
        self._facts: dict[tuple[str, str], list[tuple[str, Fact]]] = {}

    @contextmanager
    def beside(self, share: Share) -> Iterator[None]:
        """Start no processes for a while: those that run have their share."""
        self._share = share
        try:
            yield
        finally:
            self._share = None

    def replace(self, path: str, source: Source) -> None:
        """Take this text for a file's: it is being fixed, or comes from standard input."""
        self.forget(path)
        self._handed_in[path] = source
        self._answers[path] = {}

    def forget(self, path: str) -> None:
        """Ask the file anew: it has changed, or is no longer handed in."""
        self._handed_in.pop(path, None)
        self._cache.forget(path)
        self.units.forget(path)
        self.drop({path})

    def drop(self, paths: Collection[str]) -> None:
        """Hold nothing of some files, of which little more is asked."""
        self._changed.difference_update(paths)
        made = (self._libraries, self._hints, self._outlines, self._digests)
        for path in paths:
            dropped = self._sources.pop(path, None)
            self._room += len(dropped.text) if dropped else 0
            for told in (self._answers, self._stored, *made):
                told.pop(path, None)
        several: tuple[dict[Any, Any], ...] = (self._imports, self._places, self._facts)
        for by_kind in several:
            for key in [each for each in by_kind if each[0] in paths]:
                del by_kind[key]

    @property
    def known(self) -> Mapping[str, object]:
        """The files that were asked about."""
        return self._answers

    def digest(self, path: str) -> str:
        """What differs when a file holds something else. Raises LookupError if it cannot be
        read."""
        if path not in self._digests:
            source = self._handed_in.get(path)
            self._digests[path] = (
                self._cache.content(path)
                if source is None
                else f"{path} {content_digest(source.text.encode(errors='surrogatepass'))}"
            )
        return self._digests[path]

    def source(self, path: str) -> Source:
        """The text of a file, empty where it cannot be read, which DET000 tells."""
        known = self._handed_in.get(path) or self._sources.get(path)
        return self._open(path) if known is None else known

    @cached_property
    def units(self) -> Units:
        """The files as the engine sees them, each for itself."""
        from detlint.dataflow.unit import Unit, Units

        return Units(lambda path: Unit(self.source(path).code))

    def runs(self, path: str) -> bool:
        """Whether a person runs a file."""
        if kind_of_name(os.path.basename(path)) not in (PYTHON, NOTEBOOK, None):
            return False
        with suppress(OSError):
            if self._cache.lookup(path, os.stat(path)) is not None:
                return self._cache.runs(path)
        return self._answer(path, "runs", lambda path: is_program(self.source(path)))

    def told(self, path: str, question: str, answer: Callable[[str], T]) -> T:
        """What a look at a file's text answers to a question, which is its name."""
        return self._answer(path, question, lambda path: answer(self.source(path).text))

    def holds(self, path: str, words: Sequence[str]) -> bool:
        """Whether a file's text holds one of some words."""
        question = f"holds {' or '.join(words)}"
        return self.told(path, question, lambda text: any(each in text for each in words))

    # What it imports

    def imports(self, path: str, *, typed: bool = False) -> list[Import]:
        """What a file imports when it runs; ``typed``: and what it does for type checkers alone."""
        if (path, typed) not in self._imports:
            found = self._imported(path, "imports", imports)
            self._imports[path, typed] = [each for each in found if typed or not each.typed]
        return self._imports[path, typed]

    def sure_imports(self, path: str) -> list[Import]:
        """What it imports under no test as soon as it is loaded."""
        return self._imported(path, "sure imports", sure_imports)

    def _imported(
        self, path: str, question: str, find: Callable[[str], list[Import]]
    ) -> list[Import]:
        told = self.told(path, question, find)
        return [Import(module, level, (*names,), only) for module, level, names, only in told]

    def may_give(self, path: str, name: str) -> bool:
        """Whether a module may have a name."""
        outline = self.outline(path)
        known = name in outline.uses or name in outline.bound  # most are
        return known or self.told(path, f"may give {name}", partial(may_give, name=name))

    def libraries(self, path: str) -> frozenset[str]:
        """The top-level modules that a file imports by their names."""
        if path not in self._libraries:
            named = (each.module.partition(".")[0] for each in self.imports(path) if not each.level)
            self._libraries[path] = frozenset(named)
        return self._libraries[path]

    def brings(self, path: str, library: str) -> bool:
        """Whether the code of a file imports one of them."""
        return library in self.libraries(path) and self.told(
            path, f"imports {library}", lambda text: code_imports(text, library)
        )

    def is_packaged(self, path: str) -> bool:
        """Whether a file is a module of a package, and not one of a folder of programs, nor a
        script: that imports a module beside it as if there were no package."""
        folder = os.path.dirname(path)
        if not self.folders.is_package(folder):
            return False
        own = os.path.join(folder, "__init__.py")
        if os.path.basename(folder) in _OF_PROGRAMS and not self.source(own).text.strip():
            return False
        wanted = self.imports(path)
        return any(each.level for each in wanted) or not any(
            self._takes_beside(path, each) for each in wanted
        )

    def _takes_beside(self, path: str, wanted: Import) -> bool:
        """Whether a file imports what the one beside it has that is called so, not a library."""
        folder, file = os.path.split(path)
        name = f"{wanted.module}.py"
        if name == file or name not in self.folders.entries(folder):  # of most there is none
            return False
        if wanted.module in sys.stdlib_module_names or wanted.module in folder.split(os.sep):
            return False
        return all(self.may_give(os.path.join(folder, name), each) for each in wanted.names)

    # What its parts name

    def outline(self, path: str) -> Outline:
        """The parts of a file, and what each names."""
        if path not in self._outlines:
            told = self.told(path, "outline", lambda text: outline(text).dump())
            self._outlines[path] = Outline.load(told)
            self._answers[path]["outline"] = None  # held once
        return self._outlines[path]

    def read_all(self, question: str, paths: Iterable[str]) -> None:
        """Look into many files for their "outline" or "starts", in several processes where that is
        worth it."""
        missing = [each for each in paths if question not in self._of(each)]
        size = sum(len(self.source(each).text) for each in missing)
        if self._jobs < 2 or size < 2 * (_SHARE if self._share else _WORTH_A_PROCESS):
            return
        missing.sort(key=lambda each: len(self.source(each).text))
        if self._share is not None:
            # Every other one: each process gets as many large ones.
            number = size // _SHARE
            shares = [missing[place::number] for place in range(number)]
            sources = [list(map(self.source, share)) for share in shares]
            told = self._share(_ANSWERS[question], sources)
            for path, each in zip(chain(*shares), chain(*told), strict=True):
                self._learn(path, question, each)
            return
        from detlint.aside import in_turns

        found: list[tuple[str, object]] = []

        def work(paths: Iterator[str]) -> None:
            found.extend((each, _ANSWERS[question]([self.source(each)])[0]) for each in paths)

        processes = min(self._jobs, size // _WORTH_A_PROCESS)
        others = in_turns(work, lambda: found, [missing[::-1]], processes)
        for path, each in chain(found, *others):
            self._learn(path, question, each)

    def defines(self, path: str, name: str) -> bool:
        """Whether a file defines a function, a class or its method of a name at its top."""
        return name in self.outline(path).uses

    def hands_on(self, path: str, name: str) -> bool:
        """Whether a function that a file defines takes options of any name, as a seed is one."""
        from detlint.dataflow.facts.seeds import hands_on

        return self._asked(path, f"hands on {name}", partial(hands_on, name=name), False)

    def part_at(self, path: str, row: int) -> str:
        """The part of the outline that a line lies in."""
        starts = self.outline(path).starts
        return starts[bisect_right(starts, row, key=itemgetter(0)) - 1][1] if starts else ""

    def code_of(self, path: str, part: str) -> str:
        """The lines of a part of the outline."""
        lines = self.source(path).text.splitlines(keepends=True)
        starts = [*self.outline(path).starts, (len(lines) + 1, "")]
        pieces = (
            lines[row - 1 : after - 1]
            for (row, each), (after, _) in pairwise(starts)
            if each == part
        )
        return "".join(chain.from_iterable(pieces))

    def required(self, folder: str) -> list[str]:
        """What the files of a folder ask for, as ``library==1.2``."""
        return [*requirements(folder, lambda path: self.source(path).text, self.folders.entries)]

    def taken(self, path: str, module: str) -> list[str] | None:
        """What a file takes of a module by its names; None where it does not import that."""
        return self._answer(path, f"takes {module}", partial(self._taken, module))

    def _taken(self, module: str, path: str) -> list[str] | None:
        wanted = self.imports(path, typed=True)
        named = [each.names for each in wanted if (each.module, each.level) == (module, 0)]
        bound = (x for x, told in self.outline(path).bound.items() if f"{module}:" in told)
        found = {*chain.from_iterable(named), *attributes(self.source(path).text, bound)}
        return sorted(found - _ANY) if named else None

    # What it does

    def kinds(self, path: str) -> list[str]:
        """The kinds of facts that a file may hold, as far as its tokens tell."""
        return self._answer(path, "kinds", lambda path: list(self._hints_of(path)))

    def facts(
        self, path: str, kind: str, chosen: Callable[[str], bool] | None = None
    ) -> list[tuple[str, Fact]]:
        """The facts of one kind in a file, or in the chosen parts of its outline, in order."""
        known = self._parts_with(path, kind)
        wanted = [part for part in known if chosen is None or chosen(part)]
        self._read(path, kind, known, [part for part in wanted if known[part] is None])
        if chosen is not None and len(wanted) < len(known):
            return _in_order(known, wanted)
        if (path, kind) not in self._facts:
            self._facts[path, kind] = _in_order(known, wanted)
        return self._facts[path, kind]

    def parts_with(self, path: str, kind: str) -> list[str]:
        """The parts of a file that may hold facts of a kind, as far as its tokens tell."""
        return list(self._parts_with(path, kind))

    def _parts_with(self, path: str, kind: str) -> _Answers:
        """The facts of each of these parts, None where nobody looked."""
        if kind not in self._of(path) and kind not in self.kinds(path):
            return {}
        return self._answer(path, kind, lambda path: dict.fromkeys(self._places_of(path, kind)))

    def _read(self, path: str, kind: str, known: _Answers, missing: list[str]) -> None:
        """Look for facts in parts where that was not done yet. What one of them holds does not
        depend on the others."""
        if not missing:
            return
        # Most programs are settled by their tokens.
        from detlint.dataflow.facts.reading import read_facts

        source, places = self.source(path), self._places_of(path, kind)
        told = read_facts(self.units.of(path), kind, [places[part] for part in missing])
        for part, facts in zip(missing, told, strict=True):
            own = (each for each in facts or () if self.part_at(path, each.row) == part)
            known[part] = list(map(list, own))
        if None in told:
            found = problem(source) if source.kind == PYTHON else None
            if found is not None:
                self._learn(path, "broken", list(found))
        self._changed.add(path)

    def _hints_of(self, path: str) -> dict[str, list[int]]:
        if path not in self._hints:
            self._hints[path] = hints(self.source(path).text)
        return self._hints[path]

    def _places_of(self, path: str, kind: str) -> dict[str, list[int]]:
        """The parts of a file that may hold facts of a kind, and the places in them to look at."""
        if (path, kind) not in self._places:
            text, hinted = self.source(path).text, self._hints_of(path)[kind]
            found = self._places[path, kind] = dict[str, list[int]]()
            starts = self.source(path).line_starts
            for place in sorted({*hinted, *renamed(text, hinted)}):
                part = self.part_at(path, bisect_right(starts, place))
                found.setdefault(part, []).append(place)
        return self._places[path, kind]

    def broken(self) -> Iterator[tuple[str, Problem]]:
        """The files of which facts were asked that do not parse, and why."""
        for path, answers in self._answers.items():
            if "broken" in answers:
                yield path, Problem(*answers["broken"])

    def gives(self, path: str, need: str) -> list[tuple[int, bool | str, list[str]]]:
        """Whether the calls in a file may pass an argument, and what they need, as
        ``passed_arguments`` tells it; one that does not parse may pass anything."""
        from detlint.dataflow.arguments.passed_arguments import gives, gives_by_text, set_anyhow

        def ask(path: str) -> list[tuple[int, bool | str, list[str]]]:
            set_ = partial(self.told, path, "sets anyhow", lambda x: sorted({*set_anyhow(x)}))
            told = gives_by_text(self.source(path).text, need, set_)
            return (
                self._ask(path, lambda x: gives(x, need), [(0, True, [])]) if told is None else told
            )

        told = self._told_by_few(path, f"gives {need}", ask)
        return [(row, given, needs) for row, given, needs in told] if told else []

    def fields(self, path: str, need: str) -> list[tuple[str, str]]:
        """The classes of a file that have an option as a field, as ``fields`` tells it."""
        from detlint.dataflow.arguments.defaults import fields_named, may_have_field

        def ask(path: str) -> list[tuple[str, str]]:
            may = may_have_field(self.source(path).text, need)
            return self._ask(path, lambda unit: list(fields_named(unit, need)), []) if may else []

        return [(name, told) for name, told in self._told_by_few(path, f"fields {need}", ask)]

    def uses(self, path: str, name: str, *, default: bool) -> list[tuple[int, list[str]]]:
        """Where a file uses a function or class, and what that needs, as ``passed_arguments``
        tells it; row 0 stands for a file that does not parse."""
        from detlint.dataflow.arguments.passed_arguments import uses

        question = f"uses {name}{' by default' * default}"
        found = partial(uses, name=name, default=default)
        unparsed: list[tuple[int, list[str]]] = [(0, [])]
        told = self._asked(path, question, lambda unit: list(found(unit)), unparsed)
        return [(row, needs) for row, needs in told]

    def needs(self, path: str, row: int, column: int) -> list[str]:
        """What has to be passed for a call to run, as ``required_arguments`` tells it."""
        from detlint.dataflow.arguments.required_arguments import needs_at

        ask = partial(needs_at, row=row, column=column)
        return list(self._asked(path, f"needs {row}:{column}", ask, []))

    def calls(self, path: str, name: str) -> list[tuple[int, str]]:
        """Where a file calls a function or class, but for where an object trains; nothing of one
        that does not parse."""
        from detlint.dataflow.arguments.passed_arguments import calls

        told = self._asked(path, f"calls {name}", lambda unit: list(calls(unit, name)), [])
        return [(row, place) for row, place in told]

    def may_call(self, path: str, name: str, methods: Sequence[str]) -> bool:
        """Whether a file may call objects that it makes of a class, or some methods of these; so
        may one that does not parse."""
        from detlint.dataflow.receivers import may_call

        question = f"may call {name} or {' '.join(methods)}"
        ask = partial(may_call, name=name, methods=methods)
        return self._asked(path, question, ask, True)

    def object_calls(self, path: str, name: str, at: int | str) -> list[tuple[int, str, int | str]]:
        """Where a file calls objects of a class, or hands them on, as ``receivers`` tells."""
        from detlint.dataflow.receivers import object_calls

        ask = partial(object_calls, name=name, place=at)
        told = self._asked(path, f"object calls {name} {at!r}", lambda unit: [*ask(unit)], [])
        return [(row, taken, place) for row, taken, place in told]

    def receivers(self, path: str, name: str) -> list[Receiver]:
        """What a file looks a method of a name up in; nothing of one that does not parse."""
        from detlint.dataflow.receivers import receivers

        told = self._asked(path, f"receivers {name}", lambda unit: list(receivers(unit, name)), [])
        return [Receiver(*each) for each in told]

    def made(self, path: str, told: str, *, sure: bool) -> list[tuple[int, list[str]]]:
        """What is passed, kept or returned that is trained, as ``trained`` tells it."""
        from detlint.dataflow.learning.trained import made

        question = f"made {'' if sure else '~'}{told}"
        found = self._asked(path, question, lambda unit: list(made(unit, told, sure=sure)), [])
        return [(row, names) for row, names in found]

    def may_compute(self, path: str, name: str) -> bool:
        """Whether a file may compute with what a library has, as ``trained`` tells it; so may one
        that does not parse."""
        from detlint.dataflow.learning.trained import may_compute

        ask = partial(may_compute, name=name)
        return self._asked(path, f"may compute {name}", ask, True)

    def held(self, path: str, owner: str, name: str) -> list[tuple[int, int, list[str]]]:
        """Where what a class holds is made, if no gradient comes through it, as ``gradients`` tells
        it."""
        from detlint.dataflow.numerics.gradients import kept

        ask = partial(kept, owner=owner, name=name)
        told = self._asked(path, f"held {owner}#{name}", lambda unit: list(ask(unit)), [])
        return [(first, last, names) for first, last, names in told]

    def flags(self, path: str) -> list[tuple[str, str]]:
        """The options, without their dashes, that a file may give a parser of the command line, and
        what those do that take no value."""
        return self.told(path, "flags", flags)

    # What a configuration names

    def entry_points(self, path: str) -> list[tuple[str, str]]:
        """The modules and functions that the commands of a package start."""
        told = self.told(path, "entry_points", entry_points)
        return [(module, function) for module, function in told]

    def targets(self, path: str) -> list[str]:
        """The classes and functions that a configuration has made, or that strings of code name."""

        def ask(path: str) -> list[str]:
            text = self.source(path).text
            if kind_of_name(path) not in (PYTHON, NOTEBOOK):
                return targets(text)
            return [name.replace(":", ".") for _, name in named_classes(text)]

        return self._answer(path, "targets", ask)

    # What a script does

    def starts(self, path: str) -> list[Start]:
        """What a script starts, and in which environment."""
        told = self._answer(path, "starts", lambda path: _starts([self.source(path)])[0])
        return [Start.loaded(each) for each in told]

    def exports(self, path: str) -> list[Fact]:
        """The variables that a script sets for what runs it by ``source``."""
        told = self._answer(path, "exports", lambda path: [*exports(self.source(path))])
        return [Fact(*each) for each in told]

    def save(self) -> None:
        """Hand what is new to the cache."""
        for path in sorted(self._changed):
            if path in self._stored:
                self._cache.store_facts(path, *self._stored[path], self._dumped(path))
        self._changed.clear()

    def _dumped(self, path: str) -> _Answers:
        answers = self._answers[path]
        if path in self._outlines:
            answers = {**answers, "outline": self._outlines[path].dump()}
        return answers

    def learned(self) -> Learned:
        """What another process needs to know of what is new: all that is kept, or which files are
        broken."""
        keeps = self._cache.keeps
        changed = [x for x in self._changed if keeps or "broken" in self._answers[x]]
        stored = {path: self._stored[path] for path in changed if path in self._stored}
        listings = self.folders.listings if keeps else {}
        return Learned({path: self._dumped(path) for path in changed}, stored, listings)

    def add(self, learned: Learned) -> None:
        """What another process has found out."""
        for path, told in learned.answers.items():
            answers = self._answers.setdefault(path, {})
            for question, answer in told.items():
                known = answers.setdefault(question, answer)
                if question == _NOTHING:
                    answers[question] = " ".join(["", *sorted({*f"{known}{answer}".split()})])
                elif isinstance(known, dict):  # of parts, which are asked one by one
                    new = {part: each for part, each in answer.items() if each is not None}
                    known.update(new)
            self._changed.add(path)
        self._stored = {**learned.stored, **self._stored}
        self.folders.listings.update(learned.listings)

    def _asked(self, path: str, question: str, ask: Callable[[Unit], T], failed: F) -> T | F:
        """What a question to the functions of a file gives, or ``failed`` if they do not parse, as
        JSON gives it back."""
        return self._answer(path, question, lambda path: self._ask(path, ask, failed))

    def _ask(self, path: str, ask: Callable[[Unit], T], failed: F) -> T | F:
        from detlint.dataflow.unit import asked

        return asked(self.units.of(path), ask, failed)

    def _answer(self, path: str, question: str, answer: Callable[[str], T]) -> T:
        """What is known of a file, or is found out now."""
        answers = self._of(path)
        if question not in answers:
            self._learn(path, question, answer(path))
        told: T = answers[question]
        return told

    def left_to_ask(self, question: str, paths: Iterable[str]) -> Iterator[str]:
        """Those of some files that are not known to tell nothing."""
        short = _short(question)
        return (each for each in paths if short not in self._of(each).get(_NOTHING, ""))

    def _told_by_few(self, path: str, question: str, answer: Callable[[str], list[T]]) -> list[T]:
        """The same where most files tell nothing, of which there are as many as files times
        questions: that is kept in short."""
        answers, short = self._of(path), _short(question)
        if short in answers.get(_NOTHING, ""):
            return []
        told: list[T] = answers[question] if question in answers else answer(path)
        if told:
            self._learn(path, question, told)
        else:
            self._learn(path, _NOTHING, answers.get(_NOTHING, "") + short)
        return told

    def _learn(self, path: str, question: str, answer: object) -> None:
        self._of(path)[question] = answer
        self._changed.add(path)

    def _of(self, path: str) -> _Answers:
        known = self._answers.get(path)
        if known is None:
            kept = None
            with suppress(OSError):
                kept = self._cache.facts(path)
            if kept is None:
                self._open(path)
            else:
                self._answers[path] = kept
            known = self._answers[path]
        return known

    def _open(self, path: str) -> Source:
        """Read a file; what was known of the same content still holds."""
        source = Source(path, "")
        try:
            with open(path, "rb") as file:
                stat, data = os.fstat(file.fileno()), file.read()
            digest = content_digest(data) if self._cache.keeps else ""
            if digest:
                self._stored[path] = stat, digest
            if path not in self._answers:
                self._answers[path] = self._cache.facts_of(path, digest) or {}
            source = decode(path, data)
        except (OSError, DecodeError):
            self._answers.setdefault(path, {})
        self._sources[path] = source
        self._room -= len(source.text)
        while self._room < 0 and len(self._sources) > 1:
            oldest = next(iter(self._sources))
            self._room += len(self._sources.pop(oldest).text)
        return source


def _outlines(sources: list[Source]) -> list[object]:
    return [outline(each.text).dump() for each in sources]


def _starts(sources: list[Source]) -> list[Any]:
    return [[found.dumped() for found in starts(each)] for each in sources]


_ANSWERS = {"outline": _outlines, "starts": _starts}


@lru_cache(maxsize=16)  # of all files, one question after the other
def _short(question: str) -> str:
    # Of as many letters as may be, so that looking for it skips most of a text.
    digest = bytes.fromhex(content_digest(question.encode())[:12])
    return f" {b2a_base64(digest, newline=False).decode()}"


def _in_order(known: Mapping[str, Any], wanted: list[str]) -> list[tuple[str, Fact]]:
    found = ((part, Fact(*each)) for part in wanted for each in known[part])
    return sorted(found, key=lambda each: (each[1].row, each[1].column))
