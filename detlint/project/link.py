"""Findings of programs, joined with those of files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from detlint.cache import Cache
from detlint.project.entrypoints import is_entrypoint
from detlint.project.files import Files
from detlint.project.imports import Finder
from detlint.project.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from detlint.engine import AnyRule
    from detlint.finding import Finding
    from detlint.settings import Settings
    from detlint.source import Source


def link(
    findings: Sequence[Finding],
    entrypoints: Sequence[str],
    paths: Sequence[str],
    rules: Sequence[AnyRule],
    settings: Settings,
    cache: Cache,
) -> list[Finding]:
    """The findings of files that no program clears, and those of the programs, in the order
    of the paths."""
    names = {os.path.realpath(path): path for path in paths}
    files = Files(cache)
    programs = [_program(path, names, files, settings) for path in entrypoints]
    joined = _joined(findings, programs, rules, settings, files)
    files.save()
    order = {path: place for place, path in enumerate(paths)}
    return sorted(joined, key=lambda each: (order[each.path], *each[1:6]))


def link_one(
    source: Source,
    findings: Sequence[Finding],
    rules: Sequence[AnyRule],
    settings: Settings,
    *,
    alone: bool = False,
) -> list[Finding]:
    """The same for one source as it stands, whatever its file holds; ``alone``: without the
    files that it imports."""
    if not is_entrypoint(source.path, source.text):
        return list(findings)
    path = os.path.realpath(source.path)
    files = Files(Cache.disabled())
    files.replace(path, source)
    names = {path: source.path}
    program = (
        Program(path, names, files, None) if alone else _program(path, names, files, settings)
    )
    joined = _joined(findings, [program], rules, settings, files)
    return sorted(joined, key=lambda each: each[1:6])


def _program(path: str, names: Mapping[str, str], files: Files, settings: Settings) -> Program:
    real = os.path.realpath(path)
    root = os.path.realpath(settings.root or os.curdir)
    inside = real.startswith(os.path.join(root, ""))
    return Program(real, names, files, Finder(root if inside else _package_root(real)))


def _package_root(path: str) -> str:
    """The folder above the packages that a file is in."""
    folder = os.path.dirname(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _joined(
    findings: Sequence[Finding],
    programs: Sequence[Program],
    rules: Sequence[AnyRule],
    settings: Settings,
    files: Files,
) -> Iterator[Finding]:
    clearing = {rule.code: rule.cleared_by for rule in rules if rule.cleared_by}
    for finding in findings:
        facts = clearing.get(finding.code, ())
        path = os.path.realpath(finding.path) if facts else ""
        if not any(path in program and _has_any(program, facts) for program in programs if facts):
            yield finding
    found = [
        finding
        for rule in map(_imported, rules)
        if rule.judges_programs()
        for program in programs
        for finding in rule.judge(program, settings)
    ]
    yield from _unsuppressed(_once(found), files)


def _imported(rule: AnyRule) -> AnyRule:
    return rule.rule if rule.judges_programs() and hasattr(rule, "rule") else rule


def _has_any(program: Program, facts: Iterable[tuple[str, str]]) -> bool:
    return any(program.has(kind, what) for kind, what in facts)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """One finding a place and code: two programs may share a file."""
    return list({(each.path, *each[1:6]): each for each in reversed(list(findings))}.values())


def _unsuppressed(findings: Sequence[Finding], files: Files) -> Iterator[Finding]:
    for finding in findings:
        source = files.source(os.path.realpath(finding.path))
        if "etlint:" in source.text or "noqa" in source.text.lower():
            from detlint.suppression import apply

            if not apply(source, [finding], enabled=(), known=()):
                continue
        yield finding
