"""Variables of a script that are set for a program, which does not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.launches import launches, program
from detlint.finding import Edit

if TYPE_CHECKING:
    from detlint.documents.document import Document, Variable


def unseen_by(document: Document, node: Variable) -> str:
    """The program that is started below a variable that is not exported; "" if one sees it."""
    after = [pair for pair in launches(document) if pair[0].end > node.start]
    if node.exported or any(node.name in command.environment for command, _ in after):
        return ""
    return next((program(launch) or "Python" for _, launch in after), "")


def export(document: Document, node: Variable) -> tuple[Edit, ...]:
    """The edit that exports it, where it stands in a line of a script by itself."""
    line = document.source.text.rfind("\n", 0, node.start) + 1
    alone = not document.source.text[line : node.start].strip()
    if document.source.kind != "shell" or not alone:
        return ()
    return (Edit(node.start, node.start, "export "),)
