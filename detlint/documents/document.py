"""What scripts, configurations and other text say of a run, the same for every kind.

Each node has ``start`` and ``end``, offsets in the source's text; a value that cannot be
told from the text is None, and rules are silent on it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from detlint.grouping import grouped
from detlint.syntax.lexer import Span, beginning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detlint.finding import Edit
    from detlint.notebooks.notebook import Notebook
    from detlint.sources.source import Source

Scalar: TypeAlias = "str | int | float | bool | None"


class Text(NamedTuple):
    """The whole source, for rules that read it as text."""

    start: int
    end: int
    text: str


class Variable(NamedTuple):
    """A variable of the environment that is set: ``export NAME=value``, ``ENV NAME=value``,
    ``env:`` of a manifest.

    exported  whether programs that start below see it; in shell, ``NAME=value`` alone is not
    """

    start: int
    end: int
    name: str
    value: str | None
    value_start: int
    value_end: int
    exported: bool = True


class Word(NamedTuple):
    """One argument of a command, without its quotes; ``text`` is None if it is not known."""

    start: int
    end: int
    text: str | None


class Command(NamedTuple):
    """A command line, with the variables that are set for it: by name, None where not known.

    ``words`` begins with the program; what is in front of it (``env``, ``nohup``, ``exec``,
    ``sudo``, ``srun -n 4``) is ``front``.

    folder   where it runs, seen from where the script was started; None if that is not known
    sourced  scripts that ran before in the same shell (``source env.sh``): they may set more
    """

    start: int
    end: int
    words: tuple[Word, ...]
    environment: Mapping[str, str | None]
    front: tuple[Word, ...] = ()
    folder: str | None = ""
    sourced: tuple[str, ...] = ()


class Entry(NamedTuple):
    """A setting of a configuration: ``trainer: {benchmark: true}`` has the keys ("trainer",
    "benchmark") and the value True. Items of a list have their index, as text, for a key.

    ``start`` and ``end`` are those of the value, ``key_start`` that of the last key.
    ``known`` is False where the value is an interpolation (``${seed}``) or another unknown.
    """

    start: int
    end: int
    keys: tuple[str, ...]
    value: Scalar
    key_start: int
    known: bool = True


class Cell(NamedTuple):
    """A code cell of a notebook. ``number`` counts all cells from 1; ``execution`` is its place
    among the cells that were run, None if that was not kept, and ``shows`` whether results of it
    are saved."""

    start: int
    end: int
    number: int
    execution: int | None
    shows: bool = False


Node: TypeAlias = "Text | Variable | Command | Entry | Cell"


class Document:
    """One source: its nodes in order, and where its comments lie.

    ``flavour`` says which library's configuration it is ("lightning"), "" if not known.
    ``notebook``  whose cells it holds, if it is one
    """

    def __init__(
        self,
        source: Source,
        nodes: Iterable[Node],
        comments: Iterable[tuple[int, int]] = (),
        flavour: str = "",
        notebook: Notebook | None = None,
    ) -> None:
        self.source = source
        self.notebook = notebook
        whole = Text(0, len(source.text), source.text)
        self.nodes: list[Node] = [whole, *sorted(nodes, key=lambda each: each[:2])]
        self.comments = [Span(start, end, "comment") for start, end in sorted(comments)]
        self.flavour = flavour

    def entries(self) -> list[Entry]:
        """The settings alone."""
        return [node for node in self.nodes if isinstance(node, Entry)]

    @cached_property
    def commands(self) -> list[Command]:
        """The commands alone."""
        return [node for node in self.nodes if isinstance(node, Command)]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells alone."""
        return [node for node in self.nodes if isinstance(node, Cell)]

    @cached_property
    def assignments(self) -> dict[str, list[Variable]]:
        """The variables by name, in order."""
        return grouped((node.name, node) for node in self.nodes if isinstance(node, Variable))

    def span(self, node: Node | Word) -> tuple[int, int]:
        """Start and end of a node."""
        return node.start, node.end

    def drops_comment(self, edit: Edit) -> bool:
        """Whether an edit would remove a comment."""
        return any(beginning(self.comments, edit.start, edit.end))
