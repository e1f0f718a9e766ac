"""Lines of ``.gitignore`` syntax, asked about one name at a time on the way down a tree.

A name is judged by the lines that match it itself. What lies below an ignored folder
is never asked about, as in git, and so a folder given on the command line is read
although a line above it ignores it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

_GLOB = frozenset("*?[\\")


class _Line(NamedTuple):
    """A line that needs pathspec: it holds a wildcard, or names a place."""

    index: int
    ignores: bool
    regex: re.Pattern[str]
    anchored: bool
    everything_below: bool

    def matches(self, name: str, path: str) -> bool:
        """Whether the line means this very entry, not a folder above it."""
        if not self.anchored:
            return self.regex.search(name) is not None
        if self.regex.search(path) is None:
            return False
        # pathspec also matches what lies below a match; git judges a folder on its own.
        parent = path.rpartition("/")[0]
        return self.everything_below or not parent or self.regex.search(parent) is None


class _Table:
    """The lines that can mean one sort of entry; of several that do, the last decides."""

    def __init__(self) -> None:
        self.literal: dict[str, tuple[int, bool]] = {}
        self.lines: list[_Line] = []

    def decide(self, name: str, path: str) -> bool | None:
        """True to ignore, False to keep, None if no line means the entry."""
        index, ignores = self.literal.get(name, (-1, None))
        for line in reversed(self.lines):
            if line.index < index:
                break
            if line.matches(name, path):
                return line.ignores
        return ignores


class Ignore:
    """The lines that hold in ``folder`` (absolute), laid over those of the folders above."""

    def __init__(
        self,
        folder: str,
        lines: Iterable[str],
        suffixes: Iterable[str],
        above: Ignore | None = None,
    ) -> None:
        self.above = above
        self.invalid: list[str] = []
        self._start = len(folder.rstrip(os.sep)) + 1
        self._tails = frozenset(suffix[-1] for suffix in suffixes)
        self._folders = _Table()
        self._files = _Table()
        for index, line in enumerate(lines):
            self._add(index, line)

    def ignores_folder(self, path: str, name: str) -> bool:
        """Whether the folder at ``path`` (absolute, below this one's) is ignored."""
        decision = self._folders.decide(name, self._relative(path))
        if decision is None:
            return self.above is not None and self.above.ignores_folder(path, name)
        return decision

    def ignores_file(self, path: str, name: str) -> bool:
        """Whether the file at ``path``, which has one of the suffixes, is ignored."""
        decision = self._files.decide(name, self._relative(path))
        if decision is None:
            return self.above is not None and self.above.ignores_file(path, name)
        return decision

    def _relative(self, path: str) -> str:
        relative = path[self._start :]
        return relative.replace(os.sep, "/") if os.sep != "/" else relative

    def _add(self, index: int, line: str) -> None:
        ignores = not line.startswith("!")
        body = _without_trailing_spaces(line if ignores else line[1:])
        if not body or line.startswith("#"):
            return
        folders_only = body.endswith("/")
        body = body.rstrip("/")
        if body.startswith("**/") and body.count("/") == 1:
            body = body[3:]
        if not body:
            return
        # Most lines of a .gitignore end in "/" or ".pyc": no source file has to be asked.
        tables = [self._folders]
        if not folders_only and (body[-1] in self._tails or body[-1] in "*?]\\ "):
            tables.append(self._files)
        if "/" not in body and _GLOB.isdisjoint(body):
            for table in tables:
                table.literal[body] = (index, ignores)
            return
        compiled = _compile(index, body, ignores=ignores)
        if compiled is None:
            self.invalid.append(line)
            return
        for table in tables:
            table.lines.append(compiled)


def _compile(index: int, body: str, *, ignores: bool) -> _Line | None:
    """None for a line that git takes as matching nothing."""
    import re  # noqa: PLC0415

    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - costs 40 ms, often not needed

    # After a "!" these two would be read as the start of another line.
    escaped = f"\\{body}" if body[0] in "#!" else body
    try:
        patterns = list(GitIgnoreSpec.from_lines([escaped]).patterns)
    except (ValueError, re.error):
        return None
    regex = getattr(patterns[0], "regex", None) if patterns else None
    if regex is None:
        return None
    return _Line(index, ignores, regex, "/" in body, body.endswith("/**"))


def _without_trailing_spaces(line: str) -> str:
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    return line


def read_lines(path: str) -> list[str]:
    """The lines of an ignore file, none if it is not a file. Raises OSError."""
    if not os.path.isfile(path):
        return []
    with open(path, "rb") as file:
        return os.fsdecode(file.read().removeprefix(b"\xef\xbb\xbf")).split("\n")
