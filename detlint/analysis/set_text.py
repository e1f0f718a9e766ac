"""What the text around a token tells of a set, before anything is parsed.

A set is of interest if something goes through it: where it stands, or where the variable or
attribute is read to which it is assigned.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.kind_tables import ELEMENTS, NAMESPACES
from detlint.analysis.kinds import elements_by_name, value_by_name
from detlint.analysis.text_places import Bracket, brackets, function_around, statement_start
from detlint.analysis.uses import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = re.compile(r"(?:int|bool|float)\b")
_STABLE = re.compile(
    r"(?:(?:frozen)?set\(\s*[\[(]?|\{)\s*(?:(?:range|int|len|id|float)\(|map\(\s*(?:int|len)\b|-?\d)"
)
# A dict, by its first key: most braces are.
_DICT = re.compile(
    r"""\{\s*(?:\} | \*\* | (?:\#.*\n\s*)*
      [rbfu]{0,2}(?:"[^"\\\n]*" | '[^'\\\n]*' | [\w.]+(?:\([\w.,\ ]*\))?)\s*:)""",
    re.VERBOSE,
)
_MORE_TEXT = re.compile(r"[\w\"'`%{}]|\.(?!\s*(?:copy|difference|intersection|symmetric_difference|union)\b)")
_SPACE = r"(?:(?!\n[ \t]*\n)[\s\S])"
_KEY = re.compile(_SPACE + r"{0,400}?\bkey\b")
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
    r"(?:^|[\n;:])[ \t]*(?!(?:else|finally|try)\b)((?:self|cls)\s*\.\s*)?(\w+)\s*(?::.*)?$", re.DOTALL
)
_UNPACKED = re.compile(r"(?:^|[\n;:])[ \t]*(?:\(\)|\[\])\s*$")
_PARAMETER = re.compile(r"\s*\*{0,2}(\w+)\s*:[^=]*$")
_FIELD = re.compile(r"\s*((?:self|cls)\s*\.\s*)?(\w+)\s*:[^=]*$")
_DEFINING = re.compile(r"\s*(?:async\s+)?def\b")
_HEAD = re.compile(r"(?::|\||\b(?:Optional|Union|Annotated|Final|ClassVar)\[)[^\[\]:]*$")
_DRAWING = re.compile(r"rand|secrets|bernoulli|normal", re.IGNORECASE)
_GENERATORS = re.compile(r"\bRandom\(|default_rng|RandomState|from (?:random|secrets|numpy.random) import")
# What only an error or a log shows.
_TOLD = re.compile(r"\s*raise\b")
_LOGGED = re.compile(
    r"(?:^|\.)(?:log|logger|logging)\.(?:critical|debug|error|exception|info|warning)$|^warnings\.warn$"
)
# A loop over `set(config.kinds)`; what `self.kinds` holds, an annotation may say.
_OF_ATTRIBUTE = re.compile(r"(?:frozen)?set\(((?:\w+\.)+\w+)\)\s*(?:[:)\]}]|$|\n)")
_LOOP_OVER = re.compile(r"\bfor[ \t]+(\w+)[ \t]+in[ \t]+$")
_FEW_OWNERS = re.compile(r"(?:self|cls)\.\w+$")
_NAMED = {*NAMESPACES, "parameters", "environ", *(name.rpartition(".")[2] for name in ELEMENTS)}
_TEXT_USE = (
    r"\bNAME\s*(?:\.|[=!]=|\+)|\bNAME\s+(?:not\s+)?in\b(?<!\bfor NAME in)|(?:[=!]=|\+|\bin)\s*NAME\b"
    r"|\b(?:(?:get|has|set)attr|basename|dirname|exists|import_module|isdir|isfile|join|listdir"
    r"|makedirs|open|splitext)\([^\n]*\bNAME\b"
)
_EMPTY = re.compile(r"(?:frozen)?set\(\)\s*,")
# Statements that only keep a dict, and what reads one at once.
_KEEPING = re.compile(r"\s*(?:return|(?:self|cls)\.\w+\s*=)\s*$")
_LOCAL = re.compile(r"\s*(\w+)\s*=\s*$")
_ASKED = re.compile(_SPACE + r"{0,600}?\}\s*\.")
# A loop with one short statement, and what that may be.
_ONE_LINE = re.compile(
    r"(?P<head>([ \t]*)for[ \t]+(?P<name>\w+)[ \t]+in[ \t][^\n]+):[ \t]*\n"
    r"\2[ \t]+(?P<body>\S[^\n]*)\n(?!(?:[ \t]*\n)*\2[ \t]+\S)"
)
_ALONE = (
    r"del [\w.]+\[NAME\]|delattr\(\w+, ?NAME\)|[\w.]+\.pop\(NAME(?:, ?\w+)?\)|NAME\.(?:__exit__|cancel|close)\([\w, ]*\)"
)
# What stands before a mention: of a local, of an attribute, of either.
_FREE = r"(?<![\w.])"
_OWNED = r"(?<![\w.\])])\w+\s*\.\s*"
_SHARED = r"(?<![\w.\])])(?:\w+\s*\.\s*)?"
# What follows a mention of a set that does not go through it.
_QUIET = re.compile(
    r"\s*(?:=(?!=)|[-+&|^@*/%]=|\[|\(|:=|\.\s*(?!(?:pop|copy|difference|intersection"
    r"|symmetric_difference|union)\b))"
)
_POP = re.compile(r"\s*\.\s*pop\(\s*\)")
_MANY = 200  # mentions of one variable


