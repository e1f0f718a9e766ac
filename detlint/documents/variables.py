"""Variables of a script: whether a program sees what is set for it, and the edits of both."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from detlint.documents.launches import launches, program
from detlint.finding import Edit

if TYPE_CHECKING:
    from detlint.documents.document import Document, Variable


def unseen_by(document: Document, node: Variable) -> str:
    """The program that is started below a variable that is not exported; "" if one sees it."""
    if node.exported or _last_seen(document).get(node.name, -1) > node.start:
        return ""
    found = bisect_right(_latest_ends(document), node.start)
    below = launches(document)[found : found + 1]
    return next((program(launch) or "Python" for _, launch in below), "")


@lru_cache(maxsize=1)
def _last_seen(document: Document) -> dict[str, int]:
    """Where the last launch ends that sees a variable, by its name."""
    found: dict[str, int] = {}
    for command, _ in launches(document):
        for name in command.environment:
            found[name] = max(found.get(name, -1), command.end)
    return found


@lru_cache(maxsize=1)
def _latest_ends(document: Document) -> list[int]:
    """Up to each launch, where the last one ends."""
    return list(accumulate((command.end for command, _ in launches(document)), max))


def export(document: Document, node: Variable) -> tuple[Edit, ...]:
    """The edit that exports it, where it stands in a line of a script by itself."""
    line = document.source.text.rfind("\n", 0, node.start) + 1
    alone = not document.source.text[line : node.start].strip()
    if document.source.kind != "shell" or not alone:
        return ()
    return (Edit(node.start, node.start, "export "),)


def replaced(document: Document, variable: Variable, value: str) -> tuple[Edit, ...]:
    """The edit that gives a variable another value, where the old one is spelled out."""
    place = variable.value_start, variable.value_end
    if document.source.text[slice(*place)] != variable.value:
        return ()
    return (Edit(*place, value),)
