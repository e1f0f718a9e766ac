"""Projects in memory: settings, rules and index, for as long as an editor shows their files."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.catalogue import class_of
from detlint.cli import parts
from detlint.errors import UsageError
from detlint.index.index import Index
from detlint.kept import Kept
from detlint.sources.paths import ancestors, repository_of, stamp

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from detlint.finding import Finding
    from detlint.settings import Settings
    from detlint.sources.cache import Cache
    from detlint.sources.context import Context
    from detlint.sources.source import Source
    from detlint.suppression.baseline import Baseline

_CONFIGURATIONS = ("detlint.toml", ".detlint.toml", "pyproject.toml")
# Looking at 3,000 files takes 40 ms. Not every editor says when one changes.
_A_WHILE = 2.0

_Stat = tuple[object, ...]


class Projects:
    """The projects that files are part of; each is made anew when its configuration changes.

    ``roots`` are the folders that the editor has open: outside of any project, these are one.
    """

    def __init__(self, options: argparse.Namespace, roots: Sequence[str]) -> None:
        self._options = options
        self._roots = [os.path.realpath(each) for each in roots]
        self._known: dict[str, tuple[_Stat, Project]] = {}

    def of(self, path: str) -> Project:
        """The project of a file. Raises DetlintError where its configuration cannot be used."""
        folder = os.path.dirname(path)
        state = self.state(path)
        known = self._known.get(folder)
        if known is not None and known[0] == state:
            return known[1]
        shared = (each for at, each in self._known.values() if at == state)
        project = next(shared, None) or Project(self._options, path, self._root_of(folder))
        self._known[folder] = state, project
        return project

    def state(self, path: str) -> _Stat:
        """What differs when another configuration holds for a file."""
        if self._options.config:
            return (self._options.config, stamp(self._options.config))
        folder = os.path.dirname(path)
        files = (
            os.path.join(each, name)
            for each in ancestors(os.path.realpath(folder))
            for name in _CONFIGURATIONS
        )
        found = ((each, told) for each in files if (told := stamp(each)))
        return (self._root_of(folder), *found)

    def forget(self) -> None:
        """Read all configurations again."""
        self._known.clear()

    def look_again(self) -> None:
        """Look at the files again when programs are judged next."""
        for _, project in self._known.values():
            project.touch()

    def _root_of(self, folder: str) -> str:
        real = os.path.join(os.path.realpath(folder), "")
        inside = [each for each in self._roots if real.startswith(os.path.join(each, ""))]
        return max(inside, key=len, default="")


class Project:
    """Files that share settings, and what is known of them.

    `look` needs nothing but the rules. What `link` keeps is for one thread alone.
    """

    def __init__(self, options: argparse.Namespace, path: str, root: str) -> None:
        settings = parts.settings_of(options, path)
        if root and not settings.project and not repository_of(settings.root):
            settings = settings._replace(project=root, root=root)
        self.settings = settings
        self._options = options
        self._part = parts.Part(options, settings, [path])
        self._engine = self._part.engine
        self._cleared = {x.code: x for x in self._engine.rules if x.may_be_cleared()}
        self._crossing = {x.code: x for x in self._engine.rules if x.crosses_files}
        self._files: _Files | None = None

    def holds(self, path: str) -> bool:
        """Whether findings of a file are shown: not of one that the configuration excludes."""
        from detlint.sources.discovery import discover

        if not os.path.exists(path):
            return True
        try:
            return bool(discover([path], self.settings._replace(force_exclude=True), _ignored))
        except UsageError:
            return False

    def look(self, source: Source) -> list[Finding]:
        """What is found in one source by itself."""
        found = self._engine.look_at(source).findings
        return parts.not_ignored(found, self.settings)

    def is_open(self, finding: Finding) -> bool:
        """Whether other files may have a say in it."""
        from detlint.link import rests_on_others

        cleared, crossing = self._cleared.get(finding.code), self._crossing.get(finding.code)
        return (crossing is not None and rests_on_others(class_of(crossing), finding)) or (
            cleared is not None and class_of(cleared).awaits_programs(finding)
        )

    def link(
        self, source: Source, findings: Sequence[Finding], others: Mapping[str, Source]
    ) -> list[Finding]:
        """The same with what programs and other files show; ``others``: what the editor shows of
        them, by their real paths."""
        from detlint.link import Linker
        from detlint.sources.context import Context

        if self._files is None:
            self._files = _Files(self._part.results())
        known = self._files
        known.look(source.path, self.settings)
        known.hand_in(others)
        context = Context([source.path], self.settings, files=known.paths)
        kept = known.kept_for(context)
        linker = Linker(self._engine, known.cache, context, index=known.index, kept=kept)
        linked = linker.link_one(source, findings)
        known.save()
        return parts.not_ignored(linked, self.settings)

    def touch(self) -> None:
        """Look at the files again when programs are judged next."""
        if self._files is not None:
            self._files.looked = 0.0

    def new(self, findings: list[Finding], source: Source) -> list[Finding]:
        """Those that the project's baseline does not know."""
        baseline = self._baseline()
        return baseline.new(findings, lambda _path: source) if baseline else findings

    def _baseline(self) -> Baseline | None:
        from detlint.suppression.novelty import baseline_file

        file = baseline_file(self._options, self.settings)
        return _loaded(self.settings, file, stamp(file)) if file else None


