"""What the text around an allocation tells, before anything is parsed."""

from __future__ import annotations

import re

from detlint.mentions import following, places

_ARGUMENTS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_REACH = 400  # characters looked at on either side

# Data, no elements or one, in the words of the constructors.
_NO_MEMORY = re.compile(
    r"\w*Tensor\(\s*(?:[\[({)\"']|np\.|\w+(?:\.\w+)+\s*\)|[\w.]*\b(?!(?:size|len|int)\()\w+\()"
    r"|empty\(\s*(?:\)|\(\s*\)|\[\s*\]|1\s*(?:\)|,\s*(?:\)|\w+\s*=(?!=))))"
    r"|(?:new_)?empty\(\s*[(\[]?(?:(?:[^()=]|\([^()]*\))*,)?\s*0\s*[,)\]]"
)
_NUMBER = re.compile(r"\s*(?::\s*int\b|=\s*\d)")
_LEGACY_NAME = re.compile(r"\w*Tensor\(\s*([^\W\d]\w*)\s*\)")
_ON_META = re.compile(r"\w+\([^#]*\bdevice\s*=\s*[\"']meta")
# Another library's function of the same name.
_FOREIGN = re.compile(r"\b(?:np|numpy|cp|cupy|jnp|mx|xp)\.$")
_FILLED = re.compile(rf"\w+{_ARGUMENTS}\s*\.(?!requires_grad_|resize_)\w+_\(")
_PARAMETER = re.compile(
    r"(?:Parameter|Buffer)\(\s*(?:data\s*=\s*)?[\w.]*$"
    r"|register_(?:buffer|parameter)\(\s*[^,()]*,\s*[\w.]*$"
    r"|[(,]\s*out\s*=\s*[\w.]*$"
)
_KEPT = re.compile(r"[ \t]*(?:return|yield|\w+(?:\.\w+)+[ \t]*=)[ \t]*(?:\w+\.)+$")
_WHOLE_VALUE = re.compile(rf"\w+{_ARGUMENTS}[ \t]*(?:#.*)?$", re.MULTILINE)

_BOUND = re.compile(r"([ \t]*)(\w+)[ \t]*(?::[^=]*)?=[ \t]*(?:\w+\.)+$")
_INDEX = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
_WRITE = re.compile(rf"\w+(?:{_INDEX}[ \t]*=(?!=)|(?:{_INDEX})?\.(?!requires_grad_|resize_)\w+_\()")
_PASSES_THROUGH = re.compile(r"(?:async[ \t]+)?(?:for|while|with|try)\b")


def looks_unwritten(text: str, offset: int, foreign: re.Pattern[str] = _FOREIGN) -> bool:
    """Whether a call that begins at an offset may be read unwritten, as far as the text tells.

    No for data, for nothing, for what a method fills at once, for parameters, for a
    whole value that is returned or kept in an attribute, and for a name that is next
    seen where it is written.
    """
    end = offset + _REACH
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if (
        _NO_MEMORY.match(text, offset, end)
        or _FILLED.match(text, offset, end)
        or foreign.search(line)
        or _PARAMETER.search(text, max(offset - _REACH, 0), offset)
        or _is_data(text, offset)
    ):
        return False
    value = _WHOLE_VALUE.match(text, offset, end)
    if value is None:
        return True
    bound = _BOUND.match(line)
    if _ON_META.match(text, offset, value.end()) or (bound is None and _KEPT.match(line)):
        return False
    return bound is None or not _is_written_next(text, value.end(), *bound.groups())


def _is_data(text: str, offset: int) -> bool:
    """Whether a legacy constructor gets a name that nothing says is a number."""
    named = _LEGACY_NAME.match(text, offset)
    if named is None:
        return False
    uses = places(text).get(named[1], ())
    return not any(_NUMBER.match(text, at + len(named[1])) for at in uses)


def _is_written_next(text: str, position: int, indent: str, name: str) -> bool:
    """Whether the next statement that has the name writes it, on each path that gets there."""
    uses = following(text, name, position)
    first, second = next(uses, None), next(uses, None)
    if first is None or not _WRITE.match(text, first):
        return False
    if second is not None:
        statement = text[first : text.rfind("\n", 0, second) + 1]
        if not statement or any(statement.count(a) != statement.count(b) for a, b in ("()", "[]")):
            return False  # written from what it holds
    start = text.rfind("\n", 0, first) + 1
    before = text[start:first]
    return not before.strip() and _leads_to(text[position:start], indent, before)


def _leads_to(between: str, outer: str, inner: str) -> bool:
    """Whether nothing but loops and blocks lies between two levels of indentation."""
    for line in reversed(between.splitlines()):
        code = line.lstrip()
        indent = line[: len(line) - len(code)]
        if not code or code.startswith("#"):
            continue
        if len(indent) < len(outer):
            return False
        if len(indent) < len(inner):
            if not _PASSES_THROUGH.match(code):
                return False
            inner = indent
    return inner == outer
