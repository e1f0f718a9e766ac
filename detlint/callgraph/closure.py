"""The files of a program: the one that starts, and those of the project that it imports."""

from __future__ import annotations

import os
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from detlint.kept import known

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from detlint.callgraph.project import Project
    from detlint.callgraph.reachability import Reachability
    from detlint.index.modules import Symbol
    from detlint.kept import Answers, Kept
    from detlint.sources.source import Source

# Beside the answers that depend on what configurations set: a digest of these.
_CONFIGURED = "configurations"
T = TypeVar("T")


class _Parts:
    """The parts of a file that are reached."""

    def __init__(self, path: str, reaches: Callable[[str, str], bool]) -> None:
        self._path = path
        self._reaches = reaches

    def __contains__(self, part: object) -> bool:
        return self._reaches(self._path, str(part))


class Closure:
    """An entrypoint and its import closure, by their real paths, and what is known of them.

    path        of the entrypoint
    paths       of all files, in the order in which they are met
    configured  whether it was asked what configurations set
    answers     that are known of it
    """

    def __init__(self, path: str, project: Project) -> None:
        self.path = path
        self.paths = project.closure(path)
        self.project = project
        self.index = project.index
        self.configured = False
        self.parts_from = cache(self._reached_from)
        self.answers: Answers = {}

    @cached_property
    def members(self) -> frozenset[str]:
        """The same files as a set."""
        return frozenset(self.paths)

    def let_go(self) -> None:
        """Hold no more than the answers: of thousands of programs, the sets are much."""
        self.parts_from.cache_clear()
        for each in ("members", "_imported"):
            vars(self).pop(each, None)

    def known(self, question: str, answer: Callable[[], T]) -> T:
        """The answer to a question, worked out if no earlier run has kept it."""
        told = known(self.answers, question, answer)
        if self.configured:
            self.answers[_CONFIGURED] = self.project.state_of_configurations
        return told

    def look_up(self, kept: Kept, besides: tuple[object, ...]) -> bool:
        """Take the answers that an earlier run has kept, and keep those that are given now; whether
        there are any."""
        besides = (*besides, *self.project.depends_on(self.path))
        self.answers = kept.answers(self.path, self.paths, besides)
        state = self.answers.get(_CONFIGURED)
        if state is not None and state != self.project.state_of_configurations:
            self.answers.clear()
        return bool(self.answers)

    def __contains__(self, path: str) -> bool:
        """Whether a file, by its real path, is one of the program's."""
        return path in self.members

    @property
    def reach(self) -> Reachability:
        """What programs reach, this one among them."""
        return self.project.reach_of(self.path)

    def parts(self, reaches: Callable[[str, str], bool]) -> Mapping[str, Container[str]]:
        """The parts of its files that are reached, by the paths of these."""
        return {path: _Parts(path, reaches) for path in self.paths}

    def _reached_from(self, *starts: Symbol, handed: bool = False) -> Mapping[str, Container[str]]:
        """Of functions that run alone; ``handed``: with objects that they are given."""
        program = self.path if handed else ""
        return self.parts(self.reach.parts_from(*starts, files=self.members, program=program))

    def imports(self, *libraries: str) -> bool:
        """Whether one of its files imports one of some top-level modules."""
        # In one order in every run: each answer is kept, and the first yes ends the search.
        named = filter(self._imported.__contains__, libraries)
        return any(self.index.brings(path, each) for each in named for path in self.paths)

    @cached_property
    def _imported(self) -> frozenset[str]:
        """As far as texts tell, which may show what others import."""
        return frozenset().union(*map(self.index.libraries, self.paths))

    def holding(self, *words: str) -> Iterator[str]:
        """Those of its files whose text holds one of some words."""
        ask = partial(self.index.holds, words=words)
        told = self.project.telling(self.members, ("holds", *words), ask)
        return filter(told.__contains__, self.paths) if told else iter(())

    def meant(self, names: Iterable[str]) -> Iterator[Symbol]:
        """What of the project the entrypoint means by qualified names."""
        for name in names:
            yield from self.project.defined(self.path, name)

    def is_class(self, symbol: Symbol) -> bool:
        """Whether a symbol of the project is a class."""
        return symbol.part in self.index.outline(symbol.path).classes

    @property
    def source(self) -> Source:
        """The entrypoint's source."""
        return self.index.source(self.path)

    @property
    def name(self) -> str:
        """The entrypoint's file name."""
        return os.path.basename(self.path)

    @property
    def shown(self) -> str:
        """The entrypoint's path in the project."""
        return self.project.shown(self.path)
