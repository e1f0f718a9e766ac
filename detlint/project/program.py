"""A program: the file that a person runs, and those of the project that it imports."""

from __future__ import annotations

import os
import re
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.finding import Edit, Finding
from detlint.project.entrypoints import main_line
from detlint.project.facts import EVERY, Fact
from detlint.project.outline import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from detlint.project.files import Files
    from detlint.project.imports import Finder
    from detlint.rule import Rule
    from detlint.source import Source


_LONGEST = 50
# Programs that use a model, by their names.
_OTHER_TOOL = re.compile(
    r"infer|predict|export|convert|eval|quantiz|visuali|demo|serve", re.IGNORECASE
)
_STARTS = re.compile(r"(?:train|fit|learn|run|launch|main)\w*\(", re.IGNORECASE)
_SETTLING = frozenset({"seeds", "enables", "sets", "tells"})
_RARE = frozenset({"trains", "enables"})


class Located(NamedTuple):
    """A fact and the file that holds it."""

    path: str
    fact: Fact


class Program:
    """An entrypoint and its import closure, in the order in which they are met.

    ``path`` is its real path; ``names`` says how the user named the files that are linted,
    ``told`` at which facts programs have had findings, and ``launched`` which variables the
    scripts set that start it.
    """

    def __init__(  # noqa: PLR0913 - what is known besides the file itself
        self,
        path: str,
        names: Mapping[str, str],
        files: Files,
        finder: Finder | None,
        told: set[tuple[str, Located]],
        *,
        launched: Iterable[Located] = (),
    ) -> None:
        self.path = path
        self._launched = list(launched)
        self._told = told
        self._names = names
        self._files = files
        self.paths = finder.closure(path, files.imports) if finder else [path]
        self._members = frozenset(self.paths)

    def __contains__(self, path: str) -> bool:
        """Whether a file, by its real path, is one of the program's."""
        return path in self._members

    def only_tries(self, located: Located) -> bool:
        """Whether a fact stands in the main block of a module of a package."""
        source = self._files.source(located.path)
        start = main_line(source.text)
        packaged = self._files.is_packaged(located.path)
        return packaged and start is not None and located.fact.row >= source.location(start)[0]

    def imports(self, *libraries: str) -> bool:
        """Whether one of its files imports one of some top-level modules."""
        return not self._imported.isdisjoint(libraries)

    @cached_property
    def _imported(self) -> frozenset[str]:
        return frozenset().union(*map(self._files.libraries, self.paths))

    def facts(self, kind: str, what: str = "", *, runs: bool = False) -> Iterator[Located]:
        """Facts of one kind, about one library or variable.

        What settles a matter counts wherever it stands in a file, since code may be reached in
        ways that its text does not show; what raises one, or with ``runs`` any, where the text
        shows that it runs. ``NAME=value`` is about a variable that is set to just that.
        """
        what, _, value = what.partition("=")
        anywhere = kind in _SETTLING and not runs
        paths = self._holders.get(kind, ())
        if kind == "trains" and paths and self._only_shares():
            paths = [self.path] if self.path in paths else []
        for path in paths:
            runs_here = partial(self._runs, path)
            # What runs takes long to tell, and so do facts where code may hold many.
            chosen = None if anywhere or kind in _RARE else runs_here
            for part, fact in self._files.facts(path, kind, chosen):
                if (
                    self._is_about(fact, what)
                    and value in ("", fact.text)
                    and (anywhere or runs_here(part))
                ):
                    yield Located(path, fact)
        if kind == "sets":
            # What a script sets to something unknown may be the value that is asked about.
            asked = ("", value) if value else None
            yield from (
                each
                for each in self._launched
                if what in ("", each.fact.what) and (asked is None or each.fact.text in asked)
            )

    @cached_property
    def _holders(self) -> dict[str, list[str]]:
        """The files that may hold facts, by their kind."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            for kind in self._files.kinds(path):
                found.setdefault(kind, []).append(path)
        return found

    def _runs(self, path: str, part: str) -> bool:
        return not part or part in self._reached or (part == MAIN and path == self.path)

    def first(self, kind: str, what: str = "") -> Located | None:
        """The first of these facts."""
        return next(self.facts(kind, what), None)

    def has(self, kind: str, what: str = "") -> bool:
        """Whether there is such a fact."""
        return self.first(kind, what) is not None

    def _only_shares(self) -> bool:
        """Whether it shares the code of programs that train, and is for something else: by its
        name, or as a module of a package that tries itself and starts nothing."""
        tries = self._files.is_packaged(self.path) and not _STARTS.search(self.source.text)
        return tries or bool(_OTHER_TOOL.search(self.name))

    def is_guarded(self) -> bool:
        """Whether guard, or a helper like it, sets all that determinism needs."""
        return any(each.fact.what == EVERY for each in self.facts("enables"))

    def _is_about(self, fact: Fact, what: str) -> bool:
        if not what or fact.what in (what, EVERY):
            return True
        # A helper of another library does what its name says; of one here, the facts are known.
        helper = fact.what.removesuffix("()")
        return helper != fact.what and not self._defines(helper)

    @cached_property
    def _reached(self) -> frozenset[str]:
        """Names of functions and classes that what runs uses, directly or through others."""
        outlines = {path: self._files.outline(path) for path in self.paths}
        users: dict[str, list[list[str]]] = {}
        for parts in outlines.values():
            for part, names in parts.items():
                users.setdefault(part, []).append(names)
        pending = [*users[""], outlines[self.path][MAIN]]
        reached: set[str] = set()
        while pending:
            fresh = set(pending.pop()) - reached
            reached |= fresh
            pending += [names for name in fresh for names in users.get(name, ())]
        return frozenset(reached)

    def _defines(self, name: str) -> bool:
        return any(self._files.defines(each, name) for each in self.paths)

    # Findings

    @property
    def source(self) -> Source:
        """The entrypoint's source."""
        return self._files.source(self.path)

    @property
    def name(self) -> str:
        """The entrypoint's file name, for messages."""
        return os.path.basename(self.path)

    def shown(self, located: Located) -> str:
        """``loss.backward()`` in backticks, with its place if that is another file."""
        text = f"`{_short(located.fact.text)}`"
        if located.path == self.path:
            return text
        where = os.path.relpath(located.path, os.path.dirname(self.path))
        return f"{text} ({where}:{located.fact.row})"

    def finding(  # noqa: PLR0913 - what a finding consists of
        self,
        rule: type[Rule],
        at: Located | None,
        message: str,
        advice: str,
        edits: tuple[Edit, ...] = (),
        *,
        safe: bool = False,
    ) -> Finding:
        """A finding at a fact of a file that is linted, or else where the program starts: also
        where another program has said the same of the fact. Edits change the entrypoint, and
        come only with a finding in it."""
        path, place = self.path, self._start()
        if at is not None and at.path in self._names and (rule.code, at) not in self._told:
            path, place = at.path, at.fact[-4:]
            self._told.add((rule.code, at))
        return Finding(
            self._names[path],
            *place,
            code=rule.code,
            name=rule.name(),
            message=message,
            advice=advice,
            edits=edits if path == self.path else (),
            safe=safe,
        )

    def _start(self) -> tuple[int, int, int, int]:
        source = self.source
        row, column = source.location(main_line(source.text) or 0)
        return row, column, row, len(source.line(row)) + 1


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
