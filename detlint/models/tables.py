"""The rows of all models, by name."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from detlint.models import libraries, python

if TYPE_CHECKING:
    from detlint.models.model import Model

_SOURCES = (python, libraries)

FUNCTIONS: dict[str, Model] = {row.name: row for each in _SOURCES for row in each.FUNCTIONS}
ATTRIBUTES: dict[str, Model] = {row.name: row for each in _SOURCES for row in each.ATTRIBUTES}


def _by_word(rows: list[Model]) -> dict[str, dict[str, Model]]:
    found: dict[str, dict[str, Model]] = {}
    for row in rows:
        owner, _, word = row.name.rpartition(".")
        found.setdefault(word, {})[owner] = row
    return found


METHODS = _by_word([row for each in _SOURCES for row in each.METHODS])
MEMBERS = _by_word([row for each in _SOURCES for row in each.MEMBERS])


@cache
def type_expression(text: str) -> ast.expr:
    """What ``Model.returns`` says, as Python's tree of it."""
    return ast.parse(text.replace("?", "UNKNOWN").replace("!", "NOTHING"), mode="eval").body
