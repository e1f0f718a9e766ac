"""Results of earlier runs: a JSON file a project, keyed by content, and a row of facts a file.

A run in which nothing changed asks for no facts, which are most of what is kept.

As in git's index, a file's stat stands in for its content, unless the file was
changed so shortly before that a later change could leave the same stat.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from functools import cached_property
from json import dumps, loads
from typing import TYPE_CHECKING, Any
from zlib import crc32

from detlint.finding import Confidence, Edit, Finding, Step
from detlint.sources.kinds import is_data
from detlint.sources.paths import stamp
from detlint.sources.sealed import (
    Row,
    make_folder,
    read_rows,
    read_sealed,
    write_rows,
    write_sealed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# "digest day signature" of a file, alone or with its findings as lists (None if it was not
# linted), and whether a person runs it.
_Entry = str | list[Any]

# With the shape of the file: raised whenever that changes.
_FORMAT = 10
_WHOLE = 3  # parts of such an entry
# The coarsest clock of a file system in use: FAT counts in steps of two seconds.
_RACY_NS = 2_000_000_000
_SECONDS_A_DAY = 86_400
_KEPT_DAYS = 30
# Marking an entry as seen rewrites the file, so it is done now and then.
_SEEN_DAYS = 7
_NEVER = "-"


def content_digest(data: bytes) -> str:
    """A digest that no two contents share."""
    try:
        # hashlib loads OpenSSL, which takes 6 ms; the start of a run has 80.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return str(blake2b(data, digest_size=16).hexdigest())


def digest_of(lines: Iterable[str]) -> str:
    """The same of some lines, none of which holds a zero."""
    return content_digest("\0".join(lines).encode(errors="surrogatepass"))


class Cache:
    """Findings by absolute path."""

    def __init__(self, file: str | None, header: bytes) -> None:
        self._file = file
        self._file_of_facts = f"{(file or '').removesuffix('.json')}.facts"
        self._header = header
        self._here = os.getcwd()
        self._opened = time.time_ns()
        self._today = self._opened // (_SECONDS_A_DAY * 1_000_000_000)
        self._entries: dict[str, _Entry]
        self._linked: dict[str, Any]
        self._read_at = self._states()
        self._entries, self._linked = _read(file, header) if file else ({}, {})
        self._changed: dict[str, _Entry] = {}
        self._learned: dict[str, Row] = {}
        self._relinked = False
        # What files hold now, as far as this run has seen.
        self._now: dict[str, str] = {}

    @classmethod
    def open(cls, directory: str | None, root: str, key: str) -> Cache:
        """The cache for the project at ``root``, empty if there is none of this ``key``.

        ``key`` is text that differs whenever a finding could. ``directory`` is
        ``$DETLINT_CACHE_DIR`` or the user's cache folder if None.
        """
        folder = folder_of(directory)
        root = os.path.abspath(root)
        header = b'{"detlint": %b,\n' % dumps([_FORMAT, root, key]).encode()
        # Two roots with one name take turns, since the header holds the whole path.
        name = f"{crc32(os.fsencode(root)):08x}.json"
        return cls(os.path.join(folder, name) if folder else None, header)

    @classmethod
    def disabled(cls) -> Cache:
        """A cache that finds nothing and keeps nothing."""
        return cls(None, b"")

    def lookup(self, path: str, stat: os.stat_result) -> list[Finding] | None:
        """The findings for a file that still has the stat it had; None if it must be read."""
        known, key = self._known(path), self._key(path)
        if known is None or known[2] != _signature(stat):
            return None
        digest, day, signature, found = known
        self._now[key] = digest
        if self._today - day > _SEEN_DAYS:
            self._keep(key, f"{digest} {self._today} {signature}", self._entries[key])
        return found

    def digest(self, path: str) -> str | None:
        """The digest of the content that the stored findings belong to."""
        known = self._known(path)
        return known[0] if known is not None else None

    def _known(self, path: str) -> tuple[str, int, str, list[Finding]] | None:
        """The parts of an entry, if it is one."""
        entry = self._entries.get(self._key(path), "")
        try:
            digest, day, signature = _line(entry).split(" ")
            return digest, int(day), signature, _findings(path, entry)
        except (TypeError, ValueError, LookupError, AttributeError):
            return None

    def findings(self, path: str) -> list[Finding]:
        """The stored findings, for content that has the ``digest``."""
        return _findings(path, self._entries.get(self._key(path), ""))

    def runs(self, path: str) -> bool:
        """Whether it was found that a person runs the file."""
        entry = self._entries.get(self._key(path), "")
        return isinstance(entry, list) and len(entry) == _WHOLE and entry[2] is True

    def facts(self, path: str) -> dict[str, Any] | None:
        """What was found out about what a file holds, None if that is to be read. Raises OSError
        where the file is gone."""
        key = self._key(path)
        known = key in self._now or self._is_unchanged(key, os.stat(path))
        return self.facts_of(path, self._now[key]) if known else None

    def _is_unchanged(self, key: str, stat: os.stat_result) -> bool:
        """Whether a file has the stat that it had, and so the content."""
        digest, _, stamp = _line(self._entries.get(key, "")).partition(" ")
        same = stamp.rpartition(" ")[2] == _signature(stat)
        if same:
            self._now.setdefault(key, digest)
        return same

    def facts_of(self, path: str, digest: str) -> dict[str, Any] | None:
        """What was found out about the content that a file has now."""
        key = self._key(path)
        self._now.setdefault(key, digest)
        try:
            found = loads((self._learned.get(key) or self._facts[key]).read(digest) or b"null")
        except (TypeError, ValueError, LookupError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    @cached_property
    def _facts(self) -> dict[str, Row]:
        return read_rows(self._file_of_facts, self._header) if self._file else {}

    def content(self, path: str) -> str:
        """A file with the digest of what it holds. Raises LookupError if it cannot be read."""
        key = self._key(path)
        if key not in self._now or not path.endswith(".py"):
            try:
                stat = os.stat(path)
                if is_data(path, stat.st_size):
                    # Whether or not something has read it in this run: most do not.
                    self._now[key] = _signature(stat)
                elif key not in self._now and not self._is_unchanged(key, stat):
                    with open(path, "rb") as file:
                        self._now[key] = content_digest(file.read())
            except OSError as error:
                raise LookupError(path) from error
        return f"{key} {self._now[key]}"

    @property
    def keeps(self) -> bool:
        """Whether what is stored is there for the next run."""
        return self._file is not None

    def kept(self, section: str) -> Any:  # noqa: ANN401 - JSON, of unknown shape
        """What linking keeps from run to run: a section of it, None if there is none."""
        return self._linked.get(section)

    def keep(self, section: str, kept: dict[str, Any]) -> None:
        """Keep a section for the next run."""
        self._linked, self._relinked = {**self._linked, section: kept}, True

    def forget(self, path: str) -> None:
        """Look at a file again when its content is asked for."""
        self._now.pop(self._key(path), None)

    def store(
        self,
        path: str,
        stat: os.stat_result,
        digest: str,
        findings: Sequence[Finding],
        *,
        runs: bool = False,
    ) -> None:
        """Remember what a file's content gave. ``stat`` is from before it was read; ``runs``: a
        person runs it."""
        if self._file is None:
            return
        line = self._stamp(stat, digest)
        runs |= self._holds(path, digest) and self.runs(path)
        whole = [line, dump(findings), runs] if findings or runs else line
        self._keep(self._key(path), line, whole)

    def _holds(self, path: str, digest: str) -> bool:
        """Whether what is known of a file is of the same content."""
        entry = self._entries.get(self._key(path), "")
        return _line(entry).partition(" ")[0] == digest

    def store_facts(
        self, path: str, stat: os.stat_result, digest: str, facts: dict[str, Any]
    ) -> None:
        """Remember what was found out about a file's content, beside its findings."""
        if self._file is None:
            return
        key, same = self._key(path), self._holds(path, digest)
        entry: _Entry = self._entries[key] if same else [self._stamp(stat, digest), None]
        if facts.get("runs") or not same:
            findings = [] if isinstance(entry, str) else entry[1]
            runs = bool(facts.get("runs"))
            self._keep(key, _line(entry), [_line(entry), findings, runs])
        data = dumps(facts, separators=(",", ":")).encode()
        told = Row(digest, data, crc32(data))
        if (self._learned.get(key) or self._facts.get(key)) != told:
            self._learned[key] = told

    def _stamp(self, stat: os.stat_result, digest: str) -> str:
        newest = max(stat.st_mtime_ns, stat.st_ctime_ns)
        # No file was read before the cache was opened.
        racy = newest >= self._opened - _RACY_NS
        return f"{digest} {self._today} {_NEVER if racy else _signature(stat)}"

    def save(self) -> None:
        """Write what is new. Without a word where that fails: the next run only takes longer."""
        if self._file is None or not (self._changed or self._relinked or self._learned):
            return
        kept, linked = self._entries, self._linked
        # Another run may have saved since; the later of two that save at once wins.
        if self._read_at != self._states():
            kept, linked = _read(self._file, self._header)
            vars(self).pop("_facts", None)
        every = {**kept, **self._changed}.items()
        entries = {path: each for path, each in every if self._recent(each)}
        with suppress(OSError):
            make_folder(os.path.dirname(self._file))
            if self._changed or self._relinked:
                told = (entries, self._linked if self._relinked else linked)
                parts = (dumps(each, separators=(",", ":")).encode() for each in told)
                body = b'"files": %b,\n"linked": %b}' % tuple(parts)
                write_sealed(self._file, self._header, body)
                self._changed, self._relinked = {}, False
            if self._learned:
                facts = {**self._facts, **self._learned}
                digests = {path: _line(each).partition(" ")[0] for path, each in entries.items()}
                known = {x: each for x, each in facts.items() if digests.get(x) == each.digest}
                write_rows(self._file_of_facts, self._header, known)
                vars(self).pop("_facts", None)
                self._learned = {}

    def _states(self) -> list[tuple[int, ...]]:
        """What differs once another run has saved."""
        return [*map(stamp, (self._file or "", self._file_of_facts))]

    def _key(self, path: str) -> str:
        # abspath takes 2 µs a file, and most paths come absolute or below the working folder.
        if path.startswith("/") or (os.name == "nt" and os.path.isabs(path)):
            return path
        return os.path.abspath(path) if path.startswith(".") else f"{self._here}{os.sep}{path}"

    def _keep(self, key: str, line: str, entry: _Entry) -> None:
        fresh = line if isinstance(entry, str) else [line, *entry[1:]]
        if self._entries.get(key) != fresh:
            self._entries[key] = self._changed[key] = fresh

    def _recent(self, entry: _Entry) -> bool:
        try:
            return self._today - int(_line(entry).split(" ")[1]) <= _KEPT_DAYS
        except (TypeError, ValueError, LookupError, AttributeError):
            return False