def may_matter(text: str, offset: int) -> bool:
    """Whether the token of DET204 at an offset may lead to a set whose order shows."""
    trail = _Trail(text)
    if text.startswith(("set[", "frozenset[", "Set[", "FrozenSet["), offset):
        return trail.is_declared(offset)
    if text.startswith(".keys()", offset):
        return trail.leads_on(offset)
    if text.startswith(("set(", "frozenset("), offset):
        return not _STABLE.match(text, offset) and trail.leads_on(offset)
    brace = text.index("{", offset)
    if _DICT.match(text, brace) or _STABLE.match(text, brace):
        return False
    # One element has one order, unless a local takes more; `({x})` is mostly in an f-string, and
    # so is `= {x}` before more text.
    single = text[offset] == "=" or text[brace + 1 : brace + 2] == "*"
    return _is_set(text, brace, single=single) and trail.leads_on(brace)


def _is_set(text: str, brace: int, *, single: bool) -> bool:
    """Whether no colon follows the first element between braces, and others may do."""
    depth = 0
    quote = ""
    for index in range(brace + 1, min(brace + 2000, len(text))):
        character = text[index]
        if quote:
            if character == quote and text[index - 1] != "\\":
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            if depth == 0:
                return character == "}" and single and not _MORE_TEXT.match(text, index + 1)
            depth -= 1
        elif depth == 0 and character == ":":
            return False
        elif depth == 0 and (character == "," or text.startswith(" for ", index)):
            return True
    return True


