"""What IPython takes in a cell besides Python: ``%magics``, ``!commands`` and ``help?``.

They are masked at their length, so that the rest parses and every offset stays. What a masked
line says is still there, as a comment, for suppressions in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.sources.kinds import interpreted_by
from detlint.sources.source import Source
from detlint.syntax.lexer import spans
from detlint.syntax.parsing import reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.syntax.lexer import Span

# "x = !ls", and "x = %timeit -o f()".
_NAME = r"\*?[\w.]+(?:\[[^\[\]=\r\n]*\][\w.]*)*"
_TARGET = rf"{_NAME}(?:[ \t]*,[ \t]*{_NAME})*[ \t]*=[ \t]*(?=[%!])"
_HELP = r"(?:[\w.]+[ \t]*=[ \t]*)?%{0,2}[A-Za-z_*][\w.*\[\]'\"]*\?\??[ \t]*(?:;[ \t]*)?\r?$"
# What IPython takes for a magic, or a command, without its "%" if nothing of the name is defined.
_AUTOMATIC = (
    r"(?:pip3?|conda|mamba|git|apt(?:-get)?|load_ext|matplotlib)[ \t]+[a-z]"
    r"|(?:cd|ls|ll|pwd|mkdir|rm|cp|mv|cat)(?:[ \t]+[\w./~-][^=(\[{\r\n]*)?\r?$"
)
# A line that may be no Python. Most cells have none.
_CANDIDATE = re.compile(
    rf"^[ \t]*(?:[%!?]|[,;/](?=\w|[ \t]*\r?$)|{_TARGET}|{_HELP}|{_AUTOMATIC})", re.MULTILINE
)
_HEAD = re.compile(
    rf"[ \t]*(?P<target>(?:{_TARGET})?)(?P<mark>%%?|!!?|)[ \t]*(?P<name>[\w.]*)[ \t]*"
)
_QUESTION = re.compile(rf"[ \t]*(?:\?|{_HELP})", re.MULTILINE)
_OPTIONS = re.compile(r"(?:-[A-Za-z]+[ \t]*\d*[ \t]+)*")
_BRACKET = re.compile(r"[()\[\]{}]")
_FIRST = re.compile(r"(?:^|(?<=\r))[^\r\n]", re.MULTILINE)
# Magics whose argument, and cell magics whose cell, is Python that runs in the kernel.
_RUNNING = frozenset({"%time", "%timeit", "%prun", "%memit"})
_RUNNING_CELLS = frozenset(
    f"%%{name}"
    for name in (
        *("time", "timeit", "prun", "memit", "capture", "debug", "ipytest", "run_pytest", "px"),
        *("heat", "snakeviz", "scalene", "pyinstrument", "wandb"),
    )
)


_CELL = re.compile(r"^#[ \t]*%%.*\n?", re.MULTILINE)  # of a script
_SHELLS = frozenset({"!", "%sx", "%system"})
_SHELL_CELLS = frozenset(
    f"%%{name}" for name in ("", "sx", "system", "bash", "sh", "shell", "script", "zsh", "ksh")
)


class Magic(NamedTuple):
    """Lines that are no Python: ``start:end``.

    name    "%env", "%%bash"; "!" for a command; "" for help, and for what goes without a mark
    escape  where it begins, behind ``x =``
    body    where what it is given begins
    """

    start: int
    escape: int
    body: int
    end: int
    name: str

    def moved(self, by: int) -> Magic:
        """The same in a text that begins elsewhere."""
        start, escape, body, end, name = self
        return Magic(start + by, escape + by, body + by, end + by, name)


def find_magics(text: str) -> list[Magic]:
    """The magics of a cell, in order."""
    if not _CANDIDATE.search(text):
        return []
    first = len(text) - len(text.lstrip())
    if not text.startswith("%%", first):
        return list(_lines(text, 0))
    found = [_magic(text, first)]
    while found[-1].name in _RUNNING_CELLS:
        below = found[-1].end
        first = below + len(text[below:]) - len(text[below:].lstrip())
        if not text.startswith("%%", first):
            return [*found, *_lines(text, below)]
        found.append(_magic(text, first))  # `%%capture` runs a `%%bash` below it
    return [*found[:-1], found[-1]._replace(end=len(text))]


def _lines(text: str, position: int) -> Iterator[Magic]:
    """The magics among the lines below a place."""
    start, depth = position, 0  # of brackets, at a place that no string is around
    while match := _CANDIDATE.search(text, position):
        at = match.start()
        # What begins at the line's start is a comment, unless a string is open there.
        *above, last = spans(f"{text[start:at]}#")
        if last.start < at - start:
            depth = _depth(text, start, above, start + last.start, depth)
            start += last.start
            start += spans(text[start:])[0].end
            position = start
            continue
        depth = _depth(text, start, above, at, depth)
        start, position = at, _line_end(text, at)
        if depth == 0 and not text[:at].rstrip("\r\n").endswith("\\"):
            magic = _magic(text, at)
            yield magic
            start = position = magic.end


def _depth(text: str, start: int, strings: list[Span], end: int, depth: int) -> int:
    """How many brackets are open at ``end``, of ``depth`` at ``start``."""
    base = start
    for span in [*strings, None]:
        stop = end if span is None else base + span.start
        for bracket in _BRACKET.findall(text, start, stop):
            depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
        start = stop if span is None else base + span.end
    return depth


def _magic(text: str, at: int) -> Magic:
    head = _HEAD.match(text, at)
    assert head is not None  # noqa: S101 - it matches anything
    start = head.start("target")
    end = _line_end(text, at)
    mark = head["mark"]
    if not mark or _QUESTION.match(text, at):
        return Magic(start, head.start("mark"), end, end, "")
    while text.endswith("\\", start, end) and end < len(text):
        end = _line_end(text, end + (2 if text.startswith("\r\n", end) else 1))
    if mark[0] == "!":
        return Magic(start, head.start("mark"), head.end("mark"), end, "!")
    return Magic(start, head.start("mark"), min(head.end(), end), end, mark + head["name"])


def _line_end(text: str, at: int) -> int:
    newline = text.find("\n", at)
    end = len(text) if newline < 0 else newline
    carriage = text.find("\r", at, end)
    return end if carriage < 0 else carriage


def shell_start(text: str, magic: Magic) -> int | None:
    """Where what a shell runs begins in a magic; None if no shell runs it."""
    if magic.name in _SHELLS:
        return magic.body
    if magic.name not in _SHELL_CELLS:
        return None
    if magic.name == "%%script":
        said = text[magic.body : _line_end(text, magic.body)].split()
        program = next((each for each in said if not f"/{each}".endswith("/env")), "")
        if interpreted_by(program) != "shell":
            return None
    return min(_line_end(text, magic.escape) + 1, magic.end)


def mask(text: str, magics: list[Magic]) -> str:
    """The text with its magics masked, each line of the length that it had."""
    pieces, position = [], 0
    for magic in magics:
        pieces += [text[position : magic.start], _masked(text, magic)]
        position = magic.end
    return "".join([*pieces, text[position:]])


def _masked(text: str, magic: Magic) -> str:
    start, escape, body, end, name = magic
    written = text[escape:end]
    if name in _RUNNING:
        statement = _OPTIONS.match(text, body).end()  # type: ignore[union-attr]  # it always does
        head = "" if escape > start else "0;"
        code = head.ljust(statement - escape) + text[statement:end]
        if reads(text[start:escape] + code) and statement < end:
            return text[start:escape] + code
    if escape > start:
        # Some name: what the magic gives is not known.
        return f"{text[start:escape]}_{commented(written[1:])}"
    if text[:start].endswith(("\n", "\r")) or not start:
        return commented(written)
    # The only line of a block cannot be a comment.
    return f"0{commented(written[1:])}"


def commented(text: str) -> str:
    """Each line that is not empty with a "#" for its first character."""
    return _FIRST.sub("#", text)


class Script(Source):
    """A Python file with cells that begin with ``# %%``, as editors run them: ``text`` has its
    magics masked, where ``written`` has them."""

    def __init__(self, path: str, text: str, encoding: str = "utf-8", bom: bytes = b"") -> None:
        super().__init__(path, _without_magics(text), encoding, bom)
        self.written = text

    def with_text(self, text: str) -> Script:
        """The same file holding another text."""
        return Script(self.path, text, self.encoding, self.bom)


def _without_magics(text: str) -> str:
    pieces, position = [], 0
    for start in [*(match.end() for match in _CELL.finditer(text)), len(text)]:
        cell = text[position:start]
        pieces.append(mask(cell, find_magics(cell)))
        position = start
    return "".join(pieces)
