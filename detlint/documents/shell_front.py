"""What stands in front of a program on a command line: ``nohup``, ``env A=b``, ``srun -n 4``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Word
from detlint.documents.shell_starters import STARTERS
from detlint.sources.kinds import PYTHON, interpreted_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.documents.shell_starters import Starter


class Started(NamedTuple):
    """A command line told apart: what is in front, the program, and variables set on the way.

    ``sets`` are the words ``A=b``; ``passes`` names variables that are handed on.
    """

    front: tuple[Word, ...]
    words: tuple[Word, ...]
    sets: tuple[Word, ...] = ()
    passes: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    fresh: bool = False


_LAUNCHERS = ("torchrun", "accelerate", "deepspeed")
# Of these, `sudo` without `-E` and `env -i` hand on nothing.
_KEEPING = frozenset({"-E", "--preserve-env"})


def started(words: Sequence[Word]) -> Started:
    """What a command line starts; itself, unless it begins with a program that starts others."""
    found = Started((), tuple(words))
    for _ in range(len(words)):
        one = _one(found.words)
        if one is None:
            break
        found = Started(
            found.front + one.front,
            one.words,
            (() if one.fresh else found.sets) + one.sets,
            found.passes + one.passes,
            found.unset + one.unset,
            found.fresh or one.fresh,
        )
    return found


def _one(words: tuple[Word, ...]) -> Started | None:
    """The words without the first program, if that starts another one."""
    if not words:
        return None
    name = (words[0].text or "").rpartition("/")[2]
    if words[0].text is None:
        return _past_unknown(words)
    starter = STARTERS.get(name)
    if starter is None:
        return None
    reading = _Reading(starter, words)
    if starter.subcommands == ("",):
        place = 1
    else:
        place = next((i + 1 for i, each in enumerate(words) if each.text in starter.subcommands), 0)
        if not place or not all(map(_may_lead, words[1 : place - 1])):
            return None
    return reading.read(name, place)


def _may_lead(word: Word) -> bool:
    """Whether a word may stand between a program and its subcommand."""
    return word.text is None or word.text.startswith("-") or word.text == "job"


def _past_unknown(words: tuple[Word, ...]) -> Started | None:
    """``$LAUNCHER python train.py``: whatever it stands for starts the program behind it."""
    for index, each in enumerate(words[:4]):
        if each.text is not None:
            name = each.text.rpartition("/")[2]
            known = name in _LAUNCHERS or interpreted_by(name) == PYTHON
            return Started(words[:index], words[index:]) if known else None
    return None


def _assigns(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.removesuffix("+").isidentifier()


class _Reading:
    """One command line of a starter, read from left to right."""

    def __init__(self, starter: Starter, words: tuple[Word, ...]) -> None:
        self._starter = starter
        self._words = words
        self._sets: list[Word] = []
        self._passes: list[str] = []
        self._unset: list[str] = []
        self._fresh = starter.fresh

    def read(self, name: str, place: int) -> Started | None:
        keeps = name != "sudo"
        while place < len(self._words):
            text = self._words[place].text
            if text == "--":
                place += 1
                break
            if text is not None and text.startswith("-") and text != "-":
                keeps = keeps or text in _KEEPING
                place = self._option(name, place, text)
            elif name in ("env", "sudo") and text is not None and _assigns(text):
                self._sets.append(self._words[place])
                place += 1
            elif text is None and self._words[place + 1 :] and not self._starter.skipped:
                place += 1  # some options, if a program stands behind them
            else:
                break
        place += self._starter.skipped
        front, words = self._words[:place], self._words[place:]
        fresh = self._fresh or not keeps
        found = (tuple(self._sets), tuple(self._passes), tuple(self._unset), fresh)
        return Started(front, words, *found) if words else None

    def _option(self, name: str, place: int, text: str) -> int:
        """The place behind an option and its value."""
        option, glued, value = text.partition("=")
        following = self._words[place + 1] if place + 1 < len(self._words) else None
        if option in self._starter.pairs and not glued:
            return place + 3
        if option in self._starter.named and not glued:
            return self._named(place)
        if option in self._starter.sets:
            word = following if not glued else self._part(self._words[place], value)
            if option == "--export" and word is not None:  # of Slurm
                self._fresh = self._fresh or "ALL" not in (word.text or "ALL").split(",")
            self._setting(word)
        elif name == "env" and option in ("-u", "--unset"):
            given = value if glued else (following.text if following else None)
            self._unset.append(given or "")
        elif name == "env" and text in ("-i", "--ignore-environment", "-"):
            self._fresh = True
        return place + (1 if glued or not self._takes_value(text) else 2)

    def _takes_value(self, text: str) -> bool:
        flags = self._starter.flags
        if flags is None:
            return text in self._starter.valued
        short = not text.startswith("--")
        return text not in flags and not (short and len(text) > 2)

    def _setting(self, word: Word | None) -> None:
        if word is None or word.text is None:
            return
        several = word.text.count("=") > 1 or "," in word.text.partition("=")[0]
        start = word.start
        for text in word.text.split(",") if several else [word.text]:
            if _assigns(text):
                whole = word.end - word.start == len(word.text)  # no quotes or escapes
                place = {"start": start, "end": start + len(text)} if several and whole else {}
                self._sets.append(word._replace(text=text, **place))
            elif text.isidentifier():
                self._passes.append(text)
            start += len(text) + 1

    def _named(self, place: int) -> int:
        """``-env A b``, and ``-env A=b`` as some take it."""
        name, value = (*self._words[place + 1 : place + 3], None, None)[:2]
        if name is None or "=" in (name.text or ""):
            self._setting(name)
            return place + 2
        if name.text is not None and value is not None and value.text is not None:
            self._sets.append(Word(name.start, value.end, f"{name.text}={value.text}"))
        return place + 3

    def _part(self, word: Word, value: str) -> Word:
        return word._replace(start=max(word.start, word.end - len(value)), text=value)
