"""CUDA and C++ sources: text, of which the comments and the atomic additions are told apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.sources.source import Source

# Strings too, so that what looks like a comment in one is none. A raw string of C++ with a
# delimiter of its own (R"x(…)x") is not told apart.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
# CUDA's, and those of torch for all types (ATen/cuda/Atomic.cuh, ATen/native/cuda/KernelUtils.cuh).
_CALL = re.compile(
    r"\b(?:(\w+)\s*=\s*)?(?:(?:\w{1,40})?::){0,4}"
    r"((?:gpuA|a)tomicAdd(?:NoReturn|_block|_system)?|fastAtomicAdd)\s*(?:<[\w\s:,*]{1,80}>)?\s*\("
)
# fastAtomicAdd(tensor, index, numel, value, fast): which argument is the value.
_VALUE_AT = {"fastAtomicAdd": 3}
# What stands before a call in a statement; any other word there is the type of a declaration.
_STATEMENT = re.compile(r"(?:\A|[^\w\s])\s*\Z|\b(?:return|else|do)\s*\Z")
_INTEGER = re.compile(r"\(?\s*[-+]?\d+[uUlL]*\s*\)?|\(?\s*[-+]?\d+\.0*f?\s*\)?")
_CAST = re.compile(r"\(\s*(?:(?:unsigned|long|int|u?int(?:32|64)_t|size_t|ull)\b[\s*]*)+\)")
_BASE = re.compile(r"[\s&*(]*(\w+)")
_POINTER = r"(?:[\s*]|const\b|volatile\b|__restrict(?:__)?\b)*"
_INTEGRAL = (
    r"\b(?:(?:unsigned|long|int|u?int(?:8|32|64)_t|size_t)\b\s*)+"
    rf"{_POINTER}(?:\w+\s*,\s*)*{_POINTER}"
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE)
# What stands before the brace that opens the body of a function, unlike a namespace or a class.
_SIGNATURE = re.compile(
    r"\)\s*(?:(?:const|noexcept|override|final|mutable)\b\s*)*(?:->[^(){}]*)?\Z"
)


class Addition(NamedTuple):
    """An atomic addition: how it is written, and the variable that takes a place it hands out."""

    text: str
    slot: str
    start: int
    end: int


class _Scope(NamedTuple):
    """What an addition sees: the function that it is in, and what stands outside of all. In a
    piece of source without functions, such as the body of a kernel, that is all of it."""

    function: str
    outside: str

    def is_integer(self, expression: str) -> bool:
        """Whether the first variable of an expression is declared as an integer, or a pointer
        to it. A parameter hides what has its name outside."""
        base = _BASE.match(expression)
        if base is None:
            return False
        declaration = re.compile(rf"{_INTEGRAL}{base[1]}\b")
        if declaration.search(self.function):
            return True
        parameters = self.function.partition("{")[0]
        hidden = re.search(rf"\b{base[1]}\b", parameters)
        return not hidden and bool(declaration.search(self.outside))


def read(source: Source) -> Document:
    """The text and its comments."""
    return Document(source, (), _comments(source.text))


def additions(source: str) -> Iterator[Addition]:
    """Atomic additions whose order can show: of floats, and integers that hand out places."""
    source = blanked(source)
    spans = functions(source)
    whole, outside = _folded(source), _folded(_outside(source, spans))
    for match in _CALL.finditer(source):
        around = [span for span in spans if span[0] <= match.start() < span[1]]
        if _is_declared(source, match) or (around and _defines_it(source, around[0])):
            continue
        function = _folded(source[slice(*around[0])]) if around else whole
        scope = _Scope(function, outside)
        arguments, end = _arguments(source, match.end())
        value = _VALUE_AT.get(match[2], 1)
        if len(arguments) <= value:
            continue
        text = f"{match[2]}({', '.join(arguments)})"
        if match[1] and _is_place(source, match[1]):
            yield Addition(text, match[1], match.start(), end)
        elif not (match[1] or _is_integer(scope, arguments[0], arguments[value])):
            yield Addition(text, "", match.start(), end)


def _is_declared(source: str, match: re.Match[str]) -> bool:
    """``void atomicAdd(Half* place, Half value)``."""
    line = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
    return not (match[1] or _STATEMENT.search(line))


def _defines_it(source: str, span: tuple[int, int]) -> bool:
    """Whether a function is an overload, which is told where it is called."""
    head = source[slice(*span)].partition("{")[0]
    return any(_is_declared(head, match) for match in _CALL.finditer(head))


def _comments(source: str) -> Iterator[tuple[int, int]]:
    """Where comments start and end."""
    return (match.span() for match in _TOKEN.finditer(source) if match[0].startswith("/"))


def blanked(source: str) -> str:
    """A source without what stands in its strings and comments; offsets stay."""
    return _TOKEN.sub(_blank, source)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _arguments(source: str, start: int) -> tuple[list[str], int]:
    """The arguments of a call whose parenthesis opens before an offset, and where it ends."""
    depth, arguments, begin = 1, [], start
    for offset in range(start, len(source)):
        depth += (source[offset] in "([{") - (source[offset] in ")]}")
        if depth == 0 or (depth == 1 and source[offset] == ","):
            arguments.append(" ".join(source[begin:offset].split()))
            begin = offset + 1
        if depth == 0:
            return arguments, offset + 1
    return [], start


def functions(source: str) -> list[tuple[int, int]]:
    """From where to where each function goes that lies in no other. Where braces do not match,
    as around ``#else``, several count as one."""
    text = _DIRECTIVE.sub(_blank, source)
    found: list[tuple[int, int]] = []
    head, depth = 0, 0
    for match in re.finditer(r"[{};]", text):
        if not depth and not (match[0] == "{" and _SIGNATURE.search(text[head : match.start()])):
            head = match.end()
            continue
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if not depth:
            found.append((head, match.end()))
            head = match.end()
    return [*found, (head, len(text))] if depth else found


def _outside(source: str, spans: list[tuple[int, int]]) -> str:
    """What stands in no function."""
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(source)]
    return "\n".join(source[start:end] for start, end in zip(starts, ends, strict=True))


def _folded(text: str) -> str:
    """With one space for each run of them, as comments leave it: where a pattern may split a
    long run in many ways, a search tries them all."""
    return " ".join(text.split())


def _is_integer(scope: _Scope, place: str, value: str) -> bool:
    if _INTEGER.fullmatch(value) or _CAST.search(place):
        return True
    return scope.is_integer(place) or scope.is_integer(value)


def _is_place(source: str, name: str) -> bool:
    """``rows[slot] = …``."""
    return bool(re.search(rf"\[[^\]\n]*\b{name}\b[^\]\n]*\]\s*=(?!=)", source))
