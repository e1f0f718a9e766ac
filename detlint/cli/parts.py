"""What a run lints: files that share settings, each with those of the nearest configuration."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint import __version__, configuration
from detlint import settings as settings_module
from detlint.cli.said import say
from detlint.cli.screen import Progress
from detlint.errors import UsageError
from detlint.finding import Confidence
from detlint.grouping import grouped
from detlint.settings import enabled, ignored_for
from detlint.sources.paths import is_within, nearest

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from detlint.catalogue import Catalogue
    from detlint.engine import Engine
    from detlint.finding import Finding
    from detlint.link import Linker
    from detlint.runner import Linted
    from detlint.settings import Settings
    from detlint.sources.cache import Cache
    from detlint.sources.context import Context
    from detlint.sources.source import Source
    from detlint.suppression.novelty import Novelty


def check(options: argparse.Namespace) -> None:
    """Raise UsageError where nothing is named."""
    if not options.paths:
        raise UsageError("give at least one file or folder to lint: `detlint .`")


def say_warning(text: str) -> None:
    """Say of a path that it is not read as it was meant."""
    say(f"warning: {text}")


def found(options: argparse.Namespace, warn: Callable[[str], None] = say_warning) -> list[Part]:
    """The files below the named paths, by their settings. Raises SettingsError, UsageError."""
    from detlint.sources.discovery import discover

    first = settings_of(options, _first_path(options))
    paths = discover(options.paths, first, warn)
    if options.isolated or options.config:
        return [Part(options, first, paths)]
    real, known = cache(os.path.realpath), dict[str, str]()
    folders = ((real(os.path.dirname(path) or os.curdir), path) for path in paths)
    groups = grouped((_configuration_of(folder, known), path) for folder, path in folders)
    own = _configuration_of(first.project, known) if first.project else ""
    return [
        Part(options, first, named) if file == own else _other(options, named)
        for file, named in groups.items()
    ] or [Part(options, first, [])]


def _configuration_of(folder: str, known: dict[str, str]) -> str:
    """The nearest file of ours at or above a folder, "" for none; ``known`` of those before."""

    def own(folder: str) -> str | None:
        document = configuration.in_folder(folder)
        return document.path if document is not None else None

    return nearest(folder, own, known)


def _other(options: argparse.Namespace, paths: Sequence[str]) -> Part:
    """Files of a project within the first one, or beside it: it excludes files of its own."""
    from detlint.sources.discovery import discover

    settings = settings_of(options, paths[0])
    named = {os.path.realpath(each) for each in options.paths}
    kept = [each for each in paths if os.path.realpath(each) in named]
    found = discover(paths, settings._replace(force_exclude=True), lambda _: None)
    if not settings.force_exclude:
        found = sorted({*found, *kept})
    return Part(options, settings, found)


def _first_path(options: argparse.Namespace) -> str:
    first: str = options.paths[0]
    if first == "-":
        first = options.stdin_filename or "."
    return first


def settings_of(options: argparse.Namespace, path: str) -> Settings:
    """The settings for a path, the command line laid over the nearest configuration."""
    from detlint.cli.arguments import overrides

    known = catalogue_of(options)
    settings = settings_module.load(
        [path, *options.paths[1:]],
        config=options.config,
        isolated=options.isolated,
        overrides=overrides(options),
        codes=lambda: [rule.code for rule in known.rules],
    )
    # Of two that speak of one function, the last counts: the project.
    return settings._replace(models=(*known.models, *settings.models))


def catalogue_of(options: argparse.Namespace) -> Catalogue:
    """All rules, those of plugins among them. Raises UsageError where one cannot be used."""
    from detlint.catalogue import catalogue
    from detlint.sources.cache import folder_of

    # Also with --no-cache: it knows the rules, as compiled files do, and nothing of what is linted.
    return catalogue(folder_of(options.cache_dir), _version())


class Part:
    """Some files and the settings for them."""

    def __init__(
        self, options: argparse.Namespace, settings: Settings, paths: Sequence[str]
    ) -> None:
        self.settings = settings
        self.paths = paths
        self._options = options

    @cached_property
    def engine(self) -> Engine:
        """All rules that the settings choose. Raises UsageError where none is left."""
        from detlint.engine import Engine

        rules = catalogue_of(self._options).rules
        chosen = [rule for rule in rules if enabled(self.settings, rule.code, rule.default)]
        if not any(rule.code != "DET000" for rule in chosen):
            raise UsageError("no rule is left: --select and --ignore cancel out")
        return Engine(chosen, self.settings, known={rule.code for rule in rules})

    def lint(self, options: argparse.Namespace) -> Linted:
        """What is found in the files as they stand, with what programs show."""
        results = self.results()
        linted = self._found(self.settings, self.paths, results, options.paths)
        results.save()
        return linted

    def seeks(self, path: str, code: str) -> bool:
        """Whether findings of a code are looked for in a file, by its real path, or where one was
        that is gone."""
        known, chosen = self.engine.known, (rule.code for rule in self.engine.rules)
        if code in known and (code not in chosen or ignored_for(self.settings, path, code)):
            return False
        given = map(os.path.realpath, self._options.paths)
        gone = not os.path.exists(path) and any(is_within(path, each) for each in given)
        return gone or path in self._real_paths

    @cached_property
    def _real_paths(self) -> frozenset[str]:
        return frozenset(map(os.path.realpath, self.paths))

    def unshown(self) -> list[Finding]:
        """What is found with any confidence, beside what is shown."""
        whole = self.settings.with_bar(Confidence.POSSIBLE)
        if whole == self.settings:
            return []
        found = Part(self._options, whole, self.paths).lint(self._options).findings
        return [each for each in found if not self.settings.shows(each)]

    def programs_of(self, findings: Sequence[Finding]) -> dict[str, list[str]]:
        """The programs that have each file with a finding, by the paths of these."""
        from detlint.sources.context import Context

        real = {path: os.path.realpath(path) for path in {each.path for each in findings}}
        ours = {path: real[path] for path in self.paths if path in real}
        if not ours:
            return {}
        linker = self._linker(Context(self.paths, self.settings), self.results())
        known = linker.programs_of(ours.values())
        return {path: known[each] for path, each in ours.items()}

    def lint_bytes(self, path: str, data: bytes) -> list[Finding]:
        """What is found in a source as it stands, whatever its file holds."""
        from detlint.link import Linker
        from detlint.sources.context import Context
        from detlint.sources.decoding import decode
        from detlint.sources.source import DecodeError

        findings = self.engine.lint_bytes(path, data)
        with suppress(DecodeError):
            context = Context([path], self.settings)
            linker = Linker(self.engine, self.results(), context)
            findings = linker.link_one(decode(path, data), findings)
        return not_ignored(findings, self.settings)

    def novelty(self, options: argparse.Namespace, findings: Sequence[Finding]) -> Novelty:
        """What leaves out known findings; all are new where nothing says what is known."""
        from detlint.cli.report import decoded
        from detlint.suppression.novelty import Novelty, asked, novelty

        if not asked(options, self.settings):
            return Novelty()
        return novelty(options, self.settings, findings, self.lint_elsewhere, decoded)

    def lint_elsewhere(self, settings: Settings, paths: Sequence[str]) -> Sequence[Finding]:
        """The same for other files by the same rules, of which nothing is kept."""
        from detlint.sources.cache import Cache

        return self._found(settings, paths, Cache.disabled(), ()).findings

    def _found(
        self, settings: Settings, paths: Sequence[str], results: Cache, given: Sequence[str]
    ) -> Linted:
        from detlint.runner import lint_files
        from detlint.sources.context import Context

        jobs: int = self._options.jobs
        context = Context(paths, settings, given=given)
        linker = cache(lambda: self._linker(context, results))
        with Progress(len(paths)) as progress:
            linted = lint_files(
                paths,
                lambda: self.engine,
                results,
                jobs,
                progress,
                lambda *pool: linker().begin(*pool),
            )
        findings, failures = self._linked(linted, context, results, linker)
        return linted._replace(
            findings=not_ignored(findings, settings), failures={**linted.failures, **failures}
        )

    def _linker(self, context: Context, results: Cache) -> Linker:
        from detlint.link import Linker

        return Linker(self.engine, results, context, jobs=self._options.jobs)

    def _linked(
        self, linted: Linted, context: Context, results: Cache, linker: Callable[[], Linker]
    ) -> tuple[list[Finding], dict[str, str]]:
        """With what programs show: their own findings, and without those that they clear; and
        where that failed."""
        if results.keeps:
            from detlint.unchanged import recall, remember

            # First: to import what tells whether there may be programs takes longer.
            known = recall(results, context)
            if known is not None:
                return known, {}
        from detlint.callgraph.scripts import may_differ, together
        from detlint.index.entrypoints import are_flat

        scripted = may_differ(context.paths)
        waits = linted.entrypoints or scripted or linted.findings or context.may_start()
        if not (waits or are_flat(context.names)):
            return linted.findings, {}
        findings = linted.findings
        if scripted:
            findings = together(findings, context, self.engine, linker())
        findings = linker().link(findings, linted.entrypoints)
        failures = linker().failures
        if results.keeps and not failures:
            remember(results, context, linker().looked_at(), findings)
        return findings, failures

    def again(self) -> Callable[[Source], list[Finding]]:
        """What fixes re-lint a source by: they leave alone what ``per-file-ignores`` silences."""
        from detlint.link import Linker
        from detlint.sources.cache import Cache
        from detlint.sources.context import Context

        context = Context(self.paths, self.settings)
        linker = Linker(self.engine, Cache.disabled(), context)
        return lambda source: not_ignored(
            linker.link_one(source, self.engine.look_at(source).findings), self.settings
        )

    def results(self) -> Cache:
        """What is kept of earlier runs."""
        from detlint.sources.cache import Cache

        if self._options.no_cache:
            return Cache.disabled()
        plugins = catalogue_of(self._options).state
        key = f"{_version()} {sys.version_info[:2]} {self.settings!r} {plugins}"
        return Cache.open(self._options.cache_dir, self.settings.root or os.getcwd(), key)


def not_ignored(findings: Sequence[Finding], settings: Settings) -> list[Finding]:
    """Those that ``per-file-ignores`` does not silence."""
    if not settings.per_file_ignores:
        return list(findings)
    return [each for each in findings if not ignored_for(settings, each.path, each.code)]


@cache
def _version() -> str:
    """Changes with any file of the package, so that a development install needs no new version."""
    package = os.path.dirname(os.path.dirname(__file__))
    return " ".join(sorted([__version__, *_files(package)]))


def _files(package: str) -> Iterator[str]:
    folders = [package]
    for folder in folders:  # grows
        with os.scandir(folder) as inside:
            for each in inside:
                if each.is_file():
                    yield f"{each.name} {each.stat().st_mtime_ns}"
                elif each.name != "__pycache__":  # which the first runs fill
                    folders.append(each.path)
