"""Findings of programs, joined with those of files."""

from __future__ import annotations

import itertools
import os
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from detlint import journal
from detlint.aside import in_turns
from detlint.callgraph.launches import Launches
from detlint.callgraph.other_files import OtherFiles
from detlint.callgraph.program import Program
from detlint.callgraph.project import Project
from detlint.catalogue import class_of
from detlint.finding import UNPARSED, Confidence, Step, unreadable
from detlint.grouping import grouped
from detlint.index.entrypoints import (
    is_entrypoint,
    may_be_flat,
    may_be_flat_in_package,
    says_so,
)
from detlint.index.index import Index
from detlint.kept import Kept, Work, known
from detlint.runner import collect_rarely
from detlint.sources.cache import digest_of, dump, load
from detlint.sources.kinds import NOTEBOOK, PYTHON
from detlint.sources.paths import relative
from detlint.syntax.parsing import UnparsedError
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.aside import Share
    from detlint.callgraph.fact_base import Located
    from detlint.engine import Engine
    from detlint.finding import Finding
    from detlint.rule import Rule
    from detlint.settings import Settings
    from detlint.sources.cache import Cache
    from detlint.sources.context import Context
    from detlint.sources.source import Source
    from detlint.syntax.lexer import Span

    _Look = tuple[str, str]  # at a file again, by its path, and by the code of a rule
    _Said = tuple[Program, Finding]

# Files, of which it takes longer to find the programs among them than to wait for their linting.
_MANY = 5_000
_SHOWN = 3  # programs that a finding names beside its own
_SAME = "the same holds for"

T = TypeVar("T")


