"""The variables of a shell at one point of a script, as far as the text tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Stands for a part of a text that is not known. A letter to the parser, and in no script.
HOLE = "\ue000"
# Texts and lists that grow beyond this, as in a loop of appends, are not followed.
_LONGEST = 20_000
_MOST = 2_000


class Piece(NamedTuple):
    """Some text, and where in the source each of its characters stands."""

    text: str
    places: tuple[int, ...]

    def plus(self, other: Piece) -> Piece:
        """Both, one behind the other."""
        if len(self.text) + len(other.text) > _LONGEST:
            return unknown(self.places[0] if self.places else 0)
        return Piece(self.text + other.text, self.places + other.places)

    @property
    def known(self) -> str | None:
        """The text, unless a part of it is not known."""
        return None if HOLE in self.text else self.text


EMPTY = Piece("", ())


def unknown(place: int) -> Piece:
    """A text that is not known."""
    return Piece(HOLE, (place,))


class Value(NamedTuple):
    """What a variable holds: a text, or the words of an array."""

    text: Piece
    words: tuple[Word, ...] | None = None
    exported: bool = False
    start: int = -1  # of the assignment


class Scope:
    """Variables by name, and what else a command inherits.

    folder   where ``cd`` led, as seen from where the script was started; None if not known
    sourced  scripts whose variables come on top of these
    marked   names that are exported as soon as they are set
    ended    "return" or "exit" behind such a statement: what follows does not run
    beside   gives the text of a script that is sourced, if that is known
    """

    def __init__(
        self,
        environment: Mapping[str, str | None] | None = None,
        *,
        beside: Callable[[str], str | None] | None = None,
    ) -> None:
        self.beside = beside
        self.values: dict[str, Value] = {}
        self.folder: str | None = ""
        self.sourced: tuple[str, ...] = ()
        self.exports_all = False
        self.marked: frozenset[str] = frozenset()
        self.ended = ""
        for name, text in (environment or {}).items():
            piece = unknown(0) if text is None else Piece(text, (0,) * len(text))
            self.values[name] = Value(piece, exported=True)

    def copy(self) -> Scope:
        """A scope that can change by itself: of a subshell, or of a branch."""
        other = Scope(beside=self.beside)
        other.values = dict(self.values)
        other.folder, other.sourced = self.folder, self.sourced
        other.exports_all, other.marked = self.exports_all, self.marked
        return other

    def child(self) -> Scope:
        """What another shell that is started inherits."""
        other = self.copy()
        other.values = {name: each for name, each in self.values.items() if each.exported}
        other.exports_all = False
        return other

    def environment(self) -> dict[str, str | None]:
        """What programs see."""
        return {name: each.text.known for name, each in self.values.items() if each.exported}

    def set(self, name: str, value: Value) -> Value:
        """Set a variable, which stays exported if it was."""
        old = self.values.get(name)
        marked = self.exports_all or name in self.marked or (old is not None and old.exported)
        self.values[name] = value._replace(exported=value.exported or marked)
        return self.values[name]

    def forget(self, names: Iterable[str], *, new: bool = True) -> None:
        """Take the values of some variables for not known; ``new``: also where not yet set."""
        for name in names:
            old = self.values.get(name)
            if old is not None:
                self.values[name] = _unsure(old)
            elif new:
                self.values[name] = Value(unknown(0))

    def join(self, branches: Iterable[Scope]) -> None:
        """Go on as after one of some branches, no matter which: what differs is not known."""
        lasting = [each for each in branches if not each.ended]
        if not lasting:
            self.ended = "exit"
            return
        first, *others = lasting
        self._take(first)
        for other in others:
            mine, theirs = self.values, other.values
            joined = dict(mine)
            for name in {**mine, **theirs}:
                one, two = mine.get(name), theirs.get(name)
                if one is not two:
                    joined[name] = _either(one, two)
            self.values = joined
            if other.folder != self.folder:
                self.folder = None
            self.sourced = tuple(dict.fromkeys(self.sourced + other.sourced))
            self.exports_all = self.exports_all and other.exports_all

    def _take(self, other: Scope) -> None:
        self.values, self.folder, self.sourced = other.values, other.folder, other.sourced
        self.exports_all, self.marked = other.exports_all, other.marked


def _unsure(value: Value) -> Value:
    """Of the same shape."""
    if value.text.text == HOLE and value.words is None:
        return value
    place = max(value.start, 0)
    words = None if value.words is None else (Word(place, place, None),)
    return value._replace(text=unknown(place), words=words)


def _either(one: Value | None, two: Value | None) -> Value:
    if one is None or two is None:
        value = one or two
        assert value is not None  # noqa: S101 - one of them has the name
        return _unsure(value)
    exported = one.exported or two.exported
    if one.text.text == two.text.text and _texts(one) == _texts(two):
        return one._replace(exported=exported)
    start = max(one.start, two.start)
    if one.words is not None and two.words is not None:
        words = (*_common(one.words, two.words), Word(max(start, 0), max(start, 0), None))
        return Value(unknown(max(start, 0)), words, exported, start)
    return Value(_shared(one.text, two.text), None, exported, start)


def _texts(value: Value) -> list[str | None] | None:
    return None if value.words is None else [each.text for each in value.words]


def _common(one: tuple[Word, ...], two: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words that both begin with."""
    length = 0
    for left, right in zip(one, two, strict=False):
        if left.text is None or left.text != right.text:
            break
        length += 1
    return one[:length]


def _shared(one: Piece, two: Piece) -> Piece:
    """The words that both begin with, and something unknown behind them."""
    short, long = sorted((one, two), key=lambda each: len(each.text))
    same = 0
    while same < len(short.text) and short.text[same] == long.text[same]:
        same += 1
    ends = same == len(short.text) and long.text[same : same + 1].isspace()
    if not ends:
        whole = re.match(r"(?:.*\s)?", short.text[:same], re.DOTALL)
        same = whole.end() if whole else 0
    place = long.places[same] if same < len(long.places) else 0
    gap = " " if ends else ""
    return Piece(
        short.text[:same] + gap + HOLE, (*short.places[:same], *(place,) * len(gap), place)
    )


def merged(words: Iterable[tuple[Word, ...]]) -> tuple[Word, ...]:
    """The words of a command that was met several times, unknown where they differ."""
    first, *others = words
    for other in others:
        if len(other) == len(first):
            pairs = zip(first, other, strict=True)
            first = tuple(a if a.text == b.text else a._replace(text=None) for a, b in pairs)
        else:
            common = _common(first, other)
            rest = first[len(common)] if len(common) < len(first) else other[len(common)]
            first = (*common, rest._replace(text=None))
    return first


def capped(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Words of an array, but for those that are too many."""
    return words if len(words) <= _MOST else (*words[:_MOST], words[_MOST]._replace(text=None))
