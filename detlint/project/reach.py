"""What runs when an entrypoint does, told by the names that code uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.project.outline import ATTRIBUTE, FROM, IN_WORKERS, LOCAL, MAIN, WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_Place = tuple[str, str]  # a file and a part of its outline


class Reach:
    """The parts of some files that run: those that what runs names, and, of a class that is in
    use, the methods whose names something that runs looks up. ``offers`` tells what may be
    looked up in a module that is handed on, ``origins`` what a file imports by a name, None if
    that is not known, and ``apart`` what only another process runs."""

    def __init__(
        self,
        outlines: Mapping[str, Mapping[str, list[str]]],
        entrypoint: str,
        offers: Callable[[str, str], Iterable[_Place]] = lambda *_: (),
        apart: Callable[[str, str], bool] = lambda *_: False,
        origins: Callable[[str, str], Iterable[_Place] | None] = lambda *_: None,
    ) -> None:
        self._outlines = outlines
        self._origins = origins
        self._apart = apart
        self._offers = offers
        self._holders: dict[str, list[str]] = {}  # the files that define a name
        self._methods: dict[_Place, list[str]] = {}  # the parts of a class
        for path, outline in outlines.items():
            self._index(path, outline)
        self._names: set[str] = set()
        self._waiting: dict[str, list[_Place]] = {}  # methods of classes in use, by their names
        self._pending = [*((path, "") for path in outlines), (entrypoint, MAIN)]
        self._reached = set(self._pending)
        while self._pending:
            path, part = self._pending.pop()
            for name in outlines[path][part]:
                self._follow(path, name)

    def __contains__(self, place: _Place) -> bool:
        return place in self._reached

    def _index(self, path: str, outline: Mapping[str, list[str]]) -> None:
        for part in outline:
            owner, dot, _ = part.partition(".")
            if dot:
                self._methods.setdefault((path, owner), []).append(part)
            elif part and part != MAIN:
                self._holders.setdefault(part, []).append(path)

    def _follow(self, path: str, name: str) -> None:
        if FROM in name:
            found = self._origins(path, name)
            for place in self._called(name) if found is None else found:
                self._enter(place)
        elif name.startswith(ATTRIBUTE):
            if name not in self._names:
                self._names.add(name)
                for place in self._waiting.pop(name, ()):
                    self._enter(place)
        elif name.startswith(LOCAL):
            self._enter((path, name.removeprefix(LOCAL)))
        elif name.startswith(WHOLE):
            for place in self._offers(path, name):
                self._enter(place)

    def _called(self, name: str) -> Iterator[_Place]:
        """All that bears one of the names by which something is looked up in a module."""
        for each in name.partition(FROM)[2].split("."):
            yield from ((holder, each) for holder in self._holders.get(each, ()))

    def _enter(self, place: _Place) -> None:
        if place in self._reached or place[1] not in self._outlines.get(place[0], ()):
            return
        if self._apart(*place):
            return
        self._reached.add(place)
        self._pending.append(place)
        path, _ = place
        for part in self._methods.get(place, ()):
            name = part.partition(".")[2]
            called = ATTRIBUTE + name
            if name in IN_WORKERS or called in self._names:
                self._enter((path, part))
            else:
                self._waiting.setdefault(called, []).append((path, part))
