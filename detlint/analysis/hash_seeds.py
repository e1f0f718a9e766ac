"""PYTHONHASHSEED in scripts: whether Python gets to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.exports import export, unseen_by
from detlint.analysis.launches import launches, program, replaced, runs_tests
from detlint.analysis.shell_entropy import entropy
from detlint.documents.document import Command, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Document
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
    started = [
        (command, program(launch))
        for command, launch in launches(document)
        if not runs_tests(launch)
    ]
    for node in document.nodes:
        if isinstance(node, Variable) and node.name == _NAME:
            yield from _faults(document, node, started)


def _faults(
    document: Document, node: Variable, started: list[tuple[Command, str]]
) -> Iterator[Fault]:
    after = [(command, name) for command, name in started if command.end > node.start]
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
    elif _is_of_one_line(document, node) and after and not _is_seen(after):
        message = f"{_NAME} is exported in a shell of its own: each line of a recipe has one"
        yield Fault(node, message, "export it in a line outside of recipes", ())


def _is_seen(after: list[tuple[Command, str]]) -> bool:
    return any(_NAME in each.environment for each, _ in after)


def _is_last(document: Document, node: Variable) -> bool:
    """Whether a script runs nothing below: in an image, what is built starts later."""
    runs = (each.end > node.start for each in document.nodes if isinstance(each, Command))
    return document.source.kind == "shell" and bool(node.value) and not any(runs)


def _is_of_one_line(document: Document, node: Variable) -> bool:
    """Whether a recipe of a Makefile exports it by itself."""
    text = document.source.text
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    return document.source.kind == "makefile" and line.strip("\t @-") == "export"
