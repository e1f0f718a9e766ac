"""DET208 out-of-order-execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.documents.document import Cell


class OutOfOrderExecution(Rule):
    """Why runs differ: The numbers beside a notebook's cells say in which order they were run. If
    they do not rise one by one, cells ran in another order, or something ran that is not shown. The
    saved results come from a state that running from the top may not reach.

    Reported:
    - the first cell that ran before one above it
    - else the first cell below which numbers are missing
    - one finding for each notebook

    Not reported:
    - a notebook that has saved nothing, and cells without text
    - as many missing numbers as cells without a number stand between
    - a first number that is not 1, if all others follow it: the cells ran in order

    What to do: Restart the kernel and run all cells, or clear the results.
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
        text = self.document.source.written
        self._judge([each for each in cells if text[each.start : each.end].strip()])

    def _judge(self, cells: Sequence[Cell]) -> None:
        counted = [(each, each.execution) for each in cells if each.execution is not None]
        latest = 0
        for cell, count in counted:
            if count <= latest:
                above = "the same number" if count == latest else f"[{latest}]"
                self._report(
                    cell,
                    f"execution count [{count}] stands below {above}: the cells were not run from "
                    "the first to the last, so the saved results come from another order",
                )
                return
            latest = count
        self._judge_gaps(cells)

    def _judge_gaps(self, cells: Sequence[Cell]) -> None:
        latest, unnumbered = None, 0
        for cell in cells:
            if cell.execution is None:
                unnumbered += 1
                continue
            if latest is not None and cell.execution > latest + 1 + unnumbered:
                self._report(
                    cell,
                    f"execution count [{cell.execution}] stands below [{latest}]: a cell that ran "
                    "in between is gone, or was run again, so the saved results may rest on it",
                )
                return
            latest, unnumbered = cell.execution, 0

    def _report(self, cell: Cell, what: str) -> None:
        source = self.document.source
        lines = source.written[cell.start : cell.end].split("\n")
        first = next(line for line in lines if line.strip())
        start = cell.start + sum(len(line) + 1 for line in lines[: lines.index(first)])
        self.report(
            cell._replace(start=start, end=start + len(first.rstrip("\r"))),
            what,
            advice="restart the kernel and run all cells, or clear the results",
        )
