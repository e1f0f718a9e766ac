"""Paths as they are named: on Windows, where a backslash parts them and drives share no folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def relative(path: str, start: str = os.curdir) -> str:
    """A path as seen from a folder; absolute where it lies on another drive."""
    try:
        return os.path.relpath(path, start)
    except ValueError:
        return os.path.abspath(path)


def slashed(path: str) -> str:
    """With slashes, as patterns, reports and other systems have them."""
    return path.replace(os.sep, "/")


def common(folders: Iterable[str]) -> str:
    """The folder that holds some others, the root where no other does."""
    try:
        return os.path.commonpath(list(folders))
    except ValueError:  # none, or on several drives
        return os.sep
