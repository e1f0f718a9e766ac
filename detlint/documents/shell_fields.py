"""Words as a shell makes them of the parts of one: split at blanks, escapes taken out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Word
from detlint.documents.shell_scope import EMPTY, HOLE, Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}


class Part(NamedTuple):
    """A part of a word: a literal text, the value of a variable that is ``split`` at blanks,
    or the ``words`` of an array."""

    piece: Piece
    split: bool = False
    words: tuple[Word, ...] | None = None


class Field(NamedTuple):
    """A word, and where each of its letters stands."""

    word: Word
    places: tuple[int, ...]


def fields(parts: Sequence[Part], span: tuple[int, int]) -> list[Field]:
    """The words that some parts make, of a word with this span."""
    made = _Made(span, alone=len(parts) <= 2)
    for part in parts:
        if part.words is not None:
            made.add_words(part.words)
        elif part.split:
            made.add_split(part.piece)
        elif part.piece.text:
            made.add(part.piece)
    made.end()
    return made.found


class _Made:
    def __init__(self, span: tuple[int, int], *, alone: bool) -> None:
        self.found: list[Field] = []
        self._span = span
        self._alone = alone
        self._current: Piece | None = None

    def add(self, piece: Piece) -> None:
        """Go on with the word."""
        self._current = (self._current or EMPTY).plus(piece)

    def end(self) -> None:
        """End the word, if one is begun."""
        if self._current is not None:
            self.found.append(_field(self._current, self._span))
        self._current = None

    def add_words(self, words: tuple[Word, ...]) -> None:
        for index, word in enumerate(words):
            if index:
                self.end()
            text = HOLE if word.text is None else word.text
            places = (word.start,) * len(text)
            if self._alone and self._current is None:
                self.found.append(Field(word._replace(text=text), places))
            else:
                self.add(Piece(text, places))

    def add_split(self, piece: Piece) -> None:
        for match in re.finditer(r"\s+|\S+", piece.text):
            if match[0].isspace():
                self.end()
            else:
                self.add(Piece(match[0], piece.places[match.start() : match.end()]))


def _field(piece: Piece, span: tuple[int, int]) -> Field:
    """A word where its text stands, if it stands there in one piece."""
    places = piece.places
    if places and places[-1] - places[0] == len(places) - 1:
        return Field(Word(places[0], places[-1] + 1, piece.text), places)
    return Field(Word(*span, piece.text), places)


def unescaped(piece: Piece, escapes: str | None) -> Piece:
    r"""Without the backslashes in front of ``escapes``; of every character where that is empty,
    and as ``$'\n'`` has them where it is None."""
    if "\\" not in piece.text:
        return piece
    text, places = [], []
    index = 0
    while index < len(piece.text):
        each, place = piece.text[index], piece.places[index]
        following = piece.text[index + 1 : index + 2]
        if each == "\\" and following and (not escapes or following in escapes):
            index += 1
            each = _ANSI.get(following, following) if escapes is None else following
            if following == "\n" and escapes is not None:
                each = ""
        if each:
            text.append(each)
            places.append(place)
        index += 1
    return Piece("".join(text), tuple(places))
