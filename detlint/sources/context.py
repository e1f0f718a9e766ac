"""The files that findings depend on: the whole of each project that a linted file is part of.

A project is what lies below the folder of the configuration, or else below that of a git
repository. Outside of any project, the context is what was named.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint.grouping import grouped
from detlint.sources.kinds import kind_of_name
from detlint.sources.paths import ancestors, common, is_repository, is_within, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.settings import Settings


_PACKAGING = "pyproject.toml"
# Kinds of files that may start programs; a file of another name may be a script.
_STARTING = frozenset({"shell", "dockerfile", "makefile", "yaml", None})


class Context:
    """Files by their real paths. ``named`` are the ones that are linted, as they were found below
    the ``given`` paths; ``alone``: each is a project by itself, and no imports are followed."""

    def __init__(
        self,
        named: Sequence[str],
        settings: Settings,
        *,
        given: Sequence[str] = (),
        alone: bool = False,
        files: list[str] | None = None,
    ) -> None:
        self.paths = named
        self.settings = settings
        self.alone = alone
        self._given = given
        if files is not None:
            self.files = files  # known already
        self.root_of: Callable[[str], str] = cache(self._root_of)
        self._projects: dict[str, str] = {}  # by folder

    @cached_property
    def names(self) -> dict[str, str]:
        """How the user named the files that are linted, by their real paths."""
        folder = cache(os.path.realpath)  # of each file takes as long as linting it
        found = {}
        for path in self.paths:
            above, name = os.path.split(path)
            real = os.path.realpath(path) if os.path.islink(path) else ""
            found[real or os.path.join(folder(above), name)] = path
        return found

    @cached_property
    def files(self) -> list[str]:
        """All files of the projects that the named ones are part of, sorted."""
        from detlint.sources.discovery import discover

        folders = [] if self.alone else dict.fromkeys(map(os.path.dirname, self.names))
        roots = {root for folder in folders if (root := self._project(folder))}
        searched = [os.path.realpath(each) for each in self._given if os.path.isdir(each)]
        found = dict.fromkeys(self.names)
        for root in sorted(roots):
            if any(is_within(root, each) for each in searched):
                continue  # its files are those that were found
            found.update(dict.fromkeys(discover([root], self.settings, lambda _: None)))
        return sorted(found)

    def may_start(self) -> bool:
        """Whether one of the linted files may be a script that starts programs, one that a
        command starts which a package installs, or a program by what its statements call."""
        said = cache(_packaging_above)
        kinds = (kind_of_name(os.path.basename(path)) for path in self.names)
        modules = [path for path in self.names if path.endswith(".py")]
        return (
            any(kind in _STARTING for kind in kinds)
            or any(self.is_outside_packages(path) for path in modules)
            or any(f"{_module(x)}:".encode() in said(os.path.dirname(x)) for x in modules)
        )

    def below(self, root: str) -> list[str]:
        """The files of which the imports are looked up in a folder."""
        return self.by_root.get(root, [])

    @cached_property
    def by_root(self) -> dict[str, list[str]]:
        """All of them."""
        return grouped((self.root_of(path), path) for path in self.files)

    def is_outside_packages(self, path: str) -> bool:
        """Whether a file lies in no package, or at the root of a project."""
        folder = os.path.dirname(path)
        return not _is_package(folder) or folder == self.root_of(path)

    def _root_of(self, path: str) -> str:
        """The folder in which a file's imports are looked up: that of its project, or outside of
        any the folder of the run, if it is below that, or else the one above its packages."""
        folder = os.path.dirname(path)
        project = self._project(folder)
        if project:
            return project
        if is_within(folder, self._here):
            return self._here
        folder = next((x for x in ancestors(folder) if not _is_package(x)), folder)
        shared = self._shared
        return shared if shared != os.sep and is_within(folder, shared) else folder

    @cached_property
    def _here(self) -> str:
        return os.path.realpath(os.curdir)

    @cached_property
    def _shared(self) -> str:
        """The folder that holds all that was named."""
        folders = set(map(os.path.dirname, self.names))
        return common(folders)

    def _project(self, folder: str) -> str:
        """The root of the project that a folder is part of; "" for none."""
        return nearest(folder, self._own_project, self._projects)

    def _own_project(self, folder: str) -> str | None:
        configured = self.settings.project
        if configured and is_within(folder, configured):
            return configured
        return folder if is_repository(folder) else None


def _is_package(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "__init__.py"))


def _packaging_above(folder: str) -> bytes:
    """What the files above say that describe packages."""
    found = []
    for each in ancestors(folder):
        path = os.path.join(each, _PACKAGING)
        if os.path.isfile(path):
            with suppress(OSError), open(path, "rb") as file:
                found.append(file.read())
    return b"\n".join(found)


def _module(path: str) -> str:
    """The last part of a module's name."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == "__init__.py" else name.removesuffix(".py")
