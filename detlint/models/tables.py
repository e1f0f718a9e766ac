"""The rows of all models, by name."""

from __future__ import annotations

import ast
from functools import cache

from detlint.models import libraries, python, randomness
from detlint.models.model import Model, Order

_SOURCES = (python, libraries)

FUNCTIONS: dict[str, Model] = {
    row.name: row for each in (*_SOURCES, randomness) for row in each.FUNCTIONS
}
ATTRIBUTES: dict[str, Model] = {row.name: row for each in _SOURCES for row in each.ATTRIBUTES}


def _by_word(rows: list[Model]) -> dict[str, dict[str, Model]]:
    found: dict[str, dict[str, Model]] = {}
    for row in rows:
        owner, _, word = row.name.rpartition(".")
        found.setdefault(word, {})[owner] = row
    return found


METHODS = _by_word([row for each in _SOURCES for row in each.METHODS])
MEMBERS = _by_word([row for each in _SOURCES for row in each.MEMBERS])


_SAID = {
    "sorts": ("list[E0]", Order.SORTS),
    "keeps": ("list[E0]", Order.KEEPS),
    "ignores": ("", Order.FREE),
    "reads": ("", Order.READS),
}


def of_project(name: str, says: str) -> Model:
    """The row of a function of a project, as its settings say it."""
    if says in randomness.SAID:
        return Model(name, seeds=randomness.SAID[says])
    return Model(name, *_SAID[says])


@cache
def type_expression(text: str) -> ast.expr:
    """What ``Model.returns`` says, as Python's tree of it."""
    return ast.parse(text.replace("?", "UNKNOWN").replace("!", "NOTHING"), mode="eval").body
