"""Notebooks: their cells, the variables that magics set, and the commands that a shell runs.

Their Python is read as such, elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from detlint.documents.document import Cell, Document, Variable
from detlint.sources.kinds import NOTEBOOK
from detlint.sources.source import Source
from detlint.syntax.mentions import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Command
    from detlint.notebooks.notebook import Notebook

_SETTERS = frozenset({"%env", "%set_env"})
_SETTING = re.compile(r"(?P<name>[^\s={}$]+)(?:[ \t]*=[ \t]*|[ \t]+)(?P<value>[^\r\n]*?)[ \t]*$")
# IPython puts the values of Python's variables there.
_FILLED = frozenset("${")
_EXPRESSION = re.compile(r"(?<!\$)\{[A-Za-z_][\w.\[\]()]*\}")


def read(source: Source) -> Document:
    """A notebook's cells, variables and commands, in text in which nothing is masked."""
    notebook = cast("Notebook", source)
    cells = [
        Cell(start, end, cell.number, cell.execution, cell.shows)
        for cell, start, end in notebook.cells
    ]
    text = Source(source.path, source.written, bom=source.bom, kind=NOTEBOOK)
    nodes = [*cells, *variables(notebook), *_commands(notebook)]
    return Document(text, nodes, notebook=notebook)


def variables(notebook: Notebook) -> Iterator[Variable]:
    """What ``%env NAME=value`` and ``%env NAME value`` set, in the kernel, which is running."""
    for magic in notebook.magics:
        if magic.name not in _SETTERS:
            continue
        setting = _SETTING.match(notebook.written[: magic.end], magic.body)
        if setting is not None:
            value = setting["value"]
            yield Variable(
                magic.escape,
                magic.end,
                setting["name"],
                value if _FILLED.isdisjoint(value) else None,
                *setting.span("value"),
            )


def _commands(notebook: Notebook) -> Iterator[Variable | Command]:
    """What each shell sets and runs, in the environment of the kernel at that place."""
    parts = notebook.shell_parts()
    if not parts:
        return
    from detlint.documents.shell import parse

    environment: dict[str, str | None] = {}
    if "environ" in notebook.text or "putenv" in notebook.text:
        # Names of variables that Python may set.
        environment.update(dict.fromkeys(filter(str.isupper, sorted(quoted(notebook.text)))))
    pending = list(variables(notebook))
    for offset, text in parts:
        while pending and pending[0].start < offset:
            variable = pending.pop(0)
            environment[variable.name] = variable.value
        filled = text
        if notebook.written.startswith("!", offset - 1):
            filled = _EXPRESSION.sub(lambda match: "$".ljust(len(match[0]), "_"), text)
        yield from parse(filled, offset, environment)