class _Files:
    """The files of a project as they stood when last looked at, and their index."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.index = Index(cache)
        self._kept: Kept | None = None
        self.paths: list[str] = []
        self.looked = 0.0
        self._stats: dict[str, tuple[int, ...]] = {}
        self._handed_in: dict[str, Source] = {}

    def look(self, path: str, settings: Settings) -> None:
        """Index anew what has changed since; after a while, or when something is said to have."""
        from detlint.sources.context import Context

        if self._stats and time.monotonic() - self.looked < _A_WHILE:
            return
        paths = Context([path], settings).files
        stats = {each: stamp(each) for each in paths}
        if stats.keys() != self._stats.keys():
            self.index = Index(self.cache)
            self._kept = None
            self._handed_in.clear()
        for each in paths:
            if stats[each] != self._stats.get(each):
                self.index.forget(each)
        self.paths, self._stats = paths, stats
        self.looked = time.monotonic()

    def hand_in(self, sources: Mapping[str, Source]) -> None:
        """Take these texts for those of their files, and no others."""
        for path in self._handed_in.keys() - sources.keys():
            self.index.forget(path)
        for path, source in sources.items():
            if self._handed_in.get(path) is not source:
                self.index.replace(path, source)
        self._handed_in = dict(sources)

    def kept_for(self, context: Context) -> Kept:
        """What is known of programs, for as long as there are the same files."""
        if self._kept is None:
            self._kept = Kept(self.cache, context, self.index)
        return self._kept

    def save(self) -> None:
        """Keep what is known for the next run, and for the command line."""
        self.index.save()
        self.cache.save()


def prepare() -> None:
    """Import what a look at a text takes. From now on `tidy` collects garbage, and nothing else:
    it would take ten times as long as a look, in the middle of one."""
    import gc
    from importlib import import_module

    from detlint.rules import every_rule

    every_rule()
    for each in ("detlint.dataflow.unit", "detlint.suppression.comments"):
        import_module(each)
    gc.freeze()
    gc.disable()


def tidy() -> None:
    """What nobody waits for once a text is looked at: collect what that left behind, and import
    what reads a line that is being typed."""
    import gc
    from importlib import import_module

    gc.collect(0)
    import_module("libcst")


@lru_cache(maxsize=8)
def _loaded(settings: Settings, file: str, _stamp: _Stat) -> Baseline:
    from detlint.settings import project_root
    from detlint.suppression.baseline import Baseline

    return Baseline.load(project_root(settings), file)


def _ignored(_warning: str) -> None:
    """What a search warns of is told by the command line."""
