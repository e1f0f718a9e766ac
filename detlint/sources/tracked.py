"""What git tracks, whatever its ignore files say: read from its index, without git.

The format: https://git-scm.com/docs/index-format. Of version 4, whose names are shortened, and of
repositories with SHA-256, nothing is known to be tracked.
"""

from __future__ import annotations

import os
from functools import cached_property

_HEADER, _STAT, _FLAGS = 12, 60, 2  # bytes: of the file, and of an entry before its flags
_EXTENDED, _LENGTH = 0x4000, 0xFFF  # bits of the flags
_VERSIONS = (2, 3)


class Tracked:
    """The files of a repository that git tracks; none of ``None``, which is no repository."""

    def __init__(self, repository: str | None) -> None:
        self._root = os.path.join(repository, "") if repository else ""
        self._below: dict[str, bool] = {}

    def is_below(self, folder: str) -> bool:
        """Whether a file below a folder (absolute) is tracked."""
        if folder not in self._below:
            self._below[folder] = bool(self._data) and self._finds(self._name(folder) + b"/")
        return self._below[folder]

    def holds(self, path: str) -> bool:
        """Whether a file (absolute) is tracked."""
        folder = os.path.dirname(path)
        is_near = len(folder) < len(self._root) or self.is_below(folder)
        return is_near and self._name(path) in self._names

    def _name(self, path: str) -> bytes:
        return os.fsencode(path[len(self._root) :].replace(os.sep, "/"))

    def _finds(self, start: bytes) -> bool:
        """Whether a name starts so: without reading all of them, since most folders that are
        ignored hold none."""
        place = self._data.find(start, _HEADER)
        while place >= 0:
            end = self._data.find(b"\0", place)
            flags = int.from_bytes(self._data[place - _FLAGS : place], "big")
            extended = int.from_bytes(self._data[place - 2 * _FLAGS : place - _FLAGS], "big")
            length = min(end - place, _LENGTH)
            if length in (flags & _LENGTH, extended & _LENGTH if extended & _EXTENDED else -1):
                return True
            place = self._data.find(start, place + 1)
        return False

    @cached_property
    def _data(self) -> bytes:
        if not self._root:
            return b""
        try:
            with open(os.path.join(_git_folder(self._root), "index"), "rb") as file:
                data = file.read()
        except OSError:
            return b""
        known = data[:4] == b"DIRC" and int.from_bytes(data[4:8], "big") in _VERSIONS
        return data if known else b""

    @cached_property
    def _names(self) -> frozenset[bytes]:
        data, place, names = self._data, _HEADER, []
        for _ in range(int.from_bytes(data[8:_HEADER], "big")):
            start = place + _STAT + _FLAGS
            if int.from_bytes(data[start - _FLAGS : start], "big") & _EXTENDED:
                start += _FLAGS
            end = data.find(b"\0", start)
            if end < 0:
                break
            names.append(data[start:end])
            place += (end - place) // 8 * 8 + 8  # one to eight zeros fill it up
        return frozenset(names)


def _git_folder(root: str) -> str:
    """Where git keeps what it knows: of a linked worktree, ``.git`` is a file that says so.

    Raises OSError.
    """
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return path
    with open(path, encoding="utf-8") as file:
        return os.path.join(root, file.read().removeprefix("gitdir:").strip())
