"""What the text at a mention of FlashAttention tells, before anything is parsed."""

from __future__ import annotations

import re

from detlint.models.attention import BACKWARDS, FUNCTIONS

_REACH = 300  # characters looked at for the value of an option
_WORD = re.compile(r"-*[\w-]+")
_USED = re.compile(r"[ \t]*(?:\(|as\b)")
# A function kept or handed on, not one that is tested or imported: ``f = name``, ``"f": name``,
# ``return name``, ``x else name``, ``partial(name, …)``.
_KEPT = re.compile(
    r"(?:[=:]|\b(?:return|else|or|partial\(|checkpoint\(|[A-Z]\w*Attention\())[ \t]*(?:\w+\.)*$",
    re.MULTILINE,
)
_WHOLE = re.compile(r"[ \t]*(?:[,)}\n]|if\b|#|$)")
_COMPARED = re.compile(r"(?:[=!]=|\bin)[ \t]*[\[({]?[ \t]*(?:[\"'][\w, ]*)*[\"']$")
# After the name of an option: ``= value``, ``: type = value``, ``"] = value``, ``": value``,
# ``", value``.
_TYPE = r":(?:[^=,\[\n]|\[(?:[^\[\]\n]|\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])*\])*"
_GIVEN = re.compile(rf"(?:[\"']\s*\])?[ \t]*(?:{_TYPE})?=(?!=)\s*|[\"']\s*[:,]\s*")
# The value of an argument by its place, and a parameter that takes one.
_BY_PLACE = re.compile(r"\w\((?:[^()]*,)?\s*[\"']$")
_TAKES = re.compile(r"\bdef[ \t]+\w+\([^()]*?\b_?attn_implementation\b")
_FLASH = re.compile(r"flash_attention_[23]")
# A name bound to a value, or to a choice between two: ``= "…" if x else "…"``.
_BOUND = re.compile(
    r"\w[ \t]*(?::[^=\n]*)?(?<![=!<>])=[ \t]*\(?\s*(?:[^=;]{1,120}?\belse\s+)?[\"']$"
)
_ON = re.compile(r"\(?\s*(?:True\b|\w*[fF]ield\(|attrib\()|(?!(?:False|None)\b)(\w+)\b(?![.(\[])")


def asks(text: str, offset: int) -> bool:
    """Whether a trigger of DET601 at an offset may ask for FlashAttention, or call it.

    No where a name is imported, read, compared, tested or talked about.
    """
    start = offset
    while text[start - 1 : start] == "-":
        start -= 1
    word = _WORD.match(text, start)
    if word is None or word[0].startswith("--"):
        return word is not None
    name, end = word[0], word.end()
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if name in FUNCTIONS or name in BACKWARDS:
        return bool(_USED.match(text, end) or (_KEPT.search(line) and _WHOLE.match(text, end)))
    if _FLASH.fullmatch(name):
        return _is_given(text, offset, line)
    given = _GIVEN.match(text, end)
    if given is None:
        return False
    if name.endswith("attn_implementation"):
        value = text[given.end() : given.end() + _REACH]
        return _FLASH.search(value) is not None or _has_constant(text)
    switch = name.startswith("use_flash_att") or name == "_flash_attn_2_enabled"
    return switch and _is_on(text, given.end())


def _is_given(text: str, offset: int, line: str) -> bool:
    """Whether the value at an offset may be given to an option without a trigger of its own, as
    the names of the others are."""
    near = text[max(offset - _REACH, 0) : offset]
    if "_attn_implementation" in near and not _COMPARED.search(line):
        return True
    return _BY_PLACE.search(near) is not None and _TAKES.search(text) is not None


def _has_constant(text: str) -> bool:
    """Whether the text binds a name to one of the values."""
    return any(
        _BOUND.search(text, max(match.start() - _REACH, 0), match.start())
        for match in _FLASH.finditer(text)
    )


def _is_on(text: str, position: int) -> bool:
    value = _ON.match(text, position)
    if value is None or value[1] is None:
        return value is not None
    return bool(re.search(rf"\b{value[1]}[ \t]*(?::[^=\n]*)?=[ \t]*True\b", text))
