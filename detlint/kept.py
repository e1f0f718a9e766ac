"""What linking found out of parts of a project, kept until a file changes that a part depends on.

A part is named, and its answers hold for the contents of some files. What folders hold, and which
files there are, decides where each import leads, so answers hold for as long as that is the same.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from detlint.sources.cache import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from detlint.index.index import Index
    from detlint.sources.cache import Cache
    from detlint.sources.context import Context

_SECTION = "parts"
# Answers by question, as JSON gives them back.
Answers = dict[str, Any]


T = TypeVar("T")


def known(answers: Answers, question: str, answer: Callable[[], T]) -> T:
    """The answer to a question, worked out if it is not among those that are known."""
    if question not in answers:
        answers[question] = answer()
    told: T = answers[question]
    return told


class _Part(NamedTuple):
    """The answers about a part, and a digest of what they depend on."""

    key: str
    answers: Answers


class Work(NamedTuple):
    """What some work gave, as JSON gives it back, the files that it read, by their real paths, and
    the questions that it asked besides."""

    result: Any
    files: Sequence[str]
    questions: Sequence[Any] = ()


class Kept:
    """Answers of this run and of the one before, by the names of parts."""

    def __init__(self, cache: Cache, context: Context, index: Index) -> None:
        self._cache = cache
        self._context = context
        self._index = index
        self._parts: dict[str, _Part] = {}
        self._before: dict[str, _Part] = {}
        with suppress(TypeError, ValueError, LookupError, AttributeError):  # it is not ours
            kept = cache.kept(_SECTION) or {}
            if kept and kept["state"] == self._state(kept["folders"]):
                self._before = {name: _Part(*each) for name, each in kept["parts"].items()}
        self._files = self.answers("files", ())

    def answers(self, name: str, files: Iterable[str], besides: object = "") -> Answers:
        """What is known of a part that depends on the contents of some files, by their real paths,
        and on what is said besides. What is added is kept."""
        key = self._key(files, besides)
        known = self._known(name)
        same = bool(key) and known.key == key and isinstance(known.answers, dict)
        self._parts[name] = known if same else _Part(key, {})
        return self._parts[name].answers

    def about(self, path: str) -> Answers:
        """What is known of a file that depends on its content, and on what folders hold."""
        try:
            digest = self._index.digest(path).removeprefix(path)
        except LookupError:
            return {}
        if path not in self._files or self._files[path][0] != digest:
            self._files[path] = digest, {}
        known: Answers = self._files[path][1]
        return known

    def result(
        self, name: str, besides: object, ask: Callable[[Any], object], work: Callable[[], Work]
    ) -> Any:  # noqa: ANN401 - as JSON gives it back
        """What some work gives, done where what is said besides, a file that it read or the answer
        to one of its questions is another than before."""
        done = self.done(name, besides, ask)
        if done is None:
            done = work()
            key = self._key(done.files, [besides, *map(ask, done.questions)])
            self._parts[name] = _Part(key, done._asdict())
        return done.result

    def done(self, name: str, besides: object, ask: Callable[[Any], object]) -> Work | None:
        """Work that need not be done again."""
        known = self._known(name)
        with suppress(TypeError, ValueError, LookupError, AttributeError):
            done = Work(**known.answers)
            key = self._key(done.files, [besides, *map(ask, done.questions)])
            if key and key == known.key:
                self._parts[name] = known
                return done
        return None

    def _known(self, name: str) -> _Part:
        return self._parts.get(name) or self._before.get(name) or _Part("", {})

    def save(self) -> None:
        """Hand it to the cache, with what this run did not ask for."""
        folders = list(self._index.folders.listings)
        parts = {name: each for name, each in {**self._before, **self._parts}.items() if each.key}
        kept = {"state": self._state(folders), "folders": folders, "parts": parts}
        self._cache.keep(_SECTION, kept)

    def _key(self, files: Iterable[str], besides: object) -> str:
        try:
            return digest_of([repr(besides), *map(self._index.digest, files)])
        except LookupError:
            return ""  # one cannot be read: nothing is kept

    def _state(self, folders: Iterable[str]) -> str:
        """A digest of which files there are, and where their imports are looked up."""
        entries = self._index.folders.entries
        listings = {folder: entries(folder) for folder in folders}
        return digest_of([*self._context.files, *where_imports_lead(self._context, listings)])


def where_imports_lead(
    context: Context, listings: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Below which folders the imports of files are looked up, and what is found there."""
    for folder in dict.fromkeys(map(os.path.dirname, context.files)):
        yield context.root_of(os.path.join(folder, "-"))
    for folder, held in listings.items():
        yield repr((folder, sorted(held.items())))
