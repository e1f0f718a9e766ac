"""DET208 out-of-order-execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.document import Cell
from detlint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


class OutOfOrderExecution(Rule):
    """The numbers beside a notebook's cells say in which order they were run. Where they are not
    1, 2, 3… from the top down, cells were run in another order, again, or were deleted since:
    the saved results come from a state that running the notebook from the top does not reach.

    One finding a notebook: at the first cell that was run before one above it, else at the
    first number that is not the next one. Silent on cells that have no number or no text.

    Restart the kernel and run all cells, or clear the results.
    """

    code = "DET208"
    summary = "a notebook's saved results do not come from running its cells in order"
    triggers = ()
    mentions = ("# %%",)  # what each cell of a notebook stands below
    source = "https://link.springer.com/article/10.1007/s10664-021-09961-9"
    examples = ()

    def visit_Cell(self, node: Cell) -> None:
        cells = [each for each in self.document.nodes if isinstance(each, Cell)]
        if node is not cells[0]:
            return
        text = self.document.source.written
        counted = [
            (each, each.execution)
            for each in cells
            if each.execution is not None and text[each.start : each.end].strip()
        ]
        self._judge(counted)

    def _judge(self, counted: Sequence[tuple[Cell, int]]) -> None:
        latest = 0
        for cell, count in counted:
            if count <= latest:
                what = "was run before a cell above it" if count < latest else "shares its number"
                self._report(
                    cell,
                    f"[{count}] below [{latest}]: this cell {what}, so the saved results come "
                    "from another order than the cells have",
                )
                return
            latest = count
        for expected, (cell, count) in enumerate(counted, start=1):
            if count != expected:
                above = f"below [{expected - 1}]" if expected > 1 else "in the first cell that ran"
                self._report(
                    cell,
                    f"[{count}] {above}: cells that ran before it are gone or were run again, so "
                    "the saved results may not be those of the cells as they stand",
                )
                return

    def _report(self, cell: Cell, what: str) -> None:
        source = self.document.source
        lines = source.written[cell.start : cell.end].split("\n")
        first = next(line for line in lines if line.strip())
        start = cell.start + sum(len(line) + 1 for line in lines[: lines.index(first)])
        self.report(
            cell._replace(start=start, end=start + len(first.rstrip("\r"))),
            what,
            advice="restart the kernel and run all cells, or clear their results",
        )
