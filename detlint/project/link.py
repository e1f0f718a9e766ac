"""Findings of programs, joined with those of files."""

from __future__ import annotations

import os
from functools import cache as cached
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.catalogue import class_of
from detlint.finding import UNPARSED, unreadable
from detlint.kinds import PYTHON
from detlint.project.entrypoints import is_entrypoint, says_so
from detlint.project.files import Files
from detlint.project.imports import Finder
from detlint.project.launches import Launches
from detlint.project.origins import Origins
from detlint.project.program import Located, Program
from detlint.project.python_files import PythonFiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.cache import Cache
    from detlint.engine import AnyRule
    from detlint.finding import Finding
    from detlint.lexer import Span
    from detlint.rule import Rule
    from detlint.settings import Settings
    from detlint.source import Source


class Linker:
    """Judges programs by a set of rules. ``paths`` are the files that are linted: the scripts
    among them start programs."""

    def __init__(
        self, rules: Sequence[AnyRule], settings: Settings, cache: Cache, paths: Sequence[str] = ()
    ) -> None:
        self._rules = rules
        self._paths = paths
        self._settings = settings
        self._files = Files(cache)
        self._launches = Launches(paths, self._files, self._bound)
        self._python = PythonFiles(paths, self._files)
        self._imported: set[str] = set()  # files that some program imports, as far as it is known

    def link(
        self, findings: Sequence[Finding], entrypoints: Sequence[str], paths: Sequence[str]
    ) -> list[Finding]:
        """The findings of files that no program clears, and those of the programs, in the
        order of the paths that are linted."""
        names = _by_real_path(paths)
        origins = cached(self._origins)
        told: set[tuple[str, Located]] = set()
        programs = [
            Program(
                real,
                names,
                self._files,
                origins(self._bound(real)),
                told,
                launched=self._launches.of(real),
                imported=self._imported,
            )
            for real in dict.fromkeys(map(os.path.realpath, entrypoints))
        ]
        for program in programs:  # each holds the set, and asks it when all are known
            self._imported.update(each for each in program.paths if each != program.path)
        programs = [each for each in programs if not self._only_sets_up(each.path)]
        joined = [*self._joined(findings, programs), *self._broken(findings, names)]
        order = {path: place for place, path in enumerate(paths)}
        found = sorted(joined, key=lambda each: (order[each.path], *each[1:6]))
        self._files.save()
        return found

    def _broken(self, findings: Sequence[Finding], names: dict[str, str]) -> Iterator[Finding]:
        """Of files that hold facts and do not parse: what is seen of a program lacks theirs."""
        told = {each.path for each in findings if each.code == UNPARSED}
        if any(rule.code == UNPARSED for rule in self._rules):
            for real, why in self._files.broken():
                if real in names and names[real] not in told:
                    yield from _unsuppressed([unreadable(names[real], *why)], self._files)

    def _only_sets_up(self, path: str) -> bool:
        """Whether a file that programs import takes the command line for them."""
        if path not in self._imported:
            return False
        source = self._files.source(path)
        return source.kind == PYTHON and not says_so(path, source.text)

    def looked_at(self, paths: Sequence[str]) -> tuple[list[str], dict[str, dict[str, str]]]:
        """The files other than some paths, and the listings of folders, that linking asked."""
        outside = sorted(self._files.known.keys() - _by_real_path(paths).keys())
        return outside, self._files.folders.listings

    def link_one(
        self, source: Source, findings: Sequence[Finding], *, alone: bool = False
    ) -> list[Finding]:
        """The same for one source as it stands, whatever its file holds; ``alone``: without
        the files that it imports."""
        if not is_entrypoint(source.path, source.text):
            return list(findings)
        path = os.path.realpath(source.path)
        self._files.replace(path, source)
        origins = None if alone else self._origins(self._bound(path))
        names = {path: source.path}
        launched = () if alone else self._launches.of(path)
        program = Program(
            path,
            names,
            self._files,
            origins,
            set(),
            launched=launched,
            imported=self._imported,
        )
        return sorted(self._joined(findings, [program]), key=lambda each: each[1:6])

    def _joined(
        self, findings: Sequence[Finding], programs: Sequence[Program]
    ) -> Iterator[Finding]:
        clearing = {rule.code: class_of(rule) for rule in self._rules if rule.may_be_cleared()}
        for finding in findings:
            rule = clearing.get(finding.code)
            if rule is None or not self._is_cleared(finding, rule, programs):
                yield finding
        told = {(each.code, *each[:3]) for each in findings}
        found = [
            each
            for rule in self._rules
            if rule.judges_programs()
            for program in programs
            for each in class_of(rule).judge(program, self._settings)
            if (each.code, *each[:3]) not in told  # a script may say the same by itself
        ]
        yield from _unsuppressed(found, self._files)

    def _is_cleared(self, finding: Finding, rule: type[Rule], programs: Sequence[Program]) -> bool:
        """Whether all programs that the finding's file is part of clear it: in one that does
        not, the line makes runs differ. A tool's word counts where no other program's does, and,
        where the rule says so, that of a program in which the line never runs only where it
        runs in none."""
        path = os.path.realpath(finding.path)
        if rule.cleared_by_all(finding, programs, self._settings, self._python):
            return True
        within = [each for each in programs if path in each]
        if rule.judged_where_it_runs and len(within) > 1:
            within = [each for each in within if each.may_run(path, finding.row)] or within
        main = [each for each in within if not each.only_shares() or each.path == path]
        judges = main or within
        return bool(judges) and all(rule.cleared(finding, each, self._settings) for each in judges)

    def _origins(self, bound: str) -> Origins:
        return Origins(self._files, Finder(bound, self._files.folders))

    def _bound(self, path: str) -> str:
        """The folder that a program's files lie in: the project's root, if it holds the
        entrypoint, else the folder above the packages that this is in, or above it the one that
        holds all that is linted."""
        root = os.path.realpath(self._settings.root or os.curdir)
        if path.startswith(os.path.join(root, "")):
            return root
        folder = os.path.dirname(path)
        while self._files.folders.is_package(folder):
            folder = os.path.dirname(folder)
        shared = self._shared
        above = shared != os.sep and folder.startswith(os.path.join(shared, ""))
        return shared if above else folder

    @cached_property
    def _shared(self) -> str:
        """The folder that holds all that is linted."""
        folders = set(map(os.path.dirname, self._paths))
        return os.path.commonpath(map(os.path.realpath, folders)) if folders else os.sep


def _by_real_path(paths: Sequence[str]) -> dict[str, str]:
    folder = cached(os.path.realpath)  # of each file takes as long as linting it
    parts = map(os.path.split, paths)
    return {
        os.path.join(folder(above), name): path
        for (above, name), path in zip(parts, paths, strict=True)
    }


def _unsuppressed(findings: Sequence[Finding], files: Files) -> Iterator[Finding]:
    for finding in findings:
        source = files.source(os.path.realpath(finding.path))
        if "etlint:" in source.text or "noqa" in source.text.lower():
            from detlint.suppression import apply

            comments = None if source.kind == PYTHON else _comments(source)
            if not apply(source, [finding], enabled=(), known=(), comments=comments):
                continue
        yield finding


def _comments(source: Source) -> list[Span]:
    from detlint.documents import Unreadable, read

    try:
        return read(source).comments
    except Unreadable:
        return []