class Linker:
    """Judges the programs of a context by a set of rules."""

    def __init__(  # noqa: PLR0913 - what an editor keeps from text to text
        self,
        engine: Engine,
        cache: Cache,
        context: Context,
        *,
        jobs: int = 1,
        index: Index | None = None,
        kept: Kept | None = None,
    ) -> None:
        self._rules, self._codes = engine.rules, engine.known
        self._settings = context.settings
        self._context = context
        self._jobs = jobs
        self.index = Index(cache, jobs) if index is None else index
        self._judged: set[str] = set()  # the programs among the files that are linted
        self._others = self._opened()
        self._starts: dict[str, list[str]] = {}  # the real paths of all programs, by their roots
        self._begun: dict[str, list[Program]] | None = None
        self._projects: dict[str, tuple[Project, list[str]]] = {}  # with what may be flat
        self._looked: dict[_Look, Work | None] = {}  # in whatever process
        self.failures: dict[str, str] = {}  # tracebacks of errors of ours, by the file at hand
        self.kept = Kept(cache, context, self.index) if kept is None and cache.keeps else kept
        self._launches = Launches(context, self.index, self.kept)

    def begin(self, share: Share, is_linting: Callable[[], bool]) -> None:
        """Judge programs while their files are linted, which says no more of most of them.

        Only where all of a project is linted, and in no process that is not there already.
        """
        files = self._context.files
        if len(files) > _MANY or len(files) > len(self._context.names):
            return
        with self.index.beside(share):
            # Once for all questions, of which there are hundreds.
            self._begun = in_deep_stack(lambda: self._judged_first(files, is_linting))

    def _judged_first(
        self, files: Sequence[str], is_linting: Callable[[], bool]
    ) -> dict[str, list[Program]] | None:
        """The programs among some files, by their roots; rules have judged those for which there
        was time."""
        self._start(filter(self.index.runs, files))
        if not any(self._starts.values()):
            return None
        programs = {root: self._programs(root, None) for root in self._starts}
        # Some of each project: what its others ask as well is then known before processes part.
        every = filter(None, itertools.chain(*itertools.zip_longest(*programs.values())))
        for program in itertools.takewhile(lambda _: is_linting(), every):
            self._judge(program)
        return programs

    def _start(self, paths: Iterable[str]) -> None:
        """Take these for the programs that are known."""
        found = grouped((self._context.root_of(each), each) for each in paths)
        started = {root: found.get(root, []) for root in sorted({*self._context.by_root, *found})}
        if started != self._starts:
            self._begun = self._begun and {}
            self._projects.clear()
        self._starts = started

    def _judge(self, program: Program) -> None:
        """Ask all rules one after the other: they share what they ask, which is let go of then."""
        self._others.make_room()
        for judge in self._judging:
            self._judgement(judge, program)
        program.let_go()

    def _is_judged(self, program: Program) -> bool:
        return all(_judgement_by(each) in program.answers for each in self._judging)

    def link(self, findings: Sequence[Finding], entrypoints: Sequence[str]) -> list[Finding]:
        """The findings of the files that are linted, which no program clears, and those of the
        programs among them, in the order of their paths. ``entrypoints``: those that are programs.
        """
        names = self._context.names
        others = (each for each in self._context.files if each not in names)
        self._start(sorted({*map(os.path.realpath, entrypoints), *filter(self.index.runs, others)}))
        order = {path: place for place, path in enumerate(self._context.paths)}

        self._work_ahead(findings)

        def join() -> list[Finding]:
            joined = []
            for root, found in self._linked(findings, names):
                joined += [*found, *self._broken(findings, names)]
                self._let_go(root)
            return joined

        # Where nothing is begun, it may start processes yet.
        joined = join() if self._begun is None else in_deep_stack(join)
        self.index.save()
        if self.kept is not None:
            self.kept.save()
        return sorted(joined, key=lambda each: (order[each.path], *each[1:6]))

    def _let_go(self, root: str) -> None:
        """Hold no more of what has a root than its findings, where there are others: those that
        are begun were held all at once."""
        if len(self._starts) > 1 and not self._begun:
            files = frozenset(self._context.below(root))
            self.index.save()
            self.index.units.close(files)
            self.index.drop(files)
            self._others = self._opened()
            self._projects.pop(root, None)
            collect_rarely()

    def _work_ahead(self, findings: Sequence[Finding]) -> None:
        """Find out in several processes what linking will ask for, where there is as much to do as
        to lint in several."""
        if self._begun is None:
            return
        asked = self._looks(findings)
        looks = {key: each for key, each in asked.items() if not self._is_kept(*key, each)}
        begun = itertools.chain.from_iterable(self._begun.values())
        programs = {each.path: each for each in begun if not self._is_judged(each)}
        if len(looks) + len(programs) < 2:
            return
        told = {path: each.answers for path, each in programs.items()}
        told |= {root: project.options for root, (project, _) in self._projects.items()}

        def work(shares: Iterator[str | _Look]) -> None:
            for each in shares:
                if isinstance(each, str):
                    self._judge(programs[each])
                else:
                    look = partial(self._look, *each, looks[each])
                    self._looked[each] = self._answer(*each, look, None)

        shares: list[str | _Look] = [*programs, *looks]
        paths = (os.path.realpath(each[0]) if isinstance(each, tuple) else each for each in shares)
        by_root = [*grouped(zip(map(self._context.root_of, paths), shares, strict=True)).values()]
        self.index.save()  # what is new after that is told
        others = in_turns(
            lambda shares: in_deep_stack(lambda: work(shares)),
            lambda: (told, self._looked, self.index.learned()),
            [[*itertools.chain(*by_root[each :: self._jobs])] for each in range(self._jobs)],
            self._jobs,
        )
        for answers, looked, learned in others:
            for name, each in answers.items():
                told[name].update(each)
            self._looked.update(looked)
            self.index.add(learned)

    def link_one(self, source: Source, findings: Sequence[Finding]) -> list[Finding]:
        """The same for one source as it stands, whatever its file holds."""
        path = os.path.realpath(source.path)
        runs = is_entrypoint(source.path, source.text)
        waits = self._may_be_cleared(findings) or self._may_rest_on_others(findings)
        starts_none = not (runs or waits or self._context.may_start())
        if starts_none and not may_be_flat_in_package(source.path, source.text):
            return list(findings)
        self.index.replace(path, source)
        self._others = self._opened()
        self._projects.clear()
        others = (each for each in self._context.files if each != path)
        self._start([*([path] if runs else []), *filter(self.index.runs, others)])
        joined = self._linked(findings, {path: source.path})
        return sorted((x for _, found in joined for x in found), key=lambda each: each[1:6])

    def programs_of(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """The programs of the project that have each of some files, all by their real paths."""
        self._start(filter(self.index.runs, self._context.files))
        programs = [each for root in self._starts for each in self._programs(root, None)]
        return {path: [each.path for each in programs if path in each] for path in paths}

    def looked_at(self) -> tuple[list[str], dict[str, dict[str, str]]]:
        """The files outside of the context, and the listings of folders, that linking asked."""
        outside = sorted(self.index.known.keys() - set(self._context.files))
        return outside, self.index.folders.listings

    def _linked(
        self, findings: Sequence[Finding], names: dict[str, str]
    ) -> Iterator[tuple[str, Iterator[Finding]]]:
        """By the roots of programs. ``names`` say how the user named the files that are linted, by
        their real paths."""
        root_of = self._context.root_of
        by_root = grouped((root_of(os.path.realpath(each.path)), each) for each in findings)
        told: set[object] = set()  # a script may start programs that have another root
        for root in sorted({*self._starts, *by_root}):
            yield root, self._linked_below(root, by_root.get(root, []), names, told)

    def _linked_below(
        self, root: str, findings: Sequence[Finding], names: dict[str, str], told: set[object]
    ) -> Iterator[Finding]:
        findings = list(self._seen_across(findings))
        asked = self._may_be_cleared(findings)
        programs = self._known(root, None if asked else names)
        for finding in findings:
            rule = self._cleared_by(finding)
            kept: Finding | None = finding
            if rule is not None:
                weigh = partial(self._weighed, finding, rule, programs)
                kept = self._answer(finding.path, finding.code, weigh, kept)
            if kept is not None:
                yield from self._shown(kept)
        for program in programs:
            program.let_go()
        told.update((each.code, os.path.realpath(each.path), *each[1:3]) for each in findings)
        self._judged = {each.path for each in programs} & names.keys()
        judged = [each for each in programs if any(path in names for path in each.places)]
        for program in itertools.filterfalse(self._is_judged, judged):
            self._judge(program)
        for judge in self._judging:
            for program, each in self._said_once(judge, self._said(judge, judged), root, names):
                # A script may say the same by itself, or of two programs that it starts.
                if each.path in names and (each.code, *each[:3]) not in told:
                    if each.path != program.path:
                        told.add((each.code, *each[:3]))
                    yield each._replace(path=names[each.path])

    def _said(self, judge: type[Rule], programs: Iterable[Program]) -> list[_Said]:
        """What programs say that is sure enough, each with its program."""
        found = ((each, self._shown(*self._judgement(judge, each))) for each in programs)
        return [(each, one) for each, said in found for one in self._unsuppressed(said)]

    def _unsuppressed(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        for finding in findings:
            source = self.index.source(os.path.realpath(finding.path))
            if "etlint:" not in source.text and "noqa" not in source.text.lower():
                yield finding
                continue
            from detlint.suppression.comments import apply

            comments = None if source.kind == PYTHON else _comments(source)
            yield from apply(source, [finding], enabled=(), known=self._codes, comments=comments)

    def _said_once(
        self, judge: type[Rule], said: list[_Said], root: str, names: dict[str, str]
    ) -> Iterator[_Said]:
        """Findings of programs, each with its program: of those that are about one place, one."""
        groups: dict[object, list[_Said]] = {}
        files: set[str] = set()
        for program, finding in said:
            about = judge.about(finding)
            if about is None:
                yield program, finding
            else:
                groups.setdefault((about, finding.confidence), []).append((program, finding))
                files.add(about[0])
        if groups and any(each not in names for each in self._starts.get(root, ())):
            # Where it is said must not depend on which files are linted.
            met = {each.path for each, _ in said}
            rest = (each for each in self._known(root, None, files) if each.path not in met)
            for program, finding in self._said(judge, rest):
                group = groups.get((judge.about(finding), finding.confidence), [])
                group.append((program, finding))
        yield from map(_joined, groups.values())

    def _shown(self, *findings: Finding) -> Iterator[Finding]:
        """Those that are sure enough."""
        return filter(self._settings.shows, findings)

    def _opened(self) -> OtherFiles:
        return OtherFiles(
            self.index,
            self._context.root_of,
            below=self._context.below,
            models=self._settings.models,
            alone=self._context.alone,
        )

    def _seen_across(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """The findings as they are with the other files of the project open."""
        seen = {
            key: self._answer(*key, partial(self._seen_once, *key, several), None)
            for key, several in self._looks(findings).items()
        }
        for finding in findings:
            again = seen.get((finding.path, finding.code))
            if again is None or not rests_on_others(self._crossing[finding.code], finding):
                if not finding.is_unseen:
                    yield from self._shown(finding)
            elif finding[1:5] in again:
                found = again[finding[1:5]]
                yield from self._shown(found._replace(path=finding.path, cell=finding.cell))

    def _looks(self, findings: Sequence[Finding]) -> dict[_Look, list[Finding]]:
        """The findings that rest on other files."""
        ruled = ((self._crossing.get(each.code), each) for each in findings)
        asked = (x for rule, x in ruled if rule is not None and rests_on_others(rule, x))
        return grouped(((each.path, each.code), each) for each in asked)

    def _seen_once(
        self, path: str, code: str, findings: Sequence[Finding]
    ) -> dict[tuple[int, ...], Finding] | None:
        """``_seen_again``, or what another process or an earlier run has seen."""

        def work() -> Work:
            return self._looked.get((path, code)) or self._look(path, code, findings)

        if self.kept is None:
            told = work().result
        else:
            told = self.kept.result(*_looking(path, code, findings), self._others.answer, work)
        return None if told is None else {each[1:5]: each for each in load(path, told)}

    def _is_kept(self, path: str, code: str, findings: Sequence[Finding]) -> bool:
        if self.kept is None:
            return False
        looking = _looking(path, code, findings)
        return self.kept.done(*looking, self._others.answer) is not None

    def _look(self, path: str, code: str, findings: Sequence[Finding]) -> Work:
        self._others.make_room()
        seen = self._seen_again(path, code, findings)
        told = None if seen is None else dump(list(seen.values()))
        return Work(told, *self._others.looked_at(os.path.realpath(path)))

    def _seen_again(
        self, path: str, code: str, findings: Sequence[Finding]
    ) -> dict[tuple[int, ...], Finding] | None:
        """The findings of a rule in a file, by place; None if it is no Python, or parts of it do
        not parse alone."""
        real = os.path.realpath(path)
        if self.index.source(real).kind not in (PYTHON, NOTEBOOK):
            return None
        unit = self._others.unit(real)
        active = self._crossing[code](unit, self._settings)
        active.others, active.asked = self._others, findings
        starts = unit.source.line_starts
        places = sorted({starts[each.row - 1] + each.column - 1 for each in findings})
        try:
            in_deep_stack(lambda: active.examine(places))
        except UnparsedError:
            return None
        return {each[1:5]: each for each in reversed(active.findings)}

    @cached_property
    def _crossing(self) -> dict[str, type[Rule]]:
        """The rules that are asked again with all files of a project open, by code."""
        return {rule.code: class_of(rule) for rule in self._rules if rule.crosses_files}

    def _may_rest_on_others(self, findings: Sequence[Finding]) -> bool:
        crossing = ((self._crossing.get(each.code), each) for each in findings)
        return any(rule is not None and rests_on_others(rule, each) for rule, each in crossing)

    @cached_property
    def _clearing(self) -> dict[str, type[Rule]]:
        """The rules that programs may clear findings of, by code."""
        return {rule.code: class_of(rule) for rule in self._rules if rule.may_be_cleared()}

    def _may_be_cleared(self, findings: Sequence[Finding]) -> bool:
        return any(map(self._cleared_by, findings))

    def _cleared_by(self, finding: Finding) -> type[Rule] | None:
        """The rule of a finding, if programs may change that."""
        rule = self._clearing.get(finding.code)
        return rule if rule is not None and rule.awaits_programs(finding) else None

    @cached_property
    def _judging(self) -> list[type[Rule]]:
        return [class_of(each) for each in self._rules if each.judges_programs()]

    def _judgement(self, judge: type[Rule], program: Program) -> list[Finding]:
        def judged() -> list[Any]:
            found = list(judge.judge(program, self._settings))
            return [[each.path, dump([each])] for each in found]

        ask = partial(program.known, _judgement_by(judge), judged)
        told: list[Any] = self._answer(program.path, judge.code, ask, [])
        return [each for path, dumped in told for each in load(path, dumped)]

    def _answer(self, path: str, code: str, ask: Callable[[], T], otherwise: T) -> T:
        """What a rule says of a file or a program; an error of ours loses no more than that."""
        with journal.asking(path, code):
            try:
                return ask()
            except Exception:  # noqa: BLE001 - what else is found must not be lost with it
                import traceback

                self.failures.setdefault(path, traceback.format_exc())
                return otherwise

    def _known(
        self, root: str, wanted: dict[str, str] | None, having: set[str] | None = None
    ) -> list[Program]:
        """``_programs``, of which some may be judged already."""
        begun = (self._begun or {}).get(root)
        if begun is None:
            return self._programs(root, wanted, having)
        if having is not None:
            return [each for each in begun if not having.isdisjoint(each.paths)]
        return [x for x in begun if wanted is None or any(path in wanted for path in x.places)]

    def _project(self, root: str) -> tuple[Project, list[str]]:
        if root not in self._projects:
            files, follows = self._context.below(root), not self._context.alone
            starts = sorted(filter(self._may_start, self._starts.get(root, ())))
            found = Project(root, files, starts, self.index, follows=follows, kept=self.kept)
            modules = (each for each in files if each.endswith(".py"))
            asked = ((each, partial(self._may_be_flat, each)) for each in modules)
            flat = [each for each, ask in asked if known(found.about(each), "flat", ask)]
            self._projects[root] = found, found.unimported(flat)
        return self._projects[root]

    def _programs(
        self, root: str, wanted: dict[str, str] | None, having: set[str] | None = None
    ) -> list[Program]:
        """The programs that have a root, or of these only those that are wanted, or that have some
        files; without the files that only take the command line for others."""
        project, flat = self._project(root)

        def chosen(starts: Iterable[str]) -> Iterator[tuple[str, list[Located]]]:
            for path in starts:
                launched = [] if self._context.alone else self._launches.of(path)
                places = {path, *(each.path for each in launched)}
                left_out = wanted is not None and places.isdisjoint(wanted)
                if not (left_out or (having and having.isdisjoint(project.closure(path)))):
                    yield path, launched

        found = [
            self._made(project, path, launched)
            for path, launched in chosen(project.entrypoints)
            if not self._only_sets_up(path, project)
        ]
        made = [self._made(project, *each) for each in chosen(flat)]
        return found + [
            each
            for each in made
            if each.purpose.does_something()
            and not (self._is_in_package(each.path) and project.is_of_use(each.path))
        ]

    def _made(self, project: Project, path: str, launched: list[Located]) -> Program:
        program = Program(path, project, launched, lambda: self._launches.images)
        if self.kept is None or not program.look_up(self.kept):
            project.expect(path)
        return program

    def _may_be_flat(self, path: str) -> bool:
        """Whether a module that starts nothing by its text may be a program by what its statements
        call."""
        if self._is_in_package(path):
            ask = partial(may_be_flat_in_package, path)
            return self.index.told(path, "may be flat in a package", ask) and not (
                self.index.runs(path) and self._may_start(path)
            )
        return not self.index.runs(path) and self.index.told(
            path, "may be flat", partial(may_be_flat, path)
        )

    def _is_in_package(self, path: str) -> bool:
        """Whether a file lies in a package, below a project's root."""
        folder = os.path.dirname(path)
        return self.index.folders.is_package(folder) and folder != self._context.root_of(path)

    def _may_start(self, path: str) -> bool:
        """Whether what may start programs by its text does: not in a package, unless it says so."""
        if not self.index.folders.is_package(os.path.dirname(path)):
            return True
        return self.index.source(path).kind == NOTEBOOK or self._says_so(path)

    def _says_so(self, path: str) -> bool:
        return self.index.told(path, "says so", partial(says_so, path))

    def _only_sets_up(self, path: str, project: Project) -> bool:
        """Whether a file that programs import takes the command line for them."""
        if self.index.source(path).kind != PYTHON or path in project.installed:
            return False
        return not self._says_so(path) and project.is_imported(path)

    def _broken(self, findings: Sequence[Finding], names: dict[str, str]) -> Iterator[Finding]:
        """Of files that hold facts and do not parse: what is seen of a program lacks theirs."""
        told = {each.path for each in findings if each.code == UNPARSED}
        if any(rule.code == UNPARSED for rule in self._rules):
            for real, why in self.index.broken():
                if real in self._judged and names[real] not in told:
                    yield from self._unsuppressed([unreadable(names[real], *why)])

    def _weighed(
        self, finding: Finding, rule: type[Rule], programs: Sequence[Program]
    ) -> Finding | None:
        """What programs leave of a finding: None where all that its file is part of clear it, for
        in one that does not, the line makes runs differ."""
        judges = self._judges(finding, rule, programs)
        # One after the other: most are asked of no more than the first program.
        asked = partial(self._told, rule.cleared, finding)
        left = (each for each in judges if not asked(each, self._settings))
        first = next(left, None)
        if judges and first is None:
            return None
        root = self._context.root_of(os.path.realpath(finding.path))
        own = [each for each in programs if self._context.root_of(each.path) == root]
        doubted = rule.doubted_by_all(finding, own, self._others.python_files(root))
        if doubted and self._settings.bar(finding.code) > Confidence.POSSIBLE:
            return None
        if first is not None and not doubted:
            rest = itertools.chain([first], left)
            doubted = all(self._told(rule.doubted, finding, each) for each in rest)
        return finding._replace(confidence=Confidence.POSSIBLE) if doubted else finding

    @staticmethod
    def _told(
        asked: Callable[..., bool], finding: Finding, program: Program, *settings: Settings
    ) -> bool:
        """What a program says of a finding."""
        said = digest_of(map(str, (*finding[1:9], finding.confidence)))
        question = f"{asked.__name__} {os.path.realpath(finding.path)} {said}"
        return program.known(question, lambda: asked(finding, program, *settings))

    @staticmethod
    def _judges(finding: Finding, rule: type[Rule], programs: Sequence[Program]) -> list[Program]:
        """The programs whose word counts: a tool's where no other has the file, and, where the
        rule says so, that of one in which the line never runs only where it runs in none."""
        path = os.path.realpath(finding.path)
        within = [each for each in programs if path in each]
        if rule.judged_where_it_runs and len(within) > 1:
            within = [each for each in within if each.may_run(path, finding.row)] or within
        main = [each for each in within if not each.purpose.only_shares or each.path == path]
        return main or within


def _judgement_by(judge: type[Rule]) -> str:
    return f"judges {judge.code}"


def _looking(path: str, code: str, findings: Sequence[Finding]) -> tuple[str, object]:
    """The name of a look across files, and what it depends on besides."""
    return f"{code} {os.path.realpath(path)}", [each[1:9] for each in findings]


def rests_on_others(rule: type[Rule], finding: Finding) -> bool:
    """Whether other files may change a finding, or show it."""
    return finding.is_unseen or rule.rests_on_others(finding)


def _joined(group: list[_Said]) -> _Said:
    """Of findings that are about one place, that of the program that holds it, or that is there to
    train, or that others import, or the first. It names some of the others, and its way leads to
    each."""

    def rank(said: _Said) -> tuple[bool, bool, int, str]:
        program, finding = said
        imported = sum(program.path in other for other, _ in group)
        elsewhere = any(step.path for step in finding.way[-1:])
        return elsewhere, not program.purpose.is_to_train, -imported, program.path

    (program, finding), *others = sorted(group, key=rank)
    if not others:
        return program, finding
    named = sorted((each.title, one) for each, one in others)
    shown = [title for title, _ in named]
    if len(shown) > _SHOWN + 1:
        shown[_SHOWN:] = [f"{len(shown) - _SHOWN} others"]
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    folder = os.path.dirname(finding.path)
    ways = (Step(*one[1:5], f"{_SAME} {title}", relative(one.path, folder)) for title, one in named)
    message = f"{finding.message}; {_SAME} {listed}"
    return program, finding._replace(message=message, way=(*finding.way, *ways))


def _comments(source: Source) -> list[Span]:
    from detlint.documents import Unreadable, read

    try:
        return read(source).comments
    except Unreadable:
        return []
