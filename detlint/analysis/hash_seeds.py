"""PYTHONHASHSEED in scripts: whether Python gets to see it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.exports import export, unseen_by
from detlint.analysis.launches import launches, program, replaced, runs_tests
from detlint.analysis.shell_entropy import entropy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Command, Document, Variable
    from detlint.finding import Edit

_NAME = "PYTHONHASHSEED"
_ADVICE = "export it before Python starts"


class Fault(NamedTuple):
    """A setting that does not do what it is there for."""

    node: Variable
    message: str
    advice: str
    edits: tuple[Edit, ...]


def faults(document: Document) -> Iterator[Fault]:
    """The settings of the variable that no program sees, or by which hashes differ."""
    named = document.assignments.get(_NAME, ())
    if not named:
        return
    started = [
        (command, program(launch))
        for command, launch in launches(document)
        if not runs_tests(launch)
    ]
    last = max((command.end for command, _ in started), default=-1)
    seen = max((each.end for each, _ in started if _NAME in each.environment), default=-1)
    for node in named:
        yield from _faults(document, node, started, last=last, seen=seen)


def _faults(
    document: Document, node: Variable, started: list[tuple[Command, str]], *, last: int, seen: int
) -> Iterator[Fault]:
    """``last`` is where the last command of ``started`` ends, ``seen`` the last that sees it."""
    after = last > node.start
    raw = document.source.text[node.value_start : node.value_end]
    if node.value == "random" and after:
        message = f"{_NAME}=random has Python draw the hashes of strings anew in every run"
        yield Fault(node, message, "set it to 0", replaced(document, node, "0"))
    elif node.value is None and after and (found := entropy(raw, document.source.text)):
        message = f"{_NAME} comes from {found.what} (`{raw}`), so hashes differ from run to run"
        yield Fault(node, message, "set it to 0", ())
    elif name := unseen_by(document, node):
        message = f"{_NAME} is set here and not exported: {name} does not see it"
        yield Fault(node, message, _ADVICE, export(document, node))
    elif node.exported and _is_last(document, node) and started and started[-1][1]:
        message = f"{_NAME} is exported after {started[-1][1]} has run"
        yield Fault(node, message, _ADVICE, ())
    elif _is_of_one_line(document, node) and after and seen <= node.start:
        message = f"{_NAME} is exported in a shell of its own: each line of a recipe has one"
        yield Fault(node, message, "export it in a line outside of recipes", ())


def _is_last(document: Document, node: Variable) -> bool:
    """Whether a script runs nothing below: in an image, what is built starts later."""
    return document.source.kind == "shell" and bool(node.value) and _end(document) <= node.start


@lru_cache(maxsize=1)
def _end(document: Document) -> int:
    """Where the last command ends."""
    return max((each.end for each in document.commands), default=-1)


def _is_of_one_line(document: Document, node: Variable) -> bool:
    """Whether a recipe of a Makefile exports it by itself."""
    text = document.source.text
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    return document.source.kind == "makefile" and line.strip("\t @-") == "export"
