"""Strings, of which Python's tree holds the values and not how they are written."""

from __future__ import annotations

import re
from typing import cast

import libcst as cst
from libcst import native  # type: ignore[attr-defined]  # compiled, without types

from detlint.conversion import nodes as new

# One literal, and not several beside each other.
_LITERAL = re.compile(
    r"\w*(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?!'')(?:[^\\'\n]|\\.)*'"
    r"|\"(?!\"\")(?:[^\\\"\n]|\\.)*\")",
    re.DOTALL,
)


class UnsupportedError(Exception):
    """What is not made into libcst's nodes here: libcst has to parse it."""


def string(code: str) -> cst.BaseExpression:
    """A string as it is written."""
    return new.SimpleString(value=code) if _is_one(code) else formatted(code)


def formatted(code: str) -> cst.BaseExpression:
    """An f-string, or several strings beside each other, by libcst's own parser."""
    try:
        # What parse_expression does with it, without the settings that it makes anew each time.
        return cast("cst.BaseExpression", native.parse_expression(f"({code})"))
    except cst.ParserSyntaxError as error:
        raise UnsupportedError(code) from error


def _is_one(code: str) -> bool:
    first = code[0]
    if first in "\"'" and code[-1] == first and code.count(first) == 2:
        return True
    literal = _LITERAL.match(code)
    return literal is not None and literal.end() == len(code)