def _line(entry: _Entry) -> str:
    # Whatever else a foreign file holds there has no line.
    return str(entry[0] if isinstance(entry, list) and entry else entry)


def _signature(stat: os.stat_result) -> str:
    # Half the time of an f-string, and this runs for each file of an unchanged tree.
    return "%d.%d.%d.%d" % (stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_ctime_ns)  # noqa: UP031


def _findings(path: str, entry: _Entry) -> list[Finding]:
    return [] if isinstance(entry, str) else load(path, entry[1])


def dump(findings: Sequence[Finding]) -> list[list[Any]]:
    """The findings of a file as JSON gives them back, so that they compare."""
    return [
        [*each[1:9], list(map(list, each.edits)), *each[10:13], list(map(list, each.way))]
        for each in findings
    ]


def load(path: str, dumped: list[list[Any]]) -> list[Finding]:
    """They themselves. Raises TypeError, ValueError or LookupError if they have another shape."""
    found = []
    for row, column, end_row, end_column, *words, edits, safe, cell, confidence, way in dumped:
        code, name, message, advice = words
        changes = tuple(Edit(int(start), int(end), str(text)) for start, end, text in edits)
        place = (int(row), int(column), int(end_row), int(end_column))
        steps = tuple(
            Step(int(a), int(b), int(c), int(d), str(text), str(file))
            for a, b, c, d, text, file in way
        )
        sure = Confidence(confidence)
        said = (code, name, message, advice)
        found.append(Finding(path, *place, *said, changes, safe, cell, sure, steps))
    return found


def folder_of(directory: str | None) -> str | None:
    """Where caches lie: ``directory``, else ``$DETLINT_CACHE_DIR``, else the user's folder."""
    return directory or os.environ.get("DETLINT_CACHE_DIR") or _user_folder()


def _user_folder() -> str | None:
    if sys.platform == "linux":
        # As platformdirs has it, without the 20 ms that importing it takes.
        base = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
        folder = os.path.join(base, "detlint")
    else:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("detlint", appauthor=False)
    return folder if os.path.isabs(folder) else None


def _read(file: str, header: bytes) -> tuple[dict[str, _Entry], dict[str, Any]]:
    kept = read_sealed(file, header)
    entries, linked = map((kept if isinstance(kept, dict) else {}).get, ("files", "linked"))
    known = entries if isinstance(entries, dict) else {}
    return known, linked if known and isinstance(linked, dict) else {}