class _Trail:
    """Follows a set through the text of a file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen: set[tuple[str, int]] = set()

    def is_declared(self, offset: int) -> bool:
        """Whether what is declared as a set at an offset may be gone through."""
        if _NUMBERS.match(self._text, self._text.index("[", offset) + 1):
            return False
        around = list(brackets(self._text, offset))
        while around and around[0].mark == "[":
            if not re.search(r"(?:Optional|Union|Annotated|Final|ClassVar)$", around[0].word):
                return False
            around.pop(0)
        if not around:
            return False
        start = statement_start(self._text, offset)
        if around[0].mark == "(":
            parameter = _PARAMETER.match(around[0].last)
            if parameter is None or not _DEFINING.match(around[-1].inside):
                return False
            return self._follow(parameter[1], function_around(self._text, start, own=True))
        field = _FIELD.match(around[0].inside)
        if field is None:
            return False
        if field[1]:
            return self._follow(field[2], None, own=True)
        return self._follow(field[2], function_around(self._text, start))

    def leads_on(self, offset: int) -> bool:
        """Whether the set that stands at an offset may be gone through, here or later."""
        if _POPPED.match(self._text, offset):
            return True
        if self._holds_unknown(offset):
            return False
        around = list(brackets(self._text, offset))
        if _TOLD.match(around[-1].inside) or any(_LOGGED.search(each.word) for each in around):
            return False
        for bracket in around:
            if _goes_through(bracket):
                if self._is_quiet_loop(bracket, offset) or self._is_kept_dict(around, offset):
                    return False
                if not self._is_reduced(bracket, offset):
                    return True
                if bracket.mark != "{":
                    return False
                continue  # a set again
            named = _WALRUS.findall(bracket.inside)
            if any(self._follow(each, self._function(offset)) for each in named):
                return True
            if _EITHER.search(bracket.last) or _COMPARED.search(bracket.last):
                return False
            if not bracket.mark:
                return self._is_kept(bracket.inside, offset)
            if bracket.mark != "(":
                return False
            if bracket.word:
                return self._is_read_by(bracket, offset)
        return False

    def _is_reduced(self, bracket: Bracket, offset: int) -> bool:
        """``any(f(name) for name in x)``, ``{f(name) for name in x}``, without random draws."""
        loop = _LOOP.search(bracket.inside)
        if loop is None or self._may_draw(offset):
            return False
        if bracket.mark == "{":
            return ":" not in bracket.inside[: loop.start()]
        if bracket.mark != "(" or bracket.word not in _REDUCING:
            return False
        return not _KEY.match(self._text, offset) and "key" not in bracket.inside

    def _is_kept_dict(self, around: list[Bracket], offset: int) -> bool:
        """``self.sizes = {name: f(name) for name in x}``: most dicts are only looked up in."""
        inner, outer = around[0], around[1] if len(around) > 1 else around[0]
        loop = _LOOP.search(inner.inside)
        if inner.mark != "{" or outer.mark or loop is None:
            return False
        pairs = ":" in inner.inside[: loop.start()]
        if not pairs or self._may_draw(offset) or _ASKED.match(self._text, offset):
            return False
        if _KEEPING.match(outer.inside):
            return True
        local = _LOCAL.match(outer.inside)
        return local is not None and not self._reads_dict(local[1], self._function(offset))

    def _reads_dict(self, name: str, inside: tuple[int, int] | None) -> bool:
        """Whether something may go through a dict."""
        start, end = inside or (0, len(self._text))
        asked = rf"\b{name}\s*\.\s*(?:copy|items|keys|popitem|values)\b|dumps?\([^\n]*\b{name}\b"
        asked += rf"|[{{,]\s*\*\*{name}\b|\b{name}\s*\|"
        if inside is None or re.compile(asked).search(self._text, start, end):
            return True
        return self._follow(name, inside)

    def _may_draw(self, offset: int) -> bool:
        """Whether random numbers may be drawn near an offset."""
        near = _DRAWING.search(self._text, max(offset - 400, 0), offset + 400)
        return near is not None or _GENERATORS.search(self._text) is not None

    def _is_quiet_loop(self, bracket: Bracket, offset: int) -> bool:
        """``for name in x: del table[name]``, and nothing more."""
        loop = _ONE_LINE.match(self._text, statement_start(self._text, offset))
        if bracket.mark or loop is None or loop.end("head") < offset:
            return False
        name = loop["name"]
        if re.fullmatch(_ALONE.replace("NAME", name), loop["body"]) is None:
            return False
        _, end = self._function(offset) or (0, len(self._text))
        return re.compile(rf"\b{name}\b").search(self._text, loop.end(), end) is None

    def _keeps_unknown(self, name: str, offset: int) -> bool:
        """``self.kinds = set(config.kinds)``, if nothing else goes into ``self.kinds``."""
        if not _is_unknown(_OF_ATTRIBUTE.match(self._text, offset)):
            return False
        if re.search(rf"^[ \t]+{name}[ \t]*[:=]", self._text, re.MULTILINE):
            return False
        filled = rf"\.{name}\s*(?:=(?!=)|[-+|&^]=|:(?=[ \t]*\w)|\.\s*(?:add|update)\b)\s*"
        places = [match.end() for match in re.finditer(filled, self._text)]
        return all(_is_unknown(_OF_ATTRIBUTE.match(self._text, place)) for place in places)

    def _holds_unknown(self, offset: int) -> bool:
        """Whether a loop goes through something that nothing says to be text.

        ``for kind in set(config.kinds)``
        """
        made = _OF_ATTRIBUTE.match(self._text, offset)
        if not _is_unknown(made):
            return False
        line = self._text.rfind("\n", 0, offset) + 1
        loop = _LOOP_OVER.search(self._text, line, offset)
        if loop is None or value_by_name(loop[1]).varies:
            return False
        start, end = self._function(offset) or (0, len(self._text))
        return not re.compile(_TEXT_USE.replace("NAME", loop[1])).search(self._text, start, end)

    def _function(self, offset: int) -> tuple[int, int] | None:
        return function_around(self._text, statement_start(self._text, offset))

    def _is_read_by(self, call: Bracket, offset: int) -> bool:
        """``list(x)``, ``max(x, key=len)``."""
        word = call.word.rpartition(".")[2]
        if word in _TAKING_KEYS:
            return _KEY.match(self._text, offset) is not None or "key" in call.inside
        if word in _READING or _MODULES.match(call.word):
            return True
        if word.lower() in reductions.CARRYING_WORDS:
            return True
        return word not in _SETS and self._is_alias(word)

    def _is_alias(self, word: str) -> bool:
        """``from itertools import chain as word``."""
        pattern = rf"(?:\bimport\b[^\n]*|^\s*\w+)[ \t]+as[ \t]+{word}\b"
        return word != "" and re.search(pattern, self._text, re.MULTILINE) is not None

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
            self._follow(each[2], None, own=True) if each[1] else self._follow(each[2], around)
            for around in (self._function(offset),)
            for each in filter(None, map(_TARGET.search, targets))
            if not (each[1] and self._keeps_unknown(each[2], offset))
        )

    def _follow(self, name: str, inside: tuple[int, int] | None, *, own: bool = False) -> bool:
        """Whether something goes through the set of a name, in a function or in the file.

        ``own`` if it is an attribute of ``self``.
        """
        start, end = inside or (0, len(self._text))
        if (name, start) in self._seen:
            return False
        self._seen.add((name, start))
        if own and not re.search(rf"^[ \t]+{name}[ \t]*[:=]", self._text, re.MULTILINE):
            owner = _OWNED
        else:
            owner = _FREE if inside is not None else _SHARED
        mentions = list(self._mentions(owner + name, start, end))
        return len(mentions) > _MANY or any(
            _POP.match(self._text, after) or self.leads_on(before) for before, after in mentions
        )

    def _mentions(self, pattern: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        for match in re.compile(rf"{pattern}\b").finditer(self._text, start, end):
            if not _QUIET.match(self._text, match.end()):
                yield match.span()


def _is_unknown(made: re.Match[str] | None) -> bool:
    """Whether nothing says what the attribute holds of which a set is made."""
    if made is None or _FEW_OWNERS.match(made[1]):
        return False
    word = made[1].rpartition(".")[2]
    return word not in _NAMED and not elements_by_name(word).varies


def _goes_through(bracket: Bracket) -> bool:
    """``for name in x``, ``*x``, ``yield from x``."""
    loop = _LOOP.search(bracket.inside)
    if loop is not None and not _FILTER.search(loop[1]):
        return True
    if _STAR.match(bracket.last):
        return bracket.mark != "{"
    return not bracket.mark and re.match(r"\s*yield\s+from\b", bracket.inside) is not None
