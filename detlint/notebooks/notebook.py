"""A notebook as one Python program, and back."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.notebooks.cells import read_cells
from detlint.notebooks.magics import commented, find_magics, mask, shell_start
from detlint.notebooks.rewriting import rewrite
from detlint.sources.kinds import NOTEBOOK
from detlint.sources.source import Source, newline
from detlint.syntax.parsing import Problem, problem, reads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from detlint.finding import Edit, Finding
    from detlint.notebooks.cells import Cell
    from detlint.notebooks.magics import Magic

_SEPARATOR = "# %%\n"
# IPython takes away the margin of a cell that is indented as a whole. A "." would take the "\r"
# as well, in one of two ways for each line.
_INDENTED = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*[ \t]+[^\s#]")
_OPENING = "if True:  # %%\n"
_ALL = re.compile(r"[^\r\n]")
# A null byte, and half of a character, which JSON can escape and Python cannot hold.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


class Placed(NamedTuple):
    """A cell, and where its text lies in that of the notebook."""

    cell: Cell
    start: int
    end: int


class Notebook(Source):
    """The code cells of a notebook in order, each below a line that is no part of it.

    document  the JSON
    written   the text as it stands in the cells; in ``text`` what is no Python is masked
    magics    what of it is no Python, in order
    broken    numbers of cells that are masked whole
    """

    def __init__(
        self, path: str, document: str, bom: bytes = b"", *, broken: Collection[int] = ()
    ) -> None:
        """Raises DecodeError, with a place in the JSON."""
        self.document = document
        self.cells: list[Placed] = []
        self.magics: list[Magic] = []
        self.broken = set(broken)
        texts, masked, length = [], [], 0
        for cell in read_cells(document):
            text = cell.text
            above = _OPENING if _INDENTED.match(text) else _SEPARATOR
            length += len(above)
            self.cells.append(Placed(cell, length, length + len(text)))
            texts += [above, text, "\n"]
            shown = self._masked(cell, text, length)
            masked += [commented(above) if cell.number in self.broken else above, shown, "\n"]
            length += len(text) + 1
        super().__init__(path, "".join(masked), bom=bom, kind=NOTEBOOK)
        self.written = "".join(texts)

    def _masked(self, cell: Cell, text: str, start: int) -> str:
        if cell.number in self.broken or _NO_TEXT.search(text):
            self.broken.add(cell.number)
            return _ALL.sub("#", text)
        magics = find_magics(text)
        self.magics += [each.moved(start) for each in magics]
        return mask(text, magics) if magics else text

    def encode(self) -> bytes:
        """The bytes of the notebook's file."""
        return self.bom + self.document.encode()

    def rewritten(self, edits: Iterable[Edit]) -> Notebook:
        """The notebook after edits of its text. Raises DecodeError for one beyond a cell."""
        return Notebook(self.path, rewrite(self.document, self.cells, edits), self.bom)

    @cached_property
    def newline(self) -> str:
        """The line ending that new lines copy."""
        found = (newline(self.written, start, end) for _, start, end in self.cells)
        return next(filter(None, found), "\n")

    def shell_parts(self) -> list[tuple[int, str]]:
        """What a shell runs, and its offsets: ``!commands``, and cells below ``%%bash``."""
        return [
            (start, self.written[start : magic.end])
            for magic in self.magics
            if (start := shell_start(self.written, magic)) is not None
        ]

    # Cells that do not parse

    @property
    def code(self) -> Notebook:
        """The notebook without the cells that are not Python."""
        return self.readable[0]

    @cached_property
    def readable(self) -> tuple[Notebook, list[Problem]]:
        """The notebook without the cells that are not Python, and what is wrong with these."""
        if not self.broken and reads(self.text):
            return self, []
        found: dict[int, Problem] = {}
        for cell, start, end in self.cells:
            text = self.written[start:end]
            if cell.number in self.broken:
                wrong: Problem | None = Problem(_unfit(text))
            else:
                above = self.text.rfind("\n", 0, start - 1) + 1
                wrong = problem(Source(self.path, self.text[above:end]))
            if wrong is not None:
                row, _ = self.location(start)
                found[cell.number] = wrong._replace(row=row + max(wrong.row - 2, 0))
        if not found:
            return self, []
        rest = Notebook(self.path, self.document, self.bom, broken=found)
        return rest, list(found.values())

    # Places in cells

    def placed(self, finding: Finding) -> Finding:
        """A finding with rows of its cell instead of those of all cells together."""
        if not self.cells or finding.row > len(self.line_starts):
            return finding
        start = self._offset(finding.row, finding.column)
        number, row, column = self.place(start)
        _, _, limit = self._at(start)
        _, end_row, end_column = self.place(
            min(max(self._offset(finding.end_row, finding.end_column), start), limit)
        )
        return finding._replace(
            row=row,
            column=column,
            end_row=end_row,
            end_column=end_column,
            cell=number,
            way=(),  # it may lead through several cells
        )

    def place(self, offset: int) -> tuple[int, int, int]:
        """The number of the cell around an offset, and row and column in it."""
        cell, start, end = self._at(offset)
        row, column = self.location(min(max(offset, start), end))
        return cell.number, row - self.location(start)[0] + 1, column

    def spoken_place(self, offset: int) -> str:
        """The line of an offset, as a message says it."""
        number, row, _ = self.place(offset)
        return f"line {row} of cell {number}"

    def shown_row(self, row: int) -> str:
        """A row of all cells together, as that of its cell: ``cell 3:4``."""
        if not self.cells:
            return str(row)
        number, own, _ = self.place(self._offset(row, 1))
        return f"cell {number}:{own}"

    def file_row(self, number: int, row: int) -> int:
        """The line of the file, which holds JSON, in which a line of a cell is written."""
        cell, start, _ = next(each for each in self.cells if each.cell.number == number)
        before = self.line_starts[self.location(start)[0] + row - 2] - start
        for literal in cell.literals:
            before -= len(literal.value)
            if before < 0 or literal is cell.literals[-1]:
                return self.document.count("\n", 0, literal.start) + 1
        return 1

    def cell_source(self, number: int) -> Source:
        """One cell by itself, as a person sees it."""
        text = next((each.text for each, _, _ in self.cells if each.number == number), "")
        return Source(self.path, text)

    def _at(self, offset: int) -> Placed:
        """The cell that an offset is in, or below."""
        return self.cells[max(bisect_right(self._starts, offset) - 1, 0)]

    def _offset(self, row: int, column: int) -> int:
        starts = self.line_starts
        return starts[min(row, len(starts)) - 1] + column - 1

    @cached_property
    def _starts(self) -> list[int]:
        return [start for _, start, _ in self.cells]


def _unfit(text: str) -> str:
    odd = _NO_TEXT.search(text)
    if odd is not None and odd[0] != "\0":
        return f"it holds half of a character: \\u{ord(odd[0]):04x}"
    return "source code cannot contain null bytes"


def keeps_cells(before: Source, after: Source) -> bool:
    """Whether a fixed notebook has no broken cell that was whole before."""
    assert isinstance(before, Notebook)  # noqa: S101 - they are two states of one file
    assert isinstance(after, Notebook)  # noqa: S101
    return after.code.broken <= before.code.broken
