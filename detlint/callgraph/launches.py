"""Which scripts start a program, and the variables that they set for it."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from detlint.callgraph.fact_base import Located
from detlint.grouping import grouped
from detlint.index.facts import Fact
from detlint.index.folders import OTHER
from detlint.index.imports import Import
from detlint.index.modules import Modules
from detlint.kept import known
from detlint.sources.kinds import kind_of_name
from detlint.sources.paths import slashed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.index.index import Index
    from detlint.index.launched import Start
    from detlint.kept import Answers, Kept
    from detlint.sources.context import Context

_KINDS = frozenset({"shell", "dockerfile", "makefile", "yaml", "notebook"})
_SETTING = frozenset(("sets", "salts"))
_DEEPEST = 4  # scripts that start scripts


class Launches:
    """What the scripts of a context start. The folder that a script's project lies in is not
    left."""

    def __init__(self, context: Context, index: Index, kept: Kept | None = None) -> None:
        self._context = context
        self._bound = context.root_of
        self._index = index
        self._kept = kept

    def of(self, path: str) -> list[Located]:
        """The variables that are set for a program, by its real path."""
        return self._started.get(path, [])

    @cached_property
    def images(self) -> list[Located]:
        """The variables that images of the context set for whatever runs in them."""
        return _loaded(known(self._answers, "images", lambda: _dumped(self._found_images())))

    @cached_property
    def _started(self) -> dict[str, list[Located]]:
        """Variables by the real path of what is started with them, programs and scripts."""
        found = known(self._answers, "started", self._found_started)
        return {path: _loaded(sets) for path, sets in found.items()}

    @cached_property
    def _answers(self) -> Answers:
        return {} if self._kept is None else self._kept.answers("scripts", self._all)

    def _found_images(self) -> list[Located]:
        files = (each for each in self._scripts_that_set if self._kind(each) == "dockerfile")
        return [Located(path, fact) for path in files for fact in self._index.exports(path)]

    def _found_started(self) -> dict[str, list[Any]]:
        found: dict[str, dict[Located, None]] = {}
        scripts = self._telling()
        known = set(scripts)
        self._index.read_all("starts", scripts)
        for _ in range(_DEEPEST if scripts else 0):
            before = {path: len(sets) for path, sets in found.items()}
            for script in scripts:
                handed = list(found.get(script, ()))
                for start in self._index.starts(script):
                    sets = [*self._sets(script, start, known), *handed]
                    target = self._target(script, start) if sets else None
                    if target is not None:
                        found.setdefault(target, {}).update(dict.fromkeys(sets))
            if before == {path: len(sets) for path, sets in found.items()}:
                break
        return {target: _dumped(sets) for target, sets in found.items()}

    def _telling(self) -> list[str]:
        """The scripts of which one sets a variable that a rule asks about, those that name one
        of these, and those that they name."""
        chosen = fresh = self._scripts_that_set
        if not fresh:
            return []
        from ahocorasick_rs import AhoCorasick

        by_name = grouped((os.path.basename(each), each) for each in self._all)
        words = list(by_name)
        find = AhoCorasick(words).find_matches_as_indexes
        named: dict[str, set[str]] = {}  # by each, the names in its text
        for each in self._all:
            found = find(self._index.source(each).text, overlapping=True)
            named[each] = {words[index] for index, _, _ in found}
        for _ in range(_DEEPEST):
            names = {os.path.basename(each) for each in fresh}
            naming = {each for each, found in named.items() if not names.isdisjoint(found)}
            fresh = naming.union(*(by_name[name] for each in fresh for name in named[each]))
            fresh -= chosen
            chosen = chosen | fresh
        return sorted(chosen)

    @cached_property
    def _all(self) -> list[str]:
        return [each for each in self._context.files if self._kind(each) in _KINDS]

    @cached_property
    def _scripts_that_set(self) -> set[str]:
        return {each for each in self._all if not _SETTING.isdisjoint(self._index.kinds(each))}

    def _kind(self, path: str) -> str:
        return kind_of_name(os.path.basename(path)) or self._index.source(path).kind

    def _sets(self, script: str, start: Start, known: set[str]) -> Iterator[Located]:
        for fact in start.sets:
            yield Located(script, fact)
        own = {fact.what for fact in start.sets}
        for name in start.sourced:
            for folder in self._folders(script):
                path = os.path.realpath(os.path.join(folder, name))
                if path in known:
                    for fact in self._index.exports(path):
                        if fact.what not in own:
                            yield Located(path, fact)
                    break

    # Where it is

    def _target(self, script: str, start: Start) -> str | None:
        """The real path of what is started."""
        if start.module:
            return self._module(script, start)
        for path in self._candidates(script, start):
            folder, name = os.path.split(path)
            entry = self._index.folders.entries(folder).get(name, OTHER)
            if path in self._scripts or not entry.endswith(OTHER):
                real = os.path.realpath(path)
                return real if real.startswith(os.path.join(self._bound(script), "")) else None
        return None

    @cached_property
    def _scripts(self) -> frozenset[str]:
        return frozenset(self._context.files)

    def _candidates(self, script: str, start: Start) -> Iterator[str]:
        """Where the path may lead: from the folder of the script, those above, and the one in
        which detlint works. The root of an image is none of ours: of its paths, ends count."""
        path = os.path.normpath(start.script)
        tails = [path]
        if os.path.isabs(path):
            parts = os.path.splitdrive(path)[1].strip(os.sep).split(os.sep)
            tails = [os.sep.join(parts[index:]) for index in range(1, len(parts))]
        inside = start.folder or ""
        for tail in tails:
            for folder in self._folders(script):
                if inside and not os.path.isabs(inside):
                    yield os.path.normpath(os.path.join(folder, inside, tail))
                yield os.path.normpath(os.path.join(folder, tail))

    def _folders(self, script: str) -> Iterator[str]:
        bound = self._bound(script)
        folder = os.path.dirname(script)
        while True:
            yield folder
            if folder == bound or not folder.startswith(bound):
                break
            folder = os.path.dirname(folder)

    def _module(self, script: str, start: Start) -> str | None:
        """The file that ``python -m`` runs."""
        finder = Modules(self._bound(script), self._index.folders)
        folder = os.path.dirname(script)
        if start.folder and not os.path.isabs(start.folder):
            folder = os.path.normpath(os.path.join(folder, start.folder))
        found = finder.files(os.path.join(folder, "-"), Import(start.module, 0, ()))
        last = slashed(found[-1]) if found else ""
        ending = start.module.replace(".", "/")
        if last.endswith((f"/{ending}.py", f"/{ending}/__main__.py")):
            return found[-1]
        if last.endswith(f"/{ending}/__init__.py"):
            return os.path.join(os.path.dirname(found[-1]), "__main__.py")
        return None


def _dumped(sets: Iterable[Located]) -> list[Any]:
    """As JSON gives it back."""
    return [[path, list(fact)] for path, fact in sets]


def _loaded(kept: list[Any]) -> list[Located]:
    return [Located(path, Fact(*fact)) for path, fact in kept]
