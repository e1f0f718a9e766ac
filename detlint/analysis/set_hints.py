"""What the text around a set says of its elements, and of what is done to each of them."""

from __future__ import annotations

import re

from detlint.analysis.kind_tables import ELEMENTS, NAMESPACES
from detlint.analysis.kinds import elements_by_name, value_by_name
from detlint.analysis.text_places import fields, function_of, statement_start
from detlint.mentions import mentions

_DRAWING = re.compile(r"rand|secrets|bernoulli|normal", re.IGNORECASE)
_GENERATORS = (
    *("Random(", "default_rng", "RandomState", "from random import", "from secrets import"),
    "from numpy.random import",
)
# A loop over `set(config.kinds)`; what `self.kinds` holds, an annotation may say.
_OF_ATTRIBUTE = re.compile(r"(?:frozen)?set\(((?:\w+\.)+\w+)\)\s*(?:[:)\]}]|$|\n)")
_LOOP_OVER = re.compile(r"\bfor[ \t]+(\w+)[ \t]+in[ \t]+$")
_FEW_OWNERS = re.compile(r"(?:self|cls)\.\w+$")
_NAMED = {*NAMESPACES, "parameters", "environ", *(name.rpartition(".")[2] for name in ELEMENTS)}
# What stands after text and before it.
_USED = re.compile(r"\s*(?:\.|[=!]=|\+)|\s+not\s+in\b")
_CONTAINED = re.compile(r"\s+in\b")
_TAKING = re.compile(
    r"(?:[=!]=|\+|\bin)\s*$"
    r"|\b(?:(?:get|has|set)attr|basename|dirname|exists|import_module|isdir|isfile|join|listdir"
    r"|makedirs|open|splitext)\([^\n]*$"
)
_NEAR = 200
# A loop with one short statement, and what that may be.
_ONE_LINE = re.compile(
    r"(?P<head>([ \t]*)for[ \t]+(?P<name>\w+)[ \t]+in[ \t][^\n]+):[ \t]*\n"
    r"\2[ \t]+(?P<body>\S[^\n]*)\n(?!(?:[ \t]*\n)*\2[ \t]+\S)"
)
_ALONE = (
    r"del [\w.]+\[NAME\]|delattr\(\w+, ?NAME\)|[\w.]+\.pop\(NAME(?:, ?\w+)?\)"
    r"|NAME\.(?:__exit__|cancel|close)\([\w, ]*\)"
)


def may_draw(text: str, offset: int) -> bool:
    """Whether random numbers may be drawn near an offset."""
    near = _DRAWING.search(text, max(offset - 400, 0), offset + 400)
    return near is not None or any(word in text for word in _GENERATORS)


def is_quiet_loop(text: str, offset: int) -> bool:
    """``for name in x: del table[name]``, and nothing more."""
    loop = _ONE_LINE.match(text, statement_start(text, offset))
    if loop is None or loop.end("head") < offset:
        return False
    name = loop["name"]
    if re.fullmatch(_ALONE.replace("NAME", name), loop["body"]) is None:
        return False
    _, end = function_of(text, offset) or (0, len(text))
    return re.compile(rf"\b{name}\b").search(text, loop.end(), end) is None


def holds_unknown(text: str, offset: int) -> bool:
    """Whether a loop goes through something that nothing says to be text.

    ``for kind in set(config.kinds)``
    """
    made = _OF_ATTRIBUTE.match(text, offset)
    if not _is_unknown(made):
        return False
    line = text.rfind("\n", 0, offset) + 1
    loop = _LOOP_OVER.search(text, line, offset)
    if loop is None or value_by_name(loop[1]).varies:
        return False
    start, end = function_of(text, offset) or (0, len(text))
    return not any(_is_text(text, loop[1], place) for place in mentions(text, loop[1], start, end))


def _is_text(text: str, name: str, place: int) -> bool:
    """Whether a name is used at a place as only text is."""
    after = place + len(name)
    if _USED.match(text, after) or _TAKING.search(text, max(place - _NEAR, 0), place):
        return True
    return _CONTAINED.match(text, after) is not None and not text.endswith("for ", 0, place)


def keeps_unknown(text: str, name: str, offset: int) -> bool:
    """``self.kinds = set(config.kinds)``, if nothing else goes into ``self.kinds``."""
    if not _is_unknown(_OF_ATTRIBUTE.match(text, offset)):
        return False
    if any(fields(text, name)):
        return False
    filled = rf"\.{name}\s*(?:=(?!=)|[-+|&^]=|:(?=[ \t]*\w)|\.\s*(?:add|update)\b)\s*"
    places = [match.end() for match in re.finditer(filled, text)]
    return all(_is_unknown(_OF_ATTRIBUTE.match(text, place)) for place in places)


def is_alias(text: str, word: str) -> bool:
    """``from itertools import chain as word``."""
    if f" as {word}" not in text:
        return False
    pattern = rf"(?:\bimport\b[^\n]*|^\s*\w+)[ \t]+as[ \t]+{word}\b"
    return re.search(pattern, text, re.MULTILINE) is not None


def _is_unknown(made: re.Match[str] | None) -> bool:
    """Whether nothing says what the attribute holds of which a set is made."""
    if made is None or _FEW_OWNERS.match(made[1]):
        return False
    word = made[1].rpartition(".")[2]
    return word not in _NAMED and not elements_by_name(word).varies
