"""Whether a source is Python at all, and if not, where it stops being so."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.sources.source import CONFLICT, conflict

if TYPE_CHECKING:
    import ast

    from detlint.sources.source import Source
    from detlint.syntax.layout import Block

# What Python's parser raises for a text that it does not take.
REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError)
TOO_DEEP = "nested too deeply to parse"
# CPython's own limit; libcst's native parser overflows the C stack at about 1,500.
_NESTED_BRACKETS = 200
# Blank lines above a text give its tree the rows. So many take as long as adding to those of a
# line.
_BLANK_LINES = 500
_PLACED = re.compile(r"error at (\d+):(\d+): ")


class UnparsedError(Exception):
    """A part of a file was asked for that does not parse by itself."""


class Problem(NamedTuple):
    """What is wrong with a source, and its 1-based place."""

    message: str
    row: int = 1
    column: int = 1


# Damage if there is an odd number of them: one is not closed.
QUOTES = '"""'
# What a merge or Python 2 leaves behind, and brackets that may be nested too deeply.
DAMAGE = frozenset((QUOTES, "\n>>>>>>> ", 'print "', "print '", "(" * 20, "[" * 20))
# `x.cuda(async=True)`: a name up to Python 3.6, and since then a keyword.
_OLD_NAME = re.compile(r"\basync(?=[ \t]*=(?!=))")


_PAIRS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


def is_suspicious(text: str, utf8: bytes) -> bool:
    """Whether a text that no rule has to parse may still not be Python; also given in UTF-8.

    Python's parser would take half of a run over files that hold nothing to find,
    so it is given only those that are cut short, merged or of Python 2. What is
    broken in another way, and holds nothing that a rule looks for, is not noticed.
    What holds a mark of DAMAGE is suspicious, too.
    """
    # Most that is open is so in docstrings.
    if _balanced(utf8) or _balanced(b"".join(utf8.split(QUOTES.encode())[::2])):
        return False
    from detlint.syntax.layout import plain_of

    return not _balanced(plain_of(text).encode("utf-8", "surrogatepass"))


def _balanced(utf8: bytes) -> bool:
    # One pass that drops all else takes a quarter of six that count.
    brackets = utf8.translate(None, _NO_BRACKETS)
    return all(brackets.count(left) == brackets.count(right) for left, right in _PAIRS)


@lru_cache(maxsize=1)  # who asks whether a text can be read, reads it next
def parsed(text: str) -> ast.Module:
    """Python's own tree of a text. Raises what Python's parser does, see ``REFUSALS``."""
    return _parse(text)


def _parse(text: str) -> ast.Module:
    try:
        return _parse_as_it_is(text)
    except SyntaxError:
        as_name = _OLD_NAME.sub("Async", text)  # as long
        if as_name == text:
            raise
        return _parse_as_it_is(as_name)


def _parse_as_it_is(text: str) -> ast.Module:
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are another linter's business
        if sys.version_info < (3, 11):
            # Making the tree overflows the stack of C there, and this refuses what is so deep.
            from symtable import symtable

            with suppress(SyntaxError):
                symtable(text, "<text>", "exec")
        return ast.parse(text)


def parsed_at(row: int, text: str) -> ast.Module:
    """The same of a part of a file, whose first line has a row."""
    if (text.count("\n") + 1) * _BLANK_LINES > row:
        return parsed("\n" * (row - 1) + text)
    import ast

    return ast.increment_lineno(_parse(text), row - 1)


def reads(text: str) -> bool:
    """Whether Python's own parser takes a text."""
    try:
        parsed(text)
    except REFUSALS:
        return False
    return True


def compiles(text: str) -> bool:
    """Whether Python compiles a text: it parses others, such as those that import from
    ``__future__`` below other code."""
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # A cell of a notebook may await.
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            compile(parsed(text), "<text>", "exec", flags=flags, dont_inherit=True)
    except REFUSALS:
        return False
    return True


def docstring(text: str) -> str | None:
    """The docstring of a text that compiles, as it is."""
    import ast

    return ast.get_docstring(parsed(text), clean=False)


def problem(source: Source) -> Problem | None:
    """Why a source does not parse, or None. Syntax newer than this Python is fine if libcst
    reads it."""
    try:
        parsed(source.text)
    except SyntaxError as error:
        rows = len(source.line_starts)
        row = min(error.lineno or 1, rows)
        message = CONFLICT if conflict(source.line(row)) else error.msg
        found = Problem(message, row, max(error.offset or 1, 1))
        alone = _alone(source.text, source.line_starts[row - 1])
        refused = alone is not None and _libcst_problem(alone)
        return found if refused or _libcst_problem(source.text) else None
    except (RecursionError, MemoryError):
        return Problem(TOO_DEEP)
    return None


def _alone(text: str, at: int) -> str | None:
    """The function or statement around an offset, where all other code parses: libcst reads it in
    a fraction of the time that the text takes, and someone waits who types in it."""
    from detlint.syntax.layout import layout_of

    layout = layout_of(text)
    block = next((each for each in layout.top if each.start <= at < each.end), None)
    if block is not None and block.kind == "class":
        inner = (each for each in layout.members(block) if block.start < each.start)
        block = next((each for each in inner if each.start <= at < each.end), block)
    if block is None or not _stands_alone(text, block):
        return None
    return ("if 1:\n" if block.indent else "") + text[block.start : block.end]


def _stands_alone(text: str, block: Block) -> bool:
    """Whether a text parses with a `pass` for a block, and that is a statement: not in a string."""
    import ast

    try:
        tree = parsed(f"{text[: block.start]}{block.indent}pass\n{text[block.end :]}")
    except REFUSALS:
        return False
    row = text.count("\n", 0, block.start) + 1
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    beside = chain(tree.body, *(each.body for each in classes))
    return any(isinstance(each, ast.Pass) and each.lineno == row for each in beside)


def newer(source: Source) -> Problem | None:
    """What of a source that parses, as far as libcst knows, this Python is too old for."""
    try:
        parsed(source.text)
    except SyntaxError as error:
        release = ".".join(map(str, sys.version_info[:2]))
        message = f"needs a newer Python than the {release} that runs detlint ({error.msg})"
        return Problem(message, error.lineno or 1, max(error.offset or 1, 1))
    except REFUSALS:
        pass
    return None


def _libcst_problem(text: str) -> Problem | None:
    """Why libcst does not read a text, or None."""
    if _bracket_depth(text) > _NESTED_BRACKETS:
        return Problem(TOO_DEEP)
    import libcst

    from detlint.syntax.stack import in_deep_stack

    try:
        in_deep_stack(lambda: libcst.parse_module(text))
    except libcst.ParserSyntaxError as error:
        return _told(error.message)
    except RecursionError:
        return Problem(TOO_DEEP)
    return None


def _told(message: str) -> Problem:
    """What libcst's parser says: its message holds the place."""
    found = _PLACED.search(message)
    if found is None:
        return Problem(f"libcst cannot parse this: {message}")
    place = int(found[1]), int(found[2])
    return Problem(f"libcst cannot parse this: {message[found.end() :]}", *place)


def _bracket_depth(text: str) -> int:
    from detlint.syntax.layout import plain_of

    depth = deepest = 0
    for character in plain_of(text):
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(depth - 1, 0)
    return deepest
