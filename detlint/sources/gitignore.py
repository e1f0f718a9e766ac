"""Lines of ``.gitignore`` syntax, asked about one name at a time on the way down a tree.

A name is judged by the lines that match it itself. What lies below an ignored folder
is never asked about, as in git, and so a folder given on the command line is read
although a line above it ignores it.
"""

from __future__ import annotations

import os
import re
from fnmatch import translate
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_GLOB = frozenset("*?[\\")
_SPECIAL = frozenset("[\\")  # means something else to git than to Python
_NOTHING = (-1, False)


class _Line:
    """A line with wildcards. It is read once a name comes that it may match: most lines never
    see one. pathspec, which costs 20 ms to import, reads those that are more than a name."""

    def __init__(self, order: int, ignores: bool, body: str) -> None:
        self.order = order
        self.ignores = ignores
        self.body = body
        self.anchored = "/" in body
        self.hint = _longest_literal(body)

    @cached_property
    def regex(self) -> re.Pattern[str] | None:
        """None for a line that means nothing, as git takes ``[``."""
        if not self.anchored and _SPECIAL.isdisjoint(self.body):
            return re.compile(rf"\A{translate(self.body)}")
        from pathspec import GitIgnoreSpec

        # After a "!" these two would be read as the start of another line.
        escaped = f"\\{self.body}" if self.body[0] in "#!" else self.body
        try:
            patterns = list(GitIgnoreSpec.from_lines([escaped]).patterns)
        except (ValueError, re.error):
            return None
        return getattr(patterns[0], "regex", None) if patterns else None

    def matches(self, name: str, path: str) -> bool:
        """Whether the line means this very entry, not a folder above it."""
        text = path if self.anchored else name
        if self.hint not in text or self.regex is None or self.regex.search(text) is None:
            return False
        # pathspec also matches what lies below a match; git judges a folder on its own.
        parent = path.rpartition("/")[0] if self.anchored else ""
        if not parent or self.body.endswith("/**"):
            return True
        return self.regex.search(parent) is None


def _longest_literal(body: str) -> str:
    """Characters that every match holds in a row."""
    if "\\" in body:
        return ""
    runs = re.split(r"[*?]+", body.partition("[")[0])
    return max((run.strip("/") for run in runs), key=len)


def is_pattern(text: str) -> bool:
    """Whether a line can mean some entry: ``[`` means none. The ``!`` before it does not count."""
    body = text.removeprefix("!")
    return _GLOB.isdisjoint(body) or _Line(0, True, body).regex is not None


class _Table:
    """The lines that can mean one sort of entry; of several that do, the last decides."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[int, bool]] = {}
        self.paths: dict[str, tuple[int, bool]] = {}
        self.lines: list[_Line] = []  # the last first

    def decide(self, name: str, path: str) -> bool | None:
        """True to ignore, False to keep, None if no line means the entry."""
        order, ignores = max(self.names.get(name, _NOTHING), self.paths.get(path, _NOTHING))
        for line in self.lines:
            if line.order < order:
                break
            if line.matches(name, path):
                return line.ignores
        return None if order < 0 else ignores


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
        self._start = len(folder.rstrip(os.sep)) + 1
        self._tails = frozenset((*(suffix[-1] for suffix in suffixes), "*"))
        self.folders = _Table()
        self.files = _Table()
        for order, line in enumerate(lines):
            self._add(order, line)
        self.folders.lines.reverse()
        self.files.lines.reverse()

    def ignores(self, path: str, name: str, *, is_folder: bool) -> bool:
        """Whether what lies at ``path`` (absolute, below this one's) is ignored: a folder, or a
        file that has one of the suffixes."""
        ignore: Ignore | None = self
        while ignore is not None:
            table = ignore.folders if is_folder else ignore.files
            decision = table.decide(name, ignore.relative(path))
            if decision is not None:
                return decision
            ignore = ignore.above
        return False

    def relative(self, path: str) -> str:
        relative = path[self._start :]
        return relative.replace(os.sep, "/") if os.sep != "/" else relative

    def _add(self, order: int, line: str) -> None:
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
        tables = [self.folders]
        if not folders_only and not self._tails.isdisjoint(_last_characters(body)):
            tables.append(self.files)
        if _GLOB.isdisjoint(body):
            for table in tables:
                literals = table.paths if "/" in body else table.names
                literals[body.removeprefix("/")] = (order, ignores)
            return
        for table in tables:
            table.lines.append(_Line(order, ignores, body))


def _last_characters(body: str) -> str:
    """Those that a match can end in; ``*`` among them says any."""
    if body[-1] == "]" and body.count("[") == 1 and "\\" not in body:
        members = body[body.index("[") + 1 : -1]
        return members if members.isalnum() else "*"  # else a range, or all but some
    return "*" if body[-1] in "*?]\\ " else body[-1]


def _without_trailing_spaces(line: str) -> str:
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    return line


def read_lines(path: str) -> list[str]:
    """The lines of an ignore file that say something, none if it is not a file. Raises OSError."""
    if not os.path.isfile(path):
        return []
    with open(path, "rb") as file:
        text = os.fsdecode(file.read().removeprefix(b"\xef\xbb\xbf"))
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
