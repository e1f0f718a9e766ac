"""Sets whose order nothing sees, as the text around them shows: parsing takes a hundred times as
long as a look."""

from __future__ import annotations

import re
from functools import lru_cache

from detlint.syntax.mentions import mentions

_NEAR = 200
_FARTHEST = 1_000  # lines above
_TEXT = r"\"[^\"\\\n{}]*\"|'[^'\\\n{}]*'"
_PLAIN = r"[^()\[\]{}\"'#\\]*"


def _bracketed(depth: int) -> str:
    """What stands between brackets, of which others are open no deeper than that."""
    if depth == 0:
        return _PLAIN
    inner = _bracketed(depth - 1)
    return rf"{_PLAIN}(?:(?:{_TEXT}|[(\[{{]{inner}[)\]}}]){_PLAIN})*"


_INNER = _bracketed(3)
_SET = rf"(?:(?:frozen)?set\({_INNER}\)|\{{{_INNER}\}})"
_OPERAND = rf"(?:{_SET}|[\w.]+(?![\w.])(?:\({_INNER}\))?)"
# Sets, united or the like, of which nothing is read: an operand of what binds less tightly.
_WHOLE = re.compile(
    rf"{_OPERAND}(?:\s*[-&|^]\s*{_OPERAND})*(?!\s*(?:[(\[]|\.(?!is(?:disjoint|sub|super))))"
)
_JOINED_TO = re.compile(rf"{_OPERAND}\s*[-&|^]\s*\Z")
_MOST = 4  # operands before it
_COMPARES = re.compile(r"\s*(?:[=!]=|[<>]=?(?![<>=])|\.is(?:disjoint|subset|superset)\()")
_COMPARED = re.compile(r"(?:[=!<>]=|\bnot\s+in)\s*\Z")
_AMONG = re.compile(r"\bin\s*\Z")
# What stands between the word and `in {`: targets, or more. Else it asks for membership.
_LOOP = re.compile(r"\bfor\s[\w\s,.*()\[\]]*\Z")
# What takes a set as it is, if it takes nothing else.
_TAKEN = re.compile(r"(?:(?<![\w.])(?:len|max|min|sorted)|\.is(?:disjoint|subset|superset))\(\s*\Z")
_ENDS_CALL = re.compile(r"\s*,?\s*\)")
# ``seen = set()``, ``seen: set[int] = {1}``
_BINDS = r"(?::[ \t]*(?:set|Set)\[[^]=\n]*\])?[ \t]*=[ \t]*"
_BOUND = re.compile(rf"(\n[ \t]+)(\w+){_BINDS}(?={_SET})")
_ENDS_LINE = re.compile(r"[ \t]*(?:[\n#]|\Z)")
_HEAD = re.compile(r"[ \t]*(?:async[ \t]+)?(def|class)\b")
_METHOD = re.compile(r"\.(?:add|clear|discard|isdisjoint|issubset|issuperset|remove|update)\(")
_BINDS_SET = re.compile(rf"{_BINDS}(?={_SET})")
_GOES_ON = re.compile(r"\s*[.(\[]")
_LENGTH = re.compile(r"(?<![\w.])len\(\Z")
_TRUTH = re.compile(r"\b(?:if|elif|while)[ \t]+(?:not[ \t]+)?\Z")
_ENDS_TRUTH = re.compile(r"[ \t]*(?:[])}:]|else\b)")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))


def is_loop(text: str, offset: int) -> bool:
    """Whether an ``in`` at an offset is that of a loop, as far as the text before it tells."""
    return _LOOP.search(text[max(offset - _NEAR, 0) : offset]) is not None


def is_only_asked(text: str, offset: int) -> bool:
    """Whether a set that begins at an offset is compared, searched, counted or sorted, and gone."""
    for _ in range(_MOST):
        before = text[max(offset - _NEAR, 0) : offset]
        joined = _JOINED_TO.search(before)
        if joined is None:
            break
        offset -= len(before) - joined.start()
    found = _WHOLE.match(text, offset)
    if found is None:
        return False
    end = found.end()
    taken = _TAKEN.search(before) is not None and _ENDS_CALL.match(text, end) is not None
    return taken or _is_asked(text, offset, end, before)


def is_kept_to_ask(text: str, offset: int) -> bool:
    """Whether in the line of an offset, a variable of a function is bound to a set that is only
    added to and asked: ``seen = set()``."""
    line = text.rfind("\n", 0, offset)
    bound = _BOUND.match(text, line) if line >= 0 else None
    if bound is None or not _is_only_asked_by(text, bound[2]):
        return False
    head = _function_around(text, line, len(bound[1]))
    balanced = (text.count(a, head, line) == text.count(b, head, line) for a, b in _BRACKETS)
    return head >= 0 and all(balanced)  # and so no argument


@lru_cache(maxsize=64)  # many functions of a file call theirs the same
def _is_only_asked_by(text: str, name: str) -> bool:
    """Whether all that names a variable binds a set to it, adds to it or asks it."""
    return all(_only_asks(text, each, each + len(name)) for each in mentions(text, name))


def _only_asks(text: str, start: int, end: int) -> bool:
    before = text[max(start - _NEAR, 0) : start]
    if before.endswith(".") or _METHOD.match(text, end):  # the first is an attribute of that name
        return True
    if _LENGTH.search(before):
        return text.startswith(")", end)
    binds = _BINDS_SET.match(text, end)
    if binds is not None:
        whole = _WHOLE.match(text, binds.end())
        return whole is not None and _ENDS_LINE.match(text, whole.end()) is not None
    if _GOES_ON.match(text, end) is not None:
        return False
    tested = _TRUTH.search(before) is not None and _ENDS_TRUTH.match(text, end) is not None
    return tested or _is_asked(text, start, end, before)


def _is_asked(text: str, start: int, end: int, before: str) -> bool:
    """Whether what stands at a place is compared, or searched by an ``in`` that is no loop's."""
    if _COMPARES.match(text, end) or _COMPARED.search(before):
        return True
    among = _AMONG.search(before)
    return among is not None and not is_loop(text, start - (len(before) - among.start()))


def _function_around(text: str, line: int, indent: int) -> int:
    """The line of the function of which a statement begins behind the end of a line; -1 if it
    is one of a class, or of the module."""
    for _ in range(_FARTHEST):
        above = text.rfind("\n", 0, line)
        start = text[above + 1 : line]
        bare = start.lstrip(" \t")
        depth = len(start) - len(bare) + 1
        if bare and bare[0] not in "#)]}" and depth < indent:
            head = _HEAD.match(start)
            if head is not None:
                return above + 1 if head[1] == "def" else -1
            indent = depth
        if above <= 0:
            break
        line = above
    return -1
