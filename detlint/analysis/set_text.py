"""What the text around a token tells of a set, before anything is parsed.

A set is of interest if something goes through it: where it stands, or where the variable or
attribute is read to which it is assigned.
"""

from __future__ import annotations

import re

from detlint.analysis.set_trail import Trail
from detlint.analysis.text_places import Bracket, brackets, function_around, statement_start

_NUMBERS = re.compile(r"(?:int|bool|float)\b")
_STABLE = re.compile(
    r"(?:(?:frozen)?set\(\s*[\[(]?|\{)\s*(?:(?:range|int|len|id|float)\(|map\(\s*(?:int|len)\b|-?\d)"
)
# A dict, by its first key: most braces are.
_DICT = re.compile(
    r"""(?:in\ |=\ |\(|\[\*)\{\s*(?:\} | \*\* | (?:\#.*\n\s*)*
      [rbfu]{0,2}(?:"[^"\\\n]*" | '[^'\\\n]*' | [\w.]+(?:\([\w.,\ ]*\))?)\s*:)""",
    re.VERBOSE,
)
_MORE_TEXT = re.compile(
    r"[\w\"'`%{}]|\.(?!\s*(?:copy|difference|intersection|symmetric_difference|union)\b)"
)
_PARAMETER = re.compile(r"\s*\*{0,2}(\w+)\s*:[^=]*$")
_FIELD = re.compile(r"\s*((?:self|cls)\s*\.\s*)?(\w+)\s*:[^=]*$")
_DEFINING = re.compile(r"\s*(?:async\s+)?def\b")
_WRAPPER = re.compile(r"(?:Optional|Union|Annotated|Final|ClassVar)$")


def may_matter(text: str, offset: int) -> bool:
    """Whether the token of DET204 at an offset may lead to a set whose order shows."""
    if _DICT.match(text, offset):
        return False
    trail = Trail(text)
    if text.startswith(("set[", "frozenset[", "Set[", "FrozenSet["), offset):
        return _is_declared(trail, text, offset)
    if text.startswith(".keys()", offset):
        return trail.leads_on(offset)
    if text.startswith(("set(", "frozenset("), offset):
        return not _STABLE.match(text, offset) and trail.leads_on(offset)
    brace = text.index("{", offset)
    if _STABLE.match(text, brace):
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


def _is_declared(trail: Trail, text: str, offset: int) -> bool:
    """Whether what is declared as a set at an offset may be gone through."""
    if _NUMBERS.match(text, text.index("[", offset) + 1):
        return False
    around = list(brackets(text, offset))
    while around and around[0].mark == "[" and _WRAPPER.search(around[0].word):
        around.pop(0)
    start = statement_start(text, offset)
    if around[0].mark == "(":
        name = _parameter(around)
        return name != "" and trail.follow(name, function_around(text, start, own=True))
    field = _FIELD.match(around[0].inside) if not around[0].mark else None
    if field is None:
        return False
    inside = None if field[1] else function_around(text, start)
    return trail.follow(field[2], inside, own=bool(field[1]))


def _parameter(around: list[Bracket]) -> str:
    """The name of the parameter that is declared in some brackets."""
    found = _PARAMETER.match(around[0].last)
    return found[1] if found is not None and _DEFINING.match(around[-1].inside) else ""
