"""Findings that are known already: by what stands there, not by the number of the line.

A finding is known by its file, its code, the function around it and the text of its lines. So it
stays known where lines move, and once only: a second one of the same text is new. What stood in a
file that is gone is looked for in the others, which may be that file under another name.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from detlint.errors import BaselineError
from detlint.sources.kinds import NOTEBOOK, PYTHON
from detlint.sources.paths import relative, slashed
from detlint.syntax.layout import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.finding import Finding
    from detlint.sources.source import Source

    Read = Callable[[str], Source | None]

_VERSION = 1
_LONGEST = 200  # characters of a line that are kept


class Known(NamedTuple):
    """What a finding is known by.

    path   from the root of the project, with slashes
    within the functions and classes around it, outer ones first: ``Model.forward``
    text   its lines without what they are indented by
    """

    path: str
    code: str
    within: str
    text: str


class Search(Protocol):
    """What a run looked for."""

    def seeks(self, path: str, code: str) -> bool:
        """Whether it looked for findings of a code in a file, or where one was that is gone."""

    def unshown(self) -> Sequence[Finding]:
        """What it would find with any confidence, beside what it shows."""


class Sifted(NamedTuple):
    """The parts of a baseline: what is still found, under the names that files have now; what was
    not looked for, or is only not sure enough to be shown; and the rest."""

    still: Baseline
    kept: Baseline
    gone: Baseline


class Baseline:
    """How often each finding is known, in a project with a root."""

    def __init__(self, root: str, known: Iterable[Known] = ()) -> None:
        self._root = os.path.realpath(root)
        self._counts = Counter(known)

    @classmethod
    def of(cls, root: str, findings: Sequence[Finding], read: Read) -> Baseline:
        """One in which all of some findings are known."""
        made = cls(root)
        made._counts.update(made._known(findings, read))
        return made

    @classmethod
    def load(cls, root: str, file: str) -> Baseline:
        """The one that a file holds. Raises BaselineError."""
        try:
            with open(file, encoding="utf-8") as stream:
                return cls(root, _read(json.load(stream)))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise BaselineError(f"{file}: cannot be read: {reason}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BaselineError(
                f"{file}: not a baseline of detlint: {error or type(error).__name__}; "
                f"`detlint baseline` writes one anew"
            ) from error

    def __len__(self) -> int:
        return self._counts.total()

    def new(self, findings: Sequence[Finding], read: Read) -> list[Finding]:
        """The findings that are not known, in their order."""
        return self._matched(self._counts.elements(), findings, read)[0]

    def sifted(self, findings: Sequence[Finding], search: Search, read: Read) -> Sifted:
        """What has become of all that it knows, after a search that showed some findings."""
        sought: list[Known] = []
        kept: list[Known] = []
        for each in self._counts.elements():
            path = os.path.join(self._root, each.path)
            (sought if search.seeks(path, each.code) else kept).append(each)
        _, still, gone = self._matched(sought, findings, read)
        if gone:
            _, unshown, gone = self._matched(gone, search.unshown(), read)
            kept += unshown
        return Sifted(*(Baseline(self._root, each) for each in (still, kept, gone)))

    def _matched(
        self, among: Iterable[Known], findings: Sequence[Finding], read: Read
    ) -> tuple[list[Finding], list[Known], list[Known]]:
        """The new findings, what the known ones are known by now, and what none of them is."""
        left, kept, matched = Counter(among), dict(enumerate(findings)), []
        known = self._known(findings, read)
        for match in (self._as_it_was, self._within_another, self._in_another_file):
            for index in list(kept):
                found = match(known[index], left)
                if found is not None:
                    left[found] -= 1
                    matched.append(known[index])
                    del kept[index]
        return list(kept.values()), matched, list(left.elements())

    @staticmethod
    def _as_it_was(known: Known, left: Counter[Known]) -> Known | None:
        return known if left[known] > 0 else None

    @staticmethod
    def _within_another(known: Known, left: Counter[Known]) -> Known | None:
        """The same line of a function that is called otherwise by now, or moved to another."""
        return _first(left, lambda each: each._replace(within=known.within) == known)

    def _in_another_file(self, known: Known, left: Counter[Known]) -> Known | None:
        return _first(
            left,
            lambda each: each._replace(path=known.path) == known and not self._is_there(each.path),
        )

    def _is_there(self, path: str) -> bool:
        return os.path.exists(os.path.join(self._root, path))

    def _known(self, findings: Sequence[Finding], read: Read) -> list[Known]:
        sources = lru_cache(maxsize=1)(read)
        return [self._of(each, sources(each.path)) for each in findings]

    def _of(self, finding: Finding, source: Source | None) -> Known:
        path = slashed(relative(os.path.realpath(finding.path), self._root))
        if source is None:
            return Known(path, finding.code, "", "")
        rows = range(finding.row, min(finding.end_row, len(source.line_starts)) + 1)
        text = "\n".join(source.line(row).strip() for row in rows)[:_LONGEST]
        return Known(path, finding.code, ".".join(_within(source, finding.row)), text)

    def joined(self, other: Baseline) -> Baseline:
        """What either says, of different findings."""
        return Baseline(self._root, (*self._counts.elements(), *other._counts.elements()))

    def moved_to(self, root: str) -> Baseline:
        """The same for a project that lies elsewhere."""
        return Baseline(root, self._counts.elements())

    def save(self, file: str) -> None:
        """Write it as a whole, or leave what is there. Raises BaselineError."""
        temporary = f"{file}.{os.urandom(4).hex()}.tmp"
        try:
            with open(temporary, "x", encoding="utf-8", newline="\n") as stream:
                stream.write(self.dump())
            os.replace(temporary, file)
        except OSError as error:
            with suppress(OSError):
                os.unlink(temporary)
            reason = (error.strerror or str(error)).lower()
            raise BaselineError(f"{file}: cannot be written: {reason}") from error

    def dump(self) -> str:
        """What its file holds: sorted, one line an entry, so that a change of it can be read."""
        files: dict[str, list[str]] = {}
        for known, count in sorted(self._counts.items()):
            if count > 0:
                entry = {"code": known.code, "in": known.within, "line": known.text}
                told = json.dumps(entry | ({"count": count} if count > 1 else {}))
                files.setdefault(known.path, []).append(f"      {told}")
        listed = (
            f"    {json.dumps(path)}: [\n" + ",\n".join(entries) + "\n    ]"
            for path, entries in files.items()
        )
        inside = ",\n".join(listed)
        body = f"{{\n{inside}\n  }}" if files else "{}"
        return f'{{\n  "version": {_VERSION},\n  "findings": {body}\n}}\n'


def _first(left: Counter[Known], fits: Callable[[Known], bool]) -> Known | None:
    return next((each for each, count in left.items() if count > 0 and fits(each)), None)


def _read(data: Any) -> Iterator[Known]:  # noqa: ANN401 - whatever a file may hold
    version = data["version"]
    if version != _VERSION:
        raise ValueError(f"its version is {version!r}, and this detlint reads {_VERSION}")
    for path, entries in data["findings"].items():
        for each in entries:
            known = Known(path, str(each["code"]), str(each["in"]), str(each["line"]))
            yield from [known] * int(each.get("count", 1))


def _within(source: Source, row: int) -> list[str]:
    """The names of the functions and classes that a row lies in, by how they are indented."""
    if source.kind not in (PYTHON, NOTEBOOK):
        return []
    names: list[str] = []
    line = source.line(row)
    margin = len(line) - len(line.lstrip())
    while margin and row > 1:
        row -= 1
        found = HEAD.match(source.line(row))
        if found is not None and len(found[1]) < margin:
            names.insert(0, found[3])
            margin = len(found[1])
    return names
