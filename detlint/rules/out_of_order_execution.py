"""DET208 out-of-order-execution."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from detlint.dataflow.cells import resting
from detlint.rule import Confidence, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.documents.document import Cell


class OutOfOrderExecution(Rule):
    """Why runs differ: The numbers beside a notebook's cells say in which order they were run. If
    they do not rise one by one, cells ran in another order, or something ran that is not shown. The
    saved results come from a state that running from the top may not reach.

    Reported:
    - the first cell that ran before one above it: rather one that results rest on
    - else the first cell above which numbers are missing
    - one finding for each notebook

    Lowers the confidence:
    - numbers are missing, and no more: the same cell may have run several times
    - nothing that is written, trained or sent rests on cells that ran out of order. They only show
      something, set paths, or run programs by `!python train.py`

    Not reported:
    - a notebook that has saved nothing but errors, and cells without text. A cell that does not
      parse and shows only that
    - as many missing numbers as cells without a number stand between
    - a first number that is not 1, if all others follow it: the cells ran in order

    What to do: Restart the kernel, run all cells, and save the notebook. Or clear the results,
    where it cannot be run as a whole.
    """

    code = "DET208"
    summary = "a notebook's saved results do not come from running its cells in order"
    triggers = ()
    mentions = ("# %%",)  # what each cell of a notebook stands below
    source = "https://link.springer.com/article/10.1007/s10664-021-09961-9"
    examples = ()

    def visit_Cell(self, node: Cell) -> None:
        cells = self.document.cells
        if node is not cells[0] or not any(each.shows for each in cells):
            return
        text, notebook = self.document.source.written, self.document.notebook
        broken = notebook.broken if notebook is not None else ()
        ran = [each for each in cells if each.shows or each.number not in broken]
        self._judge([each for each in ran if text[each.start : each.end].strip()])

    def _judge(self, cells: Sequence[Cell]) -> None:
        first = _below_later(cells)
        if first is None:
            for cell, latest in islice(_below_gaps(cells), 1):
                self._report(
                    cell,
                    f"execution count [{cell.execution}] stands below [{latest}]: a cell that ran "
                    "in between is gone, or was run again, so the saved results may rest on it",
                    sure=False,
                )
            return
        notebook = self.document.notebook
        left = resting(notebook) if notebook is not None else None
        told = _below_later([x for x in cells if left is None or x.number in left])
        cell, latest = told or first
        stands = "stands at two cells" if cell.execution == latest else f"stands below [{latest}]"
        self._report(
            cell,
            f"execution count [{cell.execution}] {stands}: the cells were not run from the first "
            "to the last, so the saved results come from another order",
            sure=told is not None,
        )

    def _report(self, cell: Cell, what: str, *, sure: bool) -> None:
        source = self.document.source
        lines = source.written[cell.start : cell.end].split("\n")
        first = next(line for line in lines if line.strip())
        start = cell.start + sum(len(line) + 1 for line in lines[: lines.index(first)])
        self.report(
            cell._replace(start=start, end=start + len(first.rstrip("\r"))),
            f"{what}; restart the kernel, run all cells, and save",
            advice="or clear the results, where the notebook cannot be run as a whole",
            confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
        )


def _below_later(cells: Sequence[Cell]) -> tuple[Cell, int] | None:
    """The first cell that ran before one above it, with the number of that."""
    latest = 0
    for cell in cells:
        if cell.execution is not None and cell.execution <= latest:
            return cell, latest
        latest = cell.execution or latest
    return None


def _below_gaps(cells: Sequence[Cell]) -> Iterator[tuple[Cell, int]]:
    """The cells above which numbers are missing, each with the number above."""
    latest, unnumbered = None, 0
    for cell in cells:
        if cell.execution is None:
            unnumbered += 1
            continue
        if latest is not None and cell.execution - latest - 1 > unnumbered:
            yield cell, latest
        latest, unnumbered = cell.execution, 0
