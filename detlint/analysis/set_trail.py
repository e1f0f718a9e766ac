"""Follows a set through the text of a file, to see whether anything goes through it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.analysis import reductions, set_hints
from detlint.analysis.text_places import Bracket, brackets, fields, function_of
from detlint.analysis.uses import words
from detlint.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = r"(?:(?!\n[ \t]*\n)[\s\S])"
_KEY = re.compile(_SPACE + r"{0,400}?\bkey\s*=(?!=)")
_POPPED = re.compile(_SPACE + r"{0,600}?[)}\]]\s*\.pop\(\s*\)")

# What is called with a set and goes through it. The names may be imported from anywhere.
_READING = words(
    """accumulate batched cast chain combinations combinations_with_replacement compress cycle
    defaultdict deque dict dropwhile enumerate extend extendleft filter filterfalse from_iterable
    fromkeys groupby heapify imap islice iter join list map nlargest nsmallest pairwise permutations
    product reduce repeat reversed starmap sum takewhile tee tuple writelines zip zip_longest
    OrderedDict"""
)
_TAKING_KEYS = ("max", "min", "sorted")
_REDUCING = ("all", "any", "frozenset", "max", "min", "set", "sorted")
_MODULES = re.compile(r"(?:itertools|more_itertools|heapq)\.")
_SETS = words("set frozenset copy difference intersection symmetric_difference union")
_LOOP = re.compile(r"\bfor\b(?:(?!\bin\b)[\s\S])*\bin\b((?:(?!\bfor\b)[\s\S])*)$")
_FILTER = re.compile(r"\bif\b(?![\s\S]*\belse\b)")
_COMPARED = re.compile(r"(?:\bin|[=!<>]=|[<>])\s*$")
_EITHER = re.compile(r"\b(?:and|or)\b(?![\s\S]*\b(?:and|or|else|if)\b)")
_STAR = re.compile(r"\s*\*(?!\*)")
_WALRUS = re.compile(r"(\w+)\s*:=")
_ASSIGNED = re.compile(r"(?<![=!<>:])=(?!=)")
_AUGMENTED = re.compile(r"(?:[-+*/%&|^@]|//|\*\*|<<|>>)$")
_TARGET = re.compile(
    r"(?:^|[\n;:])[ \t]*(?!(?:else|finally|try)\b)((?:self|cls)\s*\.\s*)?(\w+)\s*(?::.*)?$",
    re.DOTALL,
)
_UNPACKED = re.compile(r"(?:^|[\n;:])[ \t]*(?:\(\)|\[\])\s*$")
# What only an error or a log shows.
_TOLD = re.compile(r"\s*raise\b")
_LOGGED = re.compile(
    r"(?:^|\.)(?:log|logger|logging)\.(?:critical|debug|error|exception|info|warning)$"
    r"|^warnings\.warn$"
)
_EMPTY = re.compile(r"(?:frozen)?set\(\)\s*,")
# Statements that only keep a dict, and what reads one at once.
_KEEPING = re.compile(r"\s*(?:return|(?:self|cls)\.\w+\s*=)\s*$")
_LOCAL = re.compile(r"\s*(\w+)\s*=\s*$")
_ASKED = re.compile(_SPACE + r"{0,600}?\}\s*\.")
# What stands before a mention of an attribute.
_OWNER = re.compile(r"[\w.]+\s*\.\s*$|\.\s*$")
_FAR = 60
# What follows a mention of a set that does not go through it.
_QUIET = re.compile(
    r"\s*(?:=(?!=)|[-+&|^@*/%]=|\[|\(|:=|\.\s*(?!(?:pop|copy|difference|intersection"
    r"|symmetric_difference|union)\b))"
)
_POP = re.compile(r"\s*\.\s*pop\(\s*\)")
_MANY = 200  # mentions of one variable


class Trail:
    """Answers for the sets of one file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen: set[tuple[str, int]] = set()
        self._known = _followed(text)

    def leads_on(self, offset: int) -> bool:
        """Whether the set that stands at an offset may be gone through, here or later."""
        popped = self._text.find(".pop(", offset, offset + 800) >= 0
        if popped and _POPPED.match(self._text, offset):
            return True
        around = list(brackets(self._text, offset))
        if set_hints.holds_unknown(self._text, offset) or _is_told(around):
            return False
        for place, bracket in enumerate(around):
            found = self._loops(around[place:], offset)
            if found is None:
                found = self._passes(bracket, offset)
            if found is not None:
                return found
        return False

    def _loops(self, around: list[Bracket], offset: int) -> bool | None:
        """What a loop over the set, or ``*x``, comes to; None if there is none in a bracket."""
        if not _goes_through(around[0]):
            return None
        if not around[0].mark and set_hints.is_quiet_loop(self._text, offset):
            return False
        if self._is_kept_dict(around, offset):
            return False
        if not self._is_reduced(around[0], offset):
            return True
        return None if around[0].mark == "{" else False  # `{f(name) for name in x}`: a set again

    def _passes(self, bracket: Bracket, offset: int) -> bool | None:
        """Where the set goes from a bracket; None if that only groups."""
        if self._is_named_in(bracket, offset):
            return True
        if _goes_through(bracket):
            return None
        if _EITHER.search(bracket.last) or _COMPARED.search(bracket.last):
            return False
        if not bracket.mark:
            return self._is_kept(bracket.inside, offset)
        if bracket.mark != "(":
            return False
        return self._is_read_by(bracket, offset) if bracket.word else None

    def _is_named_in(self, bracket: Bracket, offset: int) -> bool:
        """``(names := x)``, where something goes through ``names``."""
        if ":=" not in bracket.inside:
            return False
        function = function_of(self._text, offset)
        return any(self.follow(each, function) for each in _WALRUS.findall(bracket.inside))

    def _is_reduced(self, bracket: Bracket, offset: int) -> bool:
        """``any(f(name) for name in x)``, ``{f(name) for name in x}``, without random draws."""
        loop = _LOOP.search(bracket.inside)
        if loop is None:
            return False
        if bracket.mark == "{":
            reduced = ":" not in bracket.inside[: loop.start()]
        elif bracket.mark == "(" and bracket.word in _REDUCING:
            reduced = not _KEY.match(self._text, offset) and "key=" not in bracket.inside
        else:
            return False
        return reduced and not set_hints.may_draw(self._text, offset)

    def _is_kept_dict(self, around: list[Bracket], offset: int) -> bool:
        """``self.sizes = {name: f(name) for name in x}``: most dicts are only looked up in."""
        inner, outer = around[0], around[1] if len(around) > 1 else around[0]
        loop = _LOOP.search(inner.inside)
        if inner.mark != "{" or outer.mark or loop is None:
            return False
        pairs = ":" in inner.inside[: loop.start()]
        if not pairs or _ASKED.match(self._text, offset):
            return False
        local = _LOCAL.match(outer.inside)
        if local is None and not _KEEPING.match(outer.inside):
            return False
        if set_hints.may_draw(self._text, offset):
            return False
        return local is None or not self._reads_dict(local[1], function_of(self._text, offset))

    def _reads_dict(self, name: str, inside: tuple[int, int] | None) -> bool:
        """Whether something may go through a dict."""
        start, end = inside or (0, len(self._text))
        asked = rf"\b{name}\s*\.\s*(?:copy|items|keys|popitem|values)\b|dumps?\([^\n]*\b{name}\b"
        asked += rf"|[{{,]\s*\*\*{name}\b|\b{name}\s*\|"
        if inside is None or re.compile(asked).search(self._text, start, end):
            return True
        return self.follow(name, inside)

    def _is_read_by(self, call: Bracket, offset: int) -> bool:
        """``list(x)``, ``max(x, key=len)``."""
        word = call.word.rpartition(".")[2]
        if word in _TAKING_KEYS:
            return _KEY.match(self._text, offset) is not None or "key" in call.inside
        if word in _READING or _MODULES.match(call.word):
            return True
        if word.lower() in reductions.CARRYING_WORDS:
            return True
        return word not in _SETS and set_hints.is_alias(self._text, word)

    def _is_kept(self, inside: str, offset: int) -> bool:
        """``names = x``, where something goes through ``names``."""
        *targets, value = _ASSIGNED.split(inside)
        if not targets:
            return False
        if _AUGMENTED.search(targets[0]):
            return targets[0].endswith("+")
        if any("," in each.partition(":")[0] or _UNPACKED.search(each) for each in targets):
            return "," not in value and not _EMPTY.match(self._text, offset)
        return any(
            self.follow(each[2], None, own=True) if each[1] else self.follow(each[2], around)
            for around in (function_of(self._text, offset),)
            for each in filter(None, map(_TARGET.search, targets))
            if not (each[1] and set_hints.keeps_unknown(self._text, each[2], offset))
        )

    def follow(self, name: str, inside: tuple[int, int] | None, *, own: bool = False) -> bool:
        """Whether something goes through the set of a name, in a function or in the file.

        ``own`` if it is an attribute of ``self``.
        """
        if self._seen:
            return self._follow(name, inside, own=own)
        key = name, inside, own
        if key not in self._known:
            self._known[key] = self._follow(name, inside, own=own)
        return self._known[key]

    def _follow(self, name: str, inside: tuple[int, int] | None, *, own: bool) -> bool:
        start, end = inside or (0, len(self._text))
        if (name, start) in self._seen:
            return False
        self._seen.add((name, start))
        mentions = list(self._mentions(name, start, end))
        if inside is not None:
            mentions = [each for each in mentions if each[0] == each[1] - len(name)]
        elif own and not any(fields(self._text, name)):
            mentions = [each for each in mentions if each[0] < each[1] - len(name)]
        return len(mentions) > _MANY or any(
            _POP.match(self._text, after) or self.leads_on(before) for before, after in mentions
        )

    def _mentions(self, name: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where a name is mentioned, with what stands before its dot, and not only filled."""
        for place in mentions(self._text, name, start, end):
            after = place + len(name)
            if not _QUIET.match(self._text, after):
                far = max(place - _FAR, 0)
                dotted = self._text[far:place].rstrip().endswith(".")
                owner = _OWNER.search(self._text, far, place) if dotted else None
                yield owner.start() if owner is not None else place, after


@lru_cache(maxsize=1)  # of a file, for each of its sets
def _followed(_text: str) -> dict[tuple[str, tuple[int, int] | None, bool], bool]:
    """What is known of the names that a trail began with."""
    return {}


def _is_told(around: list[Bracket]) -> bool:
    """Whether only an error or a log shows what stands in some brackets."""
    if _TOLD.match(around[-1].inside):
        return True
    return any(_LOGGED.search(each.word) for each in around)


def _goes_through(bracket: Bracket) -> bool:
    """``for name in x``, ``*x``, ``yield from x``."""
    loop = _LOOP.search(bracket.inside) if "for" in bracket.inside else None
    if loop is not None and not _FILTER.search(loop[1]):
        return True
    if _STAR.match(bracket.last):
        return bracket.mark != "{"
    return not bracket.mark and re.match(r"\s*yield\s+from\b", bracket.inside) is not None
