"""Which parts of a program's files run, or may run, when it does."""

from __future__ import annotations

import os
import re
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from detlint.project import roles
from detlint.project.lookups import Lookups
from detlint.project.outline import MAIN
from detlint.project.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.project.files import Files
    from detlint.project.origins import Origins

_EXPORTS = re.compile(r"^__all__[ \t]*\+?=[ \t]*[\[(][^\])]*[\])]", re.MULTILINE)
_FEW = 20  # names that are looked for in the files' text before all files are indexed


class Running:
    """Answers about the parts of some files, the first of which is the entrypoint. ``origins``
    tell what names mean, and ``looks_up`` whether names are looked up in modules."""

    def __init__(
        self, paths: Sequence[str], files: Files, origins: Origins | None, *, looks_up: bool
    ) -> None:
        self._path = paths[0]
        self._paths = paths
        self._members = frozenset(paths)
        self._files = files
        self._origins = origins
        self._lookups = None
        if origins is not None and looks_up:
            self._lookups = Lookups(files, origins.finder, paths)
        self._may: dict[tuple[str, str], bool] = {}
        self._passed: dict[tuple[str, bool], bool] = {}
        self._asked = 0

    def runs(self, path: str, part: str) -> bool:
        """Whether the text shows that a part of a file runs."""
        if not part or part == MAIN:
            return not part or path == self._path
        return self._is_named(path, part) and (path, part) in self._reached

    def may_pass(self, need: str, *, surely: bool = False) -> bool:
        """Whether a call may pass an argument: one does, or none is to be seen. ``surely``: one
        of which the text shows that it runs, if there is any."""
        asked = need, surely
        if asked not in self._passed:
            self._passed[asked] = False  # a call of itself that hands it on settles nothing
            calls = [
                (path, self._files.part_at(path, row) if row else "", given)
                for path in self._paths
                for row, given in self._files.gives(path, need)
            ]
            running = [each for each in calls if self.may_run(*each[:2])]
            if surely:
                running = [each for each in running if self.runs(*each[:2])] or running
            self._passed[asked] = not running or any(
                given if isinstance(given, bool) else self.may_pass(given, surely=surely)
                for _, _, given in running
            )
        return self._passed[asked]

    def _is_named(self, path: str, part: str) -> bool:
        """Whether names may lead from what runs to a part: what never does is soon told so,
        without a look into most files."""
        return self._is_led_to(path, part.partition(".")[0], _FEW, lambda *_: False)

    def _is_led_to(
        self, path: str, name: str, most: float, made: Callable[[str, str], bool]
    ) -> bool:
        """Whether names may lead from what runs to what a file defines, or to what is ``made``
        in some other way. Taken for granted where ``most`` names were asked about."""
        pending = [(path, name)]
        for place, each in pending:
            if self._asked > most or made(place, each):
                return True
            for user, other in self._users(place, each):
                if not other or (other == MAIN and user == self._path):
                    return True
                step = user, other.partition(".")[0]
                if other != MAIN and step not in pending:
                    pending.append(step)
        return False

    def _users(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        """The parts of the program's files that use what a file defines by a name."""
        self._asked += 1
        if self._asked <= _FEW:
            yield from self._files.users(name, path, self._paths)
            if self._lookups is not None:
                yield from self._lookups.users(path, name)
            return
        if self._asked == _FEW + 1:
            self._files.index(self._paths)
        found = self._files.indexed_users(name, path)
        yield from (each for each in found if each[0] in self._members)
        if self._lookups is not None:
            yield from self._lookups.indexed_users(path, name)

    def may_run(self, path: str, part: str) -> bool:
        """Whether a part of a file may run for all that one can see: not the main block of
        another file, nor a function or class that no code names but such."""
        name = part.partition(".")[0]
        if not name or name == MAIN:
            return name != MAIN or path == self._path
        if (path, name) not in self._may:
            self._may[path, name] = self._is_led_to(path, name, inf, self._is_made_unseen)
        return self._may[path, name]

    def _is_made_unseen(self, path: str, name: str) -> bool:
        """Whether a class may be made by code that does not name it."""
        if not self._files.is_class(path, name):
            return False
        quoted = re.compile(rf"[\"'.]{name}[\"']")
        texts = (self._files.source(each).text for each in self._paths)
        return self._calls_unseen or any(
            quoted.search(_EXPORTS.sub("", text)) for text in texts if quoted.search(text)
        )

    @cached_property
    def _calls_unseen(self) -> bool:
        return any("makes_unseen" in self._files.kinds(each) for each in self._paths)

    @cached_property
    def _reached(self) -> Reach:
        return self._reach(lambda *_: False)

    @cached_property
    def _has_workers(self) -> bool:
        return roles.have_workers(self._files.source(each).text for each in self._paths)

    @cached_property
    def _reached_here(self) -> Reach:
        return self._reach(self._is_for_workers)

    def _reach(self, apart: Callable[[str, str], bool]) -> Reach:
        outlines = {path: self._files.outline(path) for path in self._paths}
        offers = (lambda *_: ()) if self._lookups is None else self._lookups.offers
        origins = (lambda *_: None) if self._origins is None else self._origins.of
        return Reach(outlines, self._path, offers, apart, origins)

    def is_in_workers(self, path: str, row: int) -> bool:
        """Whether a line only runs in what the workers of a loader call, which seed ``random``
        and NumPy by torch's generator."""
        part = self._files.part_at(path, row)
        return (path, part) not in self._reached_here and self._has_workers

    def _is_for_workers(self, path: str, part: str) -> bool:
        """Whether a part gives the items of a data set, changes one, or makes batches of them."""
        owner, _, name = part.partition(".")
        text = self._files.source(path).text
        if name == "__iter__":
            stream = rf"^class[ \t]+{owner}\b.*IterableDataset"
            return re.search(stream, text, re.MULTILINE) is not None
        if name == "__call__":
            return roles.changes_items(f"{os.path.basename(path)} {owner}", text)
        return name == "__getitem__" or roles.collates(part)
