"""The files that belong together: what their programs import, and what those reach."""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.callgraph.reachability import Reachability
from detlint.index.modules import Modules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.index.index import Index


class Project:
    """Programs below one folder, by their real paths, and the files that they import.

    ``files`` are all that the project holds, as far as that is known; ``follows``: imports are
    followed, or each program is the one file.
    """

    def __init__(
        self,
        root: str,
        files: Sequence[str],
        entrypoints: Sequence[str],
        index: Index,
        *,
        follows: bool = True,
    ) -> None:
        self.index = index
        self._root = root
        self._entrypoints = entrypoints
        self._follows = follows
        self._modules = Modules(root, index.folders)
        self._closures: dict[str, list[str]] = {}
        self._programs: dict[str, list[str]] = {}
        self._names = Counter(map(os.path.basename, files))

    def run(self, path: str) -> list[str]:
        """The files of a program, of which more will be asked."""
        self._programs[path] = self._closure(path)
        return self._programs[path]

    def _closure(self, path: str) -> list[str]:
        """A file and all that it imports, in the order in which they are met."""
        if path not in self._closures:
            follow = self.index.imports if self._follows else lambda _: ()
            self._closures[path] = self._modules.closure(path, follow)
        return self._closures[path]

    def is_imported(self, path: str) -> bool:
        """Whether another program imports a file."""
        return path in self._imported

    @cached_property
    def _imported(self) -> frozenset[str]:
        closures = map(self._closure, self._entrypoints)
        return frozenset(each for first, *others in closures for each in others)

    @cached_property
    def reach(self) -> Reachability:
        """What the programs reach."""
        return Reachability(self._programs, self.index, self._modules)

    def lacking(self, paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """What files import from the project that is not there."""
        for path in paths if self._follows else ():
            for each in self.index.imports(path):
                yield self._modules.lacking(path, each)

    def shown(self, path: str) -> str:
        """What messages call a file: its path below the project's folder."""
        return os.path.relpath(path, self._root).replace(os.sep, "/")

    def is_only(self, name: str) -> bool:
        """Whether no two files of the project have a name."""
        return self._names[name] < 2
