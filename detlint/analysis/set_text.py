"""What the text around a token tells of a set, before anything is parsed."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"(?:int|bool|float)\b")
_MEMBER = re.compile(r"\bin\s+(?:frozen)?$")
# What ends the way of a set that begins after it.
_ENDING = (".", "len(", "def ", "== ", "!= ", "<= ", ">= ", ".issubset(", ".update(")
_KEY = re.compile(r"(?:(?!\n\s*\n)[\s\S]){0,400}?\bkey\b")
# A dict, by its first key: most braces are.
_DICT = re.compile(
    r"""\{\s*(?:\} | \*\* | (?:\#.*\n\s*)*
      [rbfu]{0,2}(?:"[^"\\\n]*" | '[^'\\\n]*' | [\w.]+(?:\([\w.,\ ]*\))?)\s*:)""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"\{\s*-?\d[\d.]*\s*[,}]")


def may_matter(text: str, offset: int) -> bool:
    """Whether the token of DET204 at an offset may lead to a set whose order shows."""
    if text.startswith(("set(", "frozenset("), offset):
        return _call(text, offset)
    if text.startswith(".keys()", offset):
        return True
    if text.startswith(("in {", "= {", "({", "[*{"), offset):
        return _brace(text, offset)
    return _annotation(text, offset)


def _call(text: str, offset: int) -> bool:
    before = text[max(offset - 16, 0) : offset]
    if before.endswith(_ENDING) or (before.endswith("sorted(") and not _KEY.match(text, offset)):
        return False
    return not (_MEMBER.search(before) and not _loops(text, offset))


def _loops(text: str, offset: int) -> bool:
    """Whether a ``for`` stands before a place, in its line or in the one before."""
    line = text.rfind("\n", 0, max(text.rfind("\n", 0, offset), 0)) + 1
    return re.search(r"\bfor\b", text[line:offset]) is not None


def _brace(text: str, offset: int) -> bool:
    brace = text.index("{", offset)
    if _DICT.match(text, brace) or _NUMBER.match(text, brace):
        return False
    if text[offset] == "i" and not _loops(text, offset):
        return False
    # One element has one order, unless a local takes more; `({x})` is mostly in an f-string.
    single = text[offset] == "=" or text[brace + 1 : brace + 2] == "*"
    return _is_set(text, brace, single=single)


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
                return character == "}" and single
            depth -= 1
        elif depth == 0 and character == ":":
            return False
        elif depth == 0 and (character == "," or text.startswith(" for ", index)):
            return True
    return True


def _annotation(text: str, offset: int) -> bool:
    inner = text.index("[", offset) + 1
    if _NUMBERS.match(text, inner):
        return False
    before = text[max(offset - 12, 0) : offset].removesuffix("typing.").removesuffix("t.")
    return not before.endswith("-> ")
