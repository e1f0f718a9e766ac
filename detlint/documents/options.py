"""Options on the command line of a program: ``--name value``, ``--name=value``, ``name=value``."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Word
from detlint.finding import Edit
from detlint.models import launching as rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.sources.source import Source

TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
FALSE = frozenset({"false", "0", "no", "off", "n", "f"})
# The value may stand elsewhere, in another array or variable.
_NEAR = 80
_QUOTES = "\"'"
_DASHED = "_.-"
_OVERRIDDEN = "_.-/@"
_PATHS = "-_.+/"


class Option(NamedTuple):
    """An option, from ``start`` to ``end`` with its value.

    keys   its name: ``--trainer.cudnn-benchmark`` has ("trainer", "cudnn_benchmark")
    value  None where it is not known, "" where there is none
    raw    the value as the source spells it, without the quotes around it
    place  the offset of ``raw``
    """

    keys: tuple[str, ...]
    value: str | None
    start: int
    end: int
    raw: str
    place: int
    shown: str
    apart: bool  # the value is a word of its own, and may be another argument
    dashed: bool

    @property
    def name(self) -> str:
        """The last of the keys."""
        return self.keys[-1]

    @property
    def word(self) -> Word:
        """The option with its value, as something to report."""
        return Word(self.start, self.end, None)

    @property
    def on(self) -> bool | None:
        """Whether a switch is turned on; None where that is not known."""
        if self.value is None:
            return None
        value = self.value.lower()
        if value in FALSE:
            return False
        return True if value in TRUE or not value else None

    @property
    def is_set(self) -> bool:
        """The same of a switch that takes no value, so that what follows is none."""
        return self.on is True or (self.apart and self.on is None)

    def turned(self, value: str) -> tuple[Edit, ...]:
        """The edit that gives a switch another value, spelled as the old one: ``False``."""
        if not self.value or self.raw != self.value:
            return ()
        value = value.capitalize() if self.raw[0].isupper() else value
        if self.raw in ("0", "1"):
            value = "1" if value == "true" else "0"
        return (Edit(self.place, self.place + len(self.raw), value),)


def is_trainer(option: Option, name: str) -> bool:
    """Whether an option is that of Lightning's Trainer: ``--trainer.benchmark``."""
    return option.keys == ("trainer", name)


def options(source: Source, arguments: Sequence[Word]) -> Iterator[Option]:
    """The options among the arguments of a program, in order."""
    following: Iterable[Word | None] = (*arguments[1:], None)
    for word, after in zip(arguments, following, strict=bool(arguments)):
        text, raw = word.text, source.text[word.start : word.end]
        spelled = raw.strip(_QUOTES) if text is None else text
        name, dashed = _name(spelled)
        if name:
            keys = tuple(name.replace("-", "_").split("."))
            if "=" in spelled:
                yield _glued(source, spelled, keys, word)._replace(dashed=dashed)
            else:
                yield _apart(source, spelled, keys, word, after)


def _name(spelled: str) -> tuple[str, bool]:
    """The name of an option, "" for none, and whether it has dashes: ``--name``, ``--name=value``,
    or an override of Hydra's or behind --cfg-options, ``+trainer.benchmark=true``."""
    head, equals, _ = spelled.partition("=")
    if head.startswith("-"):
        name = head[2:] if head.startswith("--") else head[1:]
        return (name if _is_name(name, _DASHED) else ""), True
    name = head[min(len(head) - len(head.lstrip("+")), 2) :]
    return (name if equals and _is_name(name, _OVERRIDDEN) else ""), False


def _is_name(text: str, others: str) -> bool:
    letter = text[:1] == "_" or (text[:1].isascii() and text[:1].isalpha())
    return letter and all(each.isalnum() or each in others for each in text)


def _apart(
    source: Source, spelled: str, keys: tuple[str, ...], word: Word, after: Word | None
) -> Option:
    """``--name value``, ``--name``."""
    if after is None or _begins_option(source, after):
        return Option(keys, "", word.start, word.end, "", word.end, spelled, False, True)
    raw, place = _bare(_spelled(source, after), after.start)
    shown = f"{spelled} {after.text if after.text is not None else raw}"
    end = after.end if 0 <= after.start - word.end <= _NEAR else word.end
    return Option(keys, after.text, word.start, end, raw, place, shown, True, True)


def _glued(source: Source, spelled: str, keys: tuple[str, ...], word: Word) -> Option:
    """``--name=value``. A word that stands for more than its text, as a variable does, has no
    value to point at."""
    whole = source.text[word.start : word.end]
    offset = whole.find("=") + 1
    raw, place = _bare(whole[offset:], word.start + offset) if offset else ("", word.end)
    value = None if word.text is None else spelled.partition("=")[2].strip(_QUOTES)
    return Option(keys, value, word.start, word.end, raw, place, spelled, False, True)


def _begins_option(source: Source, word: Word) -> bool:
    text = source.text[word.start : word.end] if word.text is None else word.text
    bare = text[1:] if text[:1] in _QUOTES else text
    letter = bare[2:3] if bare.startswith("--") else bare[1:2]
    return bare.startswith("-") and letter.isascii() and letter.isalpha()


def _spelled(source: Source, word: Word) -> str:
    """What a word is in the source. Of one that is taken out of a longer text, as of a command
    in a string, and not known, only where it begins is."""
    if word.text is None and source.text.endswith("$", word.start, word.end):
        name = _identifier(source.text[word.end : word.end + _NEAR])
        return source.text[word.start : word.end + len(name)]
    return source.text[word.start : word.end]


def _identifier(text: str) -> str:
    """The name that a text begins with."""
    return "".join(takewhile(lambda each: each.isalnum() or each == "_", text))


def _bare(raw: str, place: int) -> tuple[str, int]:
    start = len(raw) - len(raw.lstrip(_QUOTES))
    return raw.strip(_QUOTES), place + start


def may_hold_more(source: Source, arguments: Sequence[Word]) -> bool:
    """Whether an argument that is not known may be options: ``$EXTRA_ARGS``, ``"$@"``."""
    takes_value = False
    for word in arguments:
        if word.text is None:
            if word.start == word.end:
                return True  # what a branch, or the text before, adds to an array
            raw = source.text[word.start : word.start + _NEAR]
            raw = raw[1:] if raw[:1] in _QUOTES else raw
            if not _is_one_value(raw) and (not takes_value or _is_many(raw)):
                return True
            takes_value = False
        else:
            name, dashed = _name(word.text)
            takes_value = dashed and bool(name) and "=" not in word.text
            takes_value = takes_value and not rows.is_switch(name)
    return False


def _is_one_value(raw: str) -> bool:
    """What is never an option: ``--name=$value``, numbers of ``seq``, arithmetic, a count."""
    if raw.startswith("$("):
        program = raw[2:].lstrip().partition(" ")[0].rstrip(")")
        return raw.startswith("$((") or program in rows.ONE_VALUE
    head, equals, _ = raw.partition("=")
    plain = bool(head) and all(each.isalnum() or each in _PATHS for each in head)
    return (bool(equals) and plain) or (raw[:1] == "$" and raw[1:2] in ("#", "?", "$", "!"))


def _is_many(raw: str) -> bool:
    """What may be several words, or none, whatever stands before it: all of an array, what is
    made for the purpose by its name, and what is added to an array somewhere else."""
    inside = raw[2:] if raw.startswith("${") else raw[1:]
    if not raw.startswith("$") or inside[:1] in ("@", "*"):
        return raw.startswith("$")
    name = _identifier(inside)
    rest = inside[len(name) :]
    return rest.startswith(("[@]", "[*]")) or rows.holds_options(name)
