"""The files that findings depend on: the whole of each project that a linted file is part of.

A project is what lies below the folder of the configuration, or else below that of a git
repository. Outside of any project, the context is what was named.
"""

from __future__ import annotations

import os
from functools import cache, cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.settings import Settings


class Context:
    """Files by their real paths. ``named`` are the ones that are linted; ``alone``: each is a
    project by itself, and no imports are followed."""

    def __init__(self, named: Sequence[str], settings: Settings, *, alone: bool = False) -> None:
        self.alone = alone
        self._settings = settings
        folder = cache(os.path.realpath)  # of each file takes as long as linting it
        parts = map(os.path.split, named)
        self._named = [os.path.join(folder(above), name) for above, name in parts]
        self.root_of: Callable[[str], str] = cache(self._root_of)
        self._project = cache(self._project_above)

    @cached_property
    def files(self) -> list[str]:
        """All files of the projects that the named ones are part of, sorted."""
        from detlint.discovery import discover

        folders = [] if self.alone else dict.fromkeys(map(os.path.dirname, self._named))
        roots = {root for folder in folders if (root := self._project(folder))}
        found = dict.fromkeys(self._named)
        for root in sorted(roots):
            found.update(dict.fromkeys(discover([root], self._settings, lambda _: None)))
        return sorted(found)

    def _root_of(self, path: str) -> str:
        """The folder in which a file's imports are looked up: that of its project, or outside of
        any the folder of the run, if it is below that, or else the one above its packages."""
        folder = os.path.dirname(path)
        project = self._project(folder)
        if project:
            return project
        here = os.path.realpath(os.curdir)
        if _is_below(folder, here):
            return here
        while os.path.exists(os.path.join(folder, "__init__.py")):
            folder = os.path.dirname(folder)
        shared = self._shared
        return shared if shared != os.sep and _is_below(folder, shared) else folder

    @cached_property
    def _shared(self) -> str:
        """The folder that holds all that was named."""
        folders = set(map(os.path.dirname, self._named))
        return os.path.commonpath(folders) if folders else os.sep

    def _project_above(self, folder: str) -> str:
        """The root of the project that a folder is part of; "" for none."""
        configured = self._settings.project
        if configured and _is_below(folder, configured):
            return configured
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        return self._project(above) if above != folder else ""


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
